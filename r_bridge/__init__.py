"""Cross-checks with R: its packages on models of Python, and its learners in Python.

In come results, models and rows of Python; out go R's answers as data frames, beside ours.

====================  ===========================================================
Module                What is in it
====================  ===========================================================
`comparison`          `compare`: our numbers and the numbers of R's packages
`beside`              The questions, and the conventions behind both answers
`one_function`        The one prediction function that both sides are asked about
`partial_dependence`  pdp
`importance`          vip
`h_statistics`        hstats
`model_for_r`         Models of Python, for R
`learner`             Learners of R as scikit-learn style estimators
`model`               Models that R has fitted already
`fits`                Fits of R that can be pickled
`from_r`              What the R package in r_package/ calls, without rpy2
`arguments`           Arguments of R's functions
`names`               Names of columns: plain words for R
`conversion`          Values of Python as values of R and back
`session`             The one session of R, under one lock
`start`               Start of R on first use
`packages`            Packages of R that a call needs
`errors`              Errors and warnings
====================  ===========================================================

rpy2 is imported here and nowhere else, and only when R is first needed: `import r_bridge` starts
no R. See `docs/r_bridge.md`.
"""

from __future__ import annotations

from r_bridge.comparison import RComparison, compare
from r_bridge.conversion import RCode
from r_bridge.errors import RCallError, RMissingError, RThreadError, RWarning
from r_bridge.h_statistics import hstats
from r_bridge.importance import vi_firm, vi_permute
from r_bridge.learner import RLearner
from r_bridge.model import RModel
from r_bridge.partial_dependence import partial

__all__ = [
    "RCallError",
    "RCode",
    "RComparison",
    "RLearner",
    "RMissingError",
    "RModel",
    "RThreadError",
    "RWarning",
    "compare",
    "hstats",
    "partial",
    "vi_firm",
    "vi_permute",
]
