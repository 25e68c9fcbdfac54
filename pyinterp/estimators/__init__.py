"""Estimators whose predictions are distributions: the learners of Wood et al. (2024), Appendix B.

In come rows and a response, out go scikit-learn estimators that say how sure they are.
`calibrated_forest` and `gaussian_process`, in `scikit_learn`, are composed of its parts.
`MCDropoutRegressor`, `MCDropoutClassifier`, `BayesByBackpropRegressor` and
`BayesByBackpropClassifier` are networks that PyTorch trains, in `dropout` and `backprop`;
`training` is the only importer of PyTorch. Their methods, and their predictions by NumPy alone,
are in `networks`. No one who lives here knows of learners, tables or importance.
"""

from pyinterp.estimators.backprop import BayesByBackpropClassifier, BayesByBackpropRegressor
from pyinterp.estimators.dropout import MCDropoutClassifier, MCDropoutRegressor
from pyinterp.estimators.scikit_learn import calibrated_forest, gaussian_process

__all__ = [
    "BayesByBackpropClassifier",
    "BayesByBackpropRegressor",
    "MCDropoutClassifier",
    "MCDropoutRegressor",
    "calibrated_forest",
    "gaussian_process",
]
