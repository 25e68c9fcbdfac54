"""How the estimates of one fitted model change with its coefficients."""

from __future__ import annotations

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.estimands.estimand import Estimand
from pyinterp.inference.replicates import CoefficientErrors
from pyinterp.learner.analysis import Analysis
from pyinterp.models.coefficients import Coefficients

__all__ = ["coefficient_errors"]

# Of a standard error: differences of fourth order then err by about 1e-9 of the derivative, as
# much by their order as by rounding of slopes, which are differences themselves.
STEP = 0.005
WEIGHTS = {1: 8 / 12, -1: -8 / 12, 2: -1 / 12, -2: 1 / 12}


def coefficient_errors(
    analysis: Analysis, estimand: Estimand, coefficients: Coefficients
) -> CoefficientErrors:
    """Return derivatives of the estimates along the directions in which the coefficients vary.

    By central differences of the estimand itself, measured with the coefficients moved: any
    estimand, and any formula.
    """
    (predictor,) = (refit.predictor for refit in analysis.refits)

    def estimates(by: FloatArray) -> FloatArray:
        case = analysis.case_of(coefficients.shift(predictor, by))
        return estimand.read(estimand.measure(case)).value

    changes = [
        sum(weight * estimates(steps * STEP * one) for steps, weight in WEIGHTS.items()) / STEP
        for one in coefficients.directions().T
    ]
    return CoefficientErrors(np.array(changes), coefficients.df, coefficients.cov_type)
