"""Learners of R as scikit-learn style estimators."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import chain, count
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import (
    ClassifierTags,
    RegressorTags,
    assert_all_finite,
    check_array,
    check_consistent_length,
    check_random_state,
    column_or_1d,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from pyinterp.data.frames import as_frame, is_frame
from pyinterp.errors import DataError, OptionError, short
from pyinterp.models.library import Aim
from r_bridge.arguments import check_code, check_no_rows, in_r_words
from r_bridge.conversion import RCode, level_texts, text_from_r, texts
from r_bridge.errors import RCallError
from r_bridge.fits import Fit, Reporting, align, levels_in
from r_bridge.names import Translation, columns_by_name, is_plain
from r_bridge.packages import need
from r_bridge.session import SESSION

__all__ = ["RLearner"]

OF_A_PACKAGE = re.compile(r"([A-Za-z][A-Za-z0-9.]*):::?[A-Za-z0-9._]+")

# Functions that model the probability of the second of two classes.
BINOMIAL = {"stats::glm", "glm", "mgcv::gam", "gam", "mgcv::bam", "bam"}

# Functions that fit and predict rows with missing values. What others do is not known.
TAKES_MISSING = {"rpart::rpart", "rpart", "gbm::gbm", "gbm"}

# What R's own words leave out.
MISSING = 'Rows have missing values: leave them out by `missing="drop"`, or fill them in.'
TAKES_MATRIX = (  # rep(1, nrow(x)) of a formula x, as in glmnet
    "glmnet and the like take a matrix and the response in the place of a formula and data: "
    "`x <- model.matrix(formula, data)[, -1]`, `y <- model.response(model.frame(formula, data))`."
)


class RLearner(Reporting, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A function of R that fits a model by a formula, as an estimator.

    The data are handed to R as a data frame: categories become factors with all their levels in
    order, strings become factors with the levels of the training rows. `pyinterp.Learner` therefore
    hands variables over as they are, unless told otherwise. Names of columns that are no plain
    words go to R as words made of them, as in ``read.csv``: names and levels are data, never code.

    Parameters
    ----------
    function : str
        R code, which R runs. For example "randomForest::randomForest", "mgcv::gam",
        "rpart::rpart", "ranger::ranger", "gbm::gbm", "nnet::nnet", "nnet::multinom", "stats::lm" or
        "stats::glm"; any other that is called as ``function(formula, data = )`` and returns a fit
        that has a `predict` method, or a function of new rows; also the code of one.
    formula : str, optional
        R code, which R runs: a formula in R's language, ``"y ~ s(x1) + x2"``, its response a name
        or left out (``"~ s(x1) + x2"``). By default the response on all variables.
    classifier : bool, optional
        Whether it predicts classes. None lets `pyinterp.Learner` see what the response is;
        elsewhere it means a regression.
    predict_args : mapping, optional
        Arguments of R's `predict`; they replace known ones of the same names for the class of
        the fit; see the table of functions in the documentation.
    random_state : int, RandomState or None
        R's ``set.seed`` while it fits, after which R's own random numbers go on as before. None
        draws from these.
    **arguments
        Arguments of the function. A dot may be written as an underscore (``n_trees`` for
        ``n.trees``) where R has no argument with the underscore; ``**{"n.trees": 500}`` is possible
        too. `RCode` gives expressions: ``family=RCode("Gamma(link = 'log')")``. Values of single
        rows are refused, since they would not be drawn with the rows of a refit: weights, offsets
        and subsets are columns that code names, ``weights=RCode("w")``.

    Attributes
    ----------
    classes_ : ndarray
        Classes, for a classifier: R's levels in order.
    event_first : bool
        Of a fit, whether R's pdp counts the second of two classes, the event, as its first: where
        R predicts one probability, as ``glm`` does.
    feature_names_in_ : ndarray of str
    n_features_in_ : int
    console_ : str
        What R printed.

    Notes
    -----
    A classifier adds what R needs for probabilities, unless given: ``probability = TRUE`` for
    ranger and svm, ``family = "binomial"`` for glm and gam, ``distribution`` "bernoulli" (0 and 1)
    or "multinomial" for gbm. A regression by gbm has ``distribution = "gaussian"``.

    Examples
    --------
    >>> import r_bridge
    >>> r_bridge.RLearner("mgcv::gam", formula="y ~ s(age) + sex", method="REML").learner_name
    'mgcv::gam(y ~ s(age) + sex)'
    """

    wants_frames = one_thread = learns = True

    def __init__(
        self,
        function: str,
        *,
        formula: str | None = None,
        classifier: bool | None = None,
        predict_args: Mapping[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        **arguments: Any,
    ) -> None:
        self.function = function
        self.formula = formula
        self.classifier = classifier
        self.predict_args = predict_args
        self.random_state = random_state
        self.arguments = arguments

    @property
    def learner_name(self) -> str:
        """R's name of the function, if it has one, and the formula."""
        name = self.function if "(" not in self.function else "function of R"
        return f"{name}({short(self.formula)})" if self.formula else name

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, R's arguments among them.

        Examples
        --------
        >>> learner = r_bridge.RLearner("stats::lm", formula="progression ~ bmi + bp")
        >>> learner.get_params()["function"]
        'stats::lm'
        """
        own = ("function", "formula", "classifier", "predict_args", "random_state")
        return {name: getattr(self, name) for name in own} | self.arguments

    def set_params(self, **params: Any) -> RLearner:
        """Set parameters; those that are not its own are R's arguments.

        Examples
        --------
        >>> learner = r_bridge.RLearner("stats::lm", formula="progression ~ bmi + bp")
        >>> learner.set_params(classifier=False).classifier
        False
        """
        for name, value in params.items():
            if name in self.get_params().keys() - self.arguments.keys():
                setattr(self, name, value)
            else:
                self.arguments = {**self.arguments, name: value}
        return self

    def for_response(self, response: pd.Series[Any]) -> RLearner:
        """Return the learner that suits a response: a classifier for categories and strings.

        Examples
        --------
        >>> import pyinterp as pi
        >>> data = pi.datasets.load_diabetes()
        >>> learner = r_bridge.RLearner("stats::lm", formula="progression ~ bmi + bp")
        >>> learner.for_response(data["sex"].astype(str)).classifier
        True
        """
        check_no_rows({**self.arguments, **(self.predict_args or {})}, len(response))
        if self.classifier is not None:
            return self
        numeric = pd.api.types.is_numeric_dtype(response) and not pd.api.types.is_bool_dtype(
            response
        )
        return type(self)(**{**self.get_params(), "classifier": not numeric})

    def leave_out_of_formula(self, columns: Collection[str], kept: Collection[str]) -> None:
        """Take the terms of columns out of the formula, if it has one.

        Raises
        ------
        OptionError
            If the formula then has no term of a column that is kept.
        """
        if self.formula is not None:
            try:
                text = SESSION.call("text_without", self.formula, texts(columns), texts(kept))
            except RCallError as error:
                raise OptionError(error.message) from error
            self.formula = text_from_r(text)[0]

    def fit(self, X: pd.DataFrame | npt.ArrayLike, y: npt.ArrayLike) -> RLearner:
        """Fit the model in R."""
        if package := OF_A_PACKAGE.fullmatch(self.function):
            need(package[1], f'`RLearner("{self.function}")`')
        self._check_formula()
        frame = _rows_of(X)
        target = _response_of(y, len(frame))
        if is_frame(X):
            self.feature_names_in_ = np.array(frame.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_features_in_ = frame.shape[1]
        self._levels = levels_in(frame)
        response = _response_name(self.formula, frame, target)
        self._names = Translation([*frame, response])
        self._words = [self._names.to_r(str(name)) for name in frame]
        arguments = self._r_arguments(frame)
        data = align(frame, self._levels)
        data[response] = self._response(target, arguments)
        console: list[str] = []
        try:
            made = SESSION.call_with(
                self.function,
                [
                    ("", self._r_formula(frame, response)),
                    ("data", self._names.frame_to_r(data)),
                    *arguments.items(),
                ],
                seed=self._seed(),
                console=console,
            )
        except RCallError as error:
            remedy = MISSING if frame.isna().any(axis=None) else ""
            if "'times'" in error.message:
                remedy = TAKES_MATRIX
            if not remedy:
                raise
            raise RCallError(
                f"{error.message.rstrip('.')}. {remedy}", error.call, error.called
            ) from error
        self.fit_ = Fit(made)
        self._event_first = (
            bool(self.classifier) and len(self.classes_) == 2 and self.fit_.counts_event_first()
        )
        self.console_ = "".join(console)
        return self

    @property
    def event_first(self) -> bool:
        """Whether R's pdp has the second of two classes, the event, as its first."""
        return self._event_first

    @property
    def aim(self) -> Aim:
        """What is known of predictions: `tau` of rq, and a `family` whose link is the logarithm."""
        if self.function in ("quantreg::rq", "rq"):
            tau = self.arguments.get("tau", 0.5)
            return Aim("quantile", f"tau={tau:g}", tau)
        family, mean = self.arguments.get("family"), "type" not in (self.predict_args or {})
        if self.function not in BINOMIAL or family is None or self.classifier or not mean:
            return Aim()
        name = text_from_r(SESSION.call("log_family", family))[0]
        return Aim.mean("family", name) if name else Aim()

    def score(self, X: pd.DataFrame | npt.ArrayLike, y: npt.ArrayLike) -> float:
        """Return the R² of a regression, the accuracy of a classifier."""
        return float((accuracy_score if self.classifier else r2_score)(y, self.predict(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.function in TAKES_MISSING
        if self.classifier:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags

    @property
    def _r_classes(self) -> list[str] | None:  # type: ignore[override]
        return [str(c) for c in self.classes_] if self.classifier else None

    def _rows(self, X: pd.DataFrame | npt.ArrayLike) -> pd.DataFrame:
        """Return rows as R's model wants them."""
        check_is_fitted(self, "fit_")
        check_no_rows(self.predict_args or {}, None)
        frame = _rows_of(X)
        check_code(self.predict_args or {}, len(frame))
        if hasattr(self, "feature_names_in_"):
            frame = columns_by_name(X, frame, list(self.feature_names_in_), "X")
        if frame.shape[1] != self.n_features_in_:
            raise DataError(
                f"X has {frame.shape[1]} features, but RLearner is expecting "
                f"{self.n_features_in_} features as input."
            )
        return self._names.frame_to_r(align(frame, self._levels))

    def _r_formula(self, frame: pd.DataFrame, response: str) -> Any:
        """Return R's formula, of plain names alone."""
        changed = {}
        if self.formula is not None:  # in which "." is all variables
            columns = [*map(str, frame), response]
            check_code({"formula": RCode(self.formula)}, len(frame), columns)
            changed = {n: word for n, word in self._names.new_words.items() if n != "."}
        return SESSION.call(
            "model_formula",
            self.formula,
            self._names.to_r(response),
            texts(self._names.to_r(str(name)) for name in frame),
            texts(changed),
            texts(changed.values()),
        )

    def _r_arguments(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the arguments under R's names."""
        if not self.arguments:
            return {}
        check_no_rows(self.arguments, len(frame))
        names = text_from_r(SESSION.call("argument_names", self.function, texts(self.arguments)))
        given = dict(zip(names, self.arguments.values(), strict=True))
        return in_r_words(given, self._names, frame)

    def _response(self, y: pd.Series[Any], arguments: dict[str, Any]) -> Any:
        """Return the response for R; add the arguments that it needs for that response."""
        gbm = self.function in ("gbm::gbm", "gbm")
        if not self.classifier:
            if gbm:
                arguments.setdefault("distribution", "gaussian")
            return np.asarray(y, dtype=np.float64)
        if not isinstance(y.dtype, pd.CategoricalDtype):
            check_classification_targets(y.to_numpy())
        values = y.astype("category").cat.remove_unused_categories().cat
        codes = values.codes.to_numpy()
        self.classes_ = np.array(values.categories.tolist())
        names = level_texts(self.classes_)
        k = len(self.classes_)
        if k < 2:
            raise DataError(f"A classifier needs two classes or more; the response has {k} class.")
        if self.function in ("ranger::ranger", "ranger", "e1071::svm", "svm"):
            arguments.setdefault("probability", True)
        if self.function in BINOMIAL:
            if k != 2 and "family" not in arguments:
                raise DataError(
                    f"{self.function} models two classes, but the response has {k}; use "
                    '"nnet::multinom" or a forest.'
                )
            arguments.setdefault("family", "binomial")
        if gbm:
            arguments.setdefault("distribution", "bernoulli" if k == 2 else "multinomial")
            if k == 2 and arguments["distribution"] != "multinomial":
                return codes.astype(np.int64)
        return pd.Categorical.from_codes(codes, pd.Index(names), ordered=bool(values.ordered))

    def _check_formula(self) -> None:
        """Raise `OptionError` if R's function takes a matrix."""
        if not SESSION.call("takes_formula", self.function)[0]:
            raise OptionError(
                f"A function of R must take `formula` and `data`, but {self.function} takes a "
                "matrix; write a function(formula, data) that makes it, and returns a "
                "function(newdata) of predictions: its code may be the `function` of RLearner."
            )

    def _seed(self) -> int | None:
        state = self.random_state
        if state is None or isinstance(state, int | np.integer):
            return None if state is None else int(state)
        return int(check_random_state(state).randint(2**31 - 1))


def _rows_of(X: object) -> pd.DataFrame:
    """Return the rows as a frame: data frames as they are, arrays if they hold numbers."""
    if not (is_frame(X) or isinstance(X, pd.Series)):
        X = np.asarray(check_array(X, ensure_all_finite="allow-nan"))
    return as_frame(X, "X")


def _response_of(y: object, n: int) -> pd.Series[Any]:
    """Return the response of `n` rows, with its name if it has one."""
    if not isinstance(y, pd.Series | pd.Categorical | pd.Index):
        y = column_or_1d(y, warn=True)
    check_consistent_length(range(n), y)
    assert_all_finite(y)
    return pd.Series(y)


def _response_name(formula: str | None, frame: pd.DataFrame, y: pd.Series[Any]) -> str:
    """Return the response's name: the formula's if it has one, else one that is free."""
    kind, name = "nothing", ""
    if formula is not None:
        kind, name = (*text_from_r(SESSION.call("response_in", formula)), "")[:2]
    if kind == "no formula":
        raise OptionError(
            f'`formula` must be a formula of R such as "y ~ s(x1) + x2", not {formula!r}.'
        )
    if kind == "no name":
        raise OptionError(
            "The response of `formula` must be a name: transform `y` before fitting, so that "
            "predictions are on its scale."
        )
    if name in frame:
        raise OptionError(f"The response `{name[:40]}` of `formula` is also a variable.")
    if name:
        return name
    own = "" if y.name is None else str(y.name)
    if is_plain(own) and own not in frame:
        return own
    names = chain(["y"], (f"response.{k}" for k in count(1)))
    return next(name for name in names if name not in frame)
