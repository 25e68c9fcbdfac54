"""Estimands: pure functions from what-if predictions to values and their per-row contributions.

One file each. An estimand knows nothing of variances, tables or plots.
"""
