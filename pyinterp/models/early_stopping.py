"""Boosters that stop when their loss on rows that do not train them no longer falls."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from pyinterp._typing import FloatArray, IntArray, Matrix
from pyinterp.checks import Interval, check_count, check_number
from pyinterp.errors import OptionError
from pyinterp.models.copies import fresh
from pyinterp.models.libraries import library_of
from pyinterp.models.prediction_checks import take
from pyinterp.models.predictor import learner_name


class EarlyStopping(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A booster of LightGBM, XGBoost or CatBoost whose number of rounds is chosen in every fit.

    A share of the rows that ``fit`` is given is held out, and training stops when the loss on it
    has not fallen for some rounds. In a refit these are training rows: no evaluation row is used.
    Whole clusters are held out, and of classes the same share of each. The booster is not trained
    again on all rows. Sampling weights are those of the held-out rows too, but for CatBoost, which
    takes none there.

    Parameters
    ----------
    estimator : estimator
        Its own number of rounds is the largest.
    share : float
        Of the rows, or clusters, that are held out.
    rounds : int
        Training stops after so many rounds without a smaller loss.
    random_state : int or None
        Seed of the choice of rows.

    Attributes
    ----------
    best_estimator_ : estimator
        The fitted booster.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from xgboost import XGBRegressor
    >>> data = pi.datasets.load_diabetes()
    >>> booster = pi.EarlyStopping(XGBRegressor(n_estimators=500, learning_rate=0.1))
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp + s5", data, booster)
    >>> learner.fit(pi.Subsampling(3), seed=1).pfi().engine.name
    'trees, exact'
    """

    def __init__(
        self, estimator: Any, share: float = 0.2, rounds: int = 20, random_state: int | None = None
    ) -> None:
        self.estimator = estimator
        self.share = share
        self.rounds = rounds
        self.random_state = random_state

    def fit(
        self,
        X: Matrix,
        y: npt.ArrayLike,
        sample_weight: FloatArray | None = None,
        groups: npt.ArrayLike | None = None,
        **offset: FloatArray,
    ) -> EarlyStopping:
        """Fit a copy of the estimator to most rows, and stop it by the others.

        Parameters
        ----------
        X : array or frame
        y : array
        sample_weight : ndarray, optional
        groups : array, optional
            What is held out together: the cluster of every row, say.
        **offset
            ``init_score`` of LightGBM, or ``base_margin`` of XGBoost.

        Raises
        ------
        OptionError
            If the estimator is of another library, or an option has a value that is not allowed.

        Examples
        --------
        >>> X, y = data[["bmi", "bp", "s5"]], data["progression"]
        >>> fitted = pi.EarlyStopping(XGBRegressor(n_estimators=500), random_state=1).fit(X, y)
        >>> fitted.best_estimator_.best_iteration < 100
        True
        """
        check_number("share", self.share, Interval(0, 1))
        check_count("rounds", self.rounds)
        model = self.best_estimator_ = fresh(self.estimator)
        library = library_of(model)
        names = library.validation
        if names is None:
            raise OptionError(
                "`EarlyStopping` is for estimators of LightGBM, XGBoost and CatBoost, not "
                f"{type(model).__name__}; scikit-learn's boosters stop by themselves "
                "(`early_stopping=True`)."
            )
        response = np.asarray(y)
        train, held = self._split(response, groups)
        if is_classifier(model):  # a class that does not train has no predicted probability
            held = held[np.isin(response[held], response[train])]
        every = {"sample_weight": sample_weight, **offset}
        by_row = {name: np.asarray(v) for name, v in every.items() if v is not None}
        options = {names[name]: [v[held]] for name, v in by_row.items() if name in names}
        model.fit(
            take(X, train),
            response[train],
            **_validation(model, take(X, held), response, train, held),
            **{name: v[train] for name, v in by_row.items()},
            **options,
            **library.stops(model, self.rounds),
        )
        return self

    def _split(self, y: Any, groups: npt.ArrayLike | None) -> tuple[IntArray, IntArray]:
        """Return the positions of rows that train, and of those that are held out."""
        kind = ShuffleSplit
        counts, held_out = np.unique(y, return_counts=True)[1], int(np.ceil(self.share * len(y)))
        if groups is not None:
            kind = GroupShuffleSplit
        elif is_classifier(self.estimator) and counts.min() > 1 and len(counts) <= held_out:
            kind = StratifiedShuffleSplit
        split = kind(1, test_size=self.share, random_state=self.random_state)
        train, held = next(split.split(np.zeros((len(y), 1)), y, groups))
        return train, held

    def predict(self, X: Matrix, **options: Any) -> Any:
        """Predict by the rounds up to the best.

        Examples
        --------
        >>> fitted = booster.fit(data[["bmi", "bp", "s5"]], data["progression"])
        >>> fitted.predict(data[["bmi", "bp", "s5"]][:2]).shape
        (2,)
        """
        return self.best_estimator_.predict(X, **options)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]  # as above
    def predict_proba(self, X: Matrix) -> Any:
        """Predict probabilities of classes by the rounds up to the best."""
        return self.best_estimator_.predict_proba(X)

    def score(self, X: Matrix, y: npt.ArrayLike, **options: Any) -> float:
        """Return the score of the booster, for searches.

        Examples
        --------
        >>> X, y = data[["bmi", "bp", "s5"]], data["progression"]
        >>> booster.fit(X, y).score(X, y) > 0.3
        True
        """
        return float(self.best_estimator_.score(X, y, **options))

    @property
    def learner_name(self) -> str:
        """What tables call it."""
        return f"{learner_name(self.estimator)}, stopped early"

    @property
    def classes_(self) -> Any:
        """The classes of the fitted booster."""
        return self.best_estimator_.classes_

    def __sklearn_tags__(self) -> Tags:
        return self.estimator.__sklearn_tags__()


def booster_of(estimator: Any) -> Any:
    """Return the booster inside `EarlyStopping`, fitted if it is; other estimators themselves."""
    if not isinstance(estimator, EarlyStopping):
        return estimator
    return getattr(estimator, "best_estimator_", estimator.estimator)


def _validation(
    model: Any, rows: Any, response: npt.NDArray[Any], train: IntArray, held: IntArray
) -> dict[str, Any]:
    """Return the options of `fit` for validation rows."""
    if not has_fit_parameter(model, "eval_X"):
        return {"eval_set": [(rows, response[held])]}
    # LightGBM from 4.7 on, which takes classes by their positions here.
    codes = np.searchsorted(np.unique(response[train]), response[held])
    return {"eval_X": rows, "eval_y": codes if is_classifier(model) else response[held]}
