"""Fit the learner of a formula in one call, as most tests do."""

from inspect import signature

import numpy as np
import pytest

import pyinterp as pi
from pyinterp.whatif.whatif import FeatureWhatIf

# Of sums over donors or rows, in units of their mean: terms are added in another order, and
# interpolation stops at 1e-11 per row.
RTOL = 1e-10
OF_FIT = set(signature(pi.Learner.fit).parameters)


def fit_of(formula, data, estimator, *plan, seed=1, **options):
    """Options of the fit are told from those of the learner by their names."""
    of_fit = {name: options.pop(name) for name in OF_FIT & set(options)}
    learner = pi.Learner.from_formula(formula, data, estimator, **options)
    return learner.fit(*plan, seed=seed, **of_fit)


def words_of(results, **options):
    """Return the text of a summary without its line breaks."""
    return " ".join(str(results.summary(**options)).split())


def model_of(formula, data, estimator, seed=1, **options):
    """One model of all rows."""
    return pi.Learner.from_formula(formula, data, estimator, **options).fit_model(seed=seed)


def check_sums(model, x, y, loss):
    """Check sums of losses against loops over rows and donors, and return the engine."""
    case = pi.FittedModel(model, x, y).analysis.cases[0]
    for name in case.evaluation.variables:
        feature = case.whatif.of([name])
        for sums, naive in zip(
            feature.summed_losses(case.y, loss),
            FeatureWhatIf.summed_losses(feature, case.y, loss),
            strict=True,
        ):
            assert sums == pytest.approx(naive, rel=0, abs=RTOL * np.abs(naive).mean())
    return case.whatif.engine
