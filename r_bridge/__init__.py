"""Comparison with R: rpy2 is imported here and nowhere else.

Nothing is exported yet; the bridge to R's `vip` and `pdp` follows.
"""
