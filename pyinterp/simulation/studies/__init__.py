"""Simulation studies that can be stopped and resumed: how well intervals cover and measures rank.

`runner` works through the repetitions, `database` keeps them in a file, `text` reads and writes
them as JSON lines, and `cells` names the rows, terms and sums of all. `coverage_study` and
`importance_study` are the studies, `coverage_results` and `importance_results` what they show.
"""
