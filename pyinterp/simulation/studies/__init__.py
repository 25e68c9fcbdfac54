"""Simulation studies that can be stopped and resumed: how well intervals cover and measures rank.

`runner` and `ledger` work through the repetitions and keep them in a file; `coverage_study` and
`importance_study` are the studies, `coverage_results` and `importance_results` what they show.
"""
