"""Estimators with calibrated uncertainty that are composed of scikit-learn's.

They are learners of Wood et al. (2024), Appendix B; the networks there are in
`pyinterp_papers.networks`.
"""

from __future__ import annotations

from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

__all__ = ["calibrated_forest", "gaussian_process"]


def calibrated_forest(random_state: int | None = None, **forest: Any) -> CalibratedClassifierCV:
    """Return a random forest with calibrated class probabilities, not yet fitted.

    One forest is trained on 80% of the rows, and the other 20%, with the same shares of classes,
    calibrate its probabilities by Platt's sigmoid (Wood et al. 2024, B.2). Nothing is trained
    again on all rows.

    Parameters
    ----------
    random_state : int, optional
        Seed of the forest and of the rows that calibrate. With None forests differ, and the rows
        that calibrate are drawn with seed 0, so that a `pyinterp.Learner`, which gives forests
        seeds, can repeat its refits.
    **forest
        Options of ``RandomForestClassifier``. By default it has 500 trees of depth 8 at most.

    Returns
    -------
    CalibratedClassifierCV
        With ``predict_proba``.

    Notes
    -----
    A bootstrap has copies of a row in both parts, so that probabilities come out too sure;
    half-samples and subsamples have none.

    References
    ----------
    Wood, Papamarkou, Benatan, Allmendinger (2024). Model-agnostic variable importance for
    predictive uncertainty: an entropy-based approach. Appendix B.2.

    Examples
    --------
    >>> import pyinterp as pi
    >>> pi.estimators.calibrated_forest(random_state=1).estimator.n_estimators
    500
    """
    options = {"n_estimators": 500, "max_depth": 8, "random_state": random_state, **forest}
    seed = 0 if random_state is None else random_state
    part = StratifiedShuffleSplit(1, test_size=0.2, random_state=seed)
    return CalibratedClassifierCV(
        RandomForestClassifier(**options), method="sigmoid", cv=part, ensemble=True
    )


def gaussian_process(random_state: int | None = None, **process: Any) -> Pipeline:
    """Return an exact Gaussian process of a number, not yet fitted.

    The mean is constant, the covariance of two responses is c exp(-d² / 2l²), d the distance
    of their rows after standardization, and the noise of a response has a variance
    (Wood et al. 2024, B.1).

    Parameters
    ----------
    random_state : int, optional
        Seed of restarts, if `n_restarts_optimizer` asks for any.
    **process
        Options of ``GaussianProcessRegressor``, such as ``kernel=``.

    Returns
    -------
    Pipeline
        A scaler of features, then the process. ``predict(X, return_std=True)`` gives mean and
        standard deviation of a new response, noise included.

    Notes
    -----
    The constant mean is the mean of the responses. Scale, length l and noise are those with the
    largest marginal likelihood, searched for by L-BFGS; the paper used 200 steps of Adam on
    the same likelihood. Time is cubic in the number of rows: a minute for some 2,000.

    References
    ----------
    Wood et al. (2024), Appendix B.1; Rasmussen, Williams (2006). *Gaussian Processes for Machine
    Learning*, chapters 2 and 5.

    Examples
    --------
    >>> import pyinterp as pi
    >>> data = pi.datasets.load_diabetes()[:150]
    >>> model = pi.estimators.gaussian_process()
    >>> model = model.fit(data[["bmi", "bp"]], data["progression"])
    >>> mean, sd = model.predict(data[["bmi", "bp"]], return_std=True)
    >>> mean.shape, sd.shape
    ((150,), (150,))
    """
    kernel = ConstantKernel() * RBF() + WhiteKernel()
    options = {"kernel": kernel, "normalize_y": True, "random_state": random_state, **process}
    return make_pipeline(StandardScaler(), GaussianProcessRegressor(**options))
