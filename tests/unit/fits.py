"""Fit the learner of a formula in one call, as most tests do."""

from inspect import signature

import pyinterp as pi

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
