"""Learners of R as scikit-learn style estimators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pyinterp.errors import DataError, OptionError
from pyinterp.sample import FloatArray, as_frame
from r_bridge.checks import check_seed
from r_bridge.conversion import text_from_r
from r_bridge.fits import Fit, aligned, levels_in
from r_bridge.packages import need
from r_bridge.session import SESSION

__all__ = ["RLearner"]

# Functions that model the probability of the second of two classes.
BINOMIAL = {"stats::glm", "glm", "mgcv::gam", "gam", "mgcv::bam", "bam"}


def _is_classifier(learner: RLearner) -> bool:
    return bool(learner.classifier)


class RLearner(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A function of R that fits a model by a formula, as an estimator.

    The data are handed to R as a data frame: categories become factors with all their levels in
    order, strings become factors with the levels of the training rows. `pyinterp.Learner` therefore
    hands variables over as they are, unless told otherwise.

    Parameters
    ----------
    function : str
        For example "randomForest::randomForest", "mgcv::gam", "rpart::rpart", "ranger::ranger",
        "gbm::gbm", "nnet::nnet", "nnet::multinom", "stats::lm" or "stats::glm"; any other that is
        called as ``function(formula, data = )`` and has a `predict` method.
    formula : str, optional
        In R's language, ``"y ~ s(x1) + x2"``, its response a name or left out (``"~ s(x1) + x2"``).
        By default the response on all variables.
    classifier : bool, optional
        Whether it predicts classes. None lets `pyinterp.Learner` see what the response is;
        elsewhere it means a regression.
    predict_args : mapping, optional
        Arguments of R's `predict`, in place of those known for the class of the fit.
    random_state : int, RandomState or None
        R's ``set.seed`` while it fits, after which R's own random numbers go on as before. None
        draws from these.
    **arguments
        Arguments of the function. A dot may be written as an underscore (``n_trees`` for
        ``n.trees``) where R has no argument with the underscore; ``**{"n.trees": 500}`` is possible
        too. `RCode` gives expressions: ``family=RCode("Gamma(link = 'log')")``.

    Attributes
    ----------
    classes_ : ndarray
        Classes, for a classifier: R's levels in order.
    event_first : bool
        Of a fit, whether R's pdp counts the second of two classes, the event, as its first: where
        R predicts one probability, such as that of ``glm``.
    feature_names_in_ : ndarray of str
    n_features_in_ : int
    console_ : str
        What R printed.

    Notes
    -----
    A classifier adds what R needs for probabilities, unless given: ``probability = TRUE`` for
    ranger, ``family = "binomial"`` for glm and gam, ``distribution`` "bernoulli" (0 and 1) or
    "multinomial" for gbm. A regression by gbm has ``distribution = "gaussian"``.

    Examples
    --------
    >>> import r_bridge
    >>> r_bridge.RLearner("mgcv::gam", formula="y ~ s(age) + sex", method="REML").learner_name
    'mgcv::gam'
    """

    wants_frames = True
    one_thread = True

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
        """R's name of the function."""
        return self.function

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, R's arguments among them."""
        own = ("function", "formula", "classifier", "predict_args", "random_state")
        return {**{name: getattr(self, name) for name in own}, **self.arguments}

    def set_params(self, **params: Any) -> RLearner:
        """Set parameters; those that are not its own are R's arguments."""
        own = self.get_params().keys() - self.arguments.keys()
        for name, value in params.items():
            if name in own:
                setattr(self, name, value)
            else:
                self.arguments = {**self.arguments, name: value}
        return self

    def for_response(self, response: pd.Series[Any]) -> RLearner:
        """Return the learner that suits a response: a classifier for categories and strings."""
        if self.classifier is not None:
            return self
        numeric = pd.api.types.is_numeric_dtype(response) and not pd.api.types.is_bool_dtype(
            response
        )
        return type(self)(**{**self.get_params(), "classifier": not numeric})

    def fit(self, X: pd.DataFrame | npt.ArrayLike, y: npt.ArrayLike) -> RLearner:
        """Fit the model in R."""
        package = self.function.partition("::")[0] if "::" in self.function else ""
        if package:
            need(package, f'`RLearner("{self.function}")`')
        frame = as_frame(X, "X")
        if isinstance(X, pd.DataFrame):
            self.feature_names_in_ = np.array(frame.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_features_in_ = frame.shape[1]
        self._levels = levels_in(frame)
        name, formula = _formula(self.formula, frame, y)
        arguments = self._r_arguments()
        values = self._response(y, arguments)
        if len(values) != len(frame):
            raise DataError(
                f"`y` must have {len(frame)} values, one per row; it has {len(values)}."
            )
        data = aligned(frame, self._levels)
        data[name] = values
        console: list[str] = []
        seed = self._seed()
        made = SESSION.call_with(
            self.function,
            [
                ("", SESSION.call("stats::as.formula", formula, SESSION.evaluate("globalenv()"))),
                ("data", data),
                *arguments.items(),
            ],
            seed=seed,
            console=console,
        )
        self.fit_ = Fit(made)
        two = bool(self.classifier) and len(self.classes_) == 2
        self.event_first = two and self.fit_.counts_event_first()
        self.console_ = "".join(console)
        return self

    def predict(self, X: pd.DataFrame | npt.ArrayLike) -> npt.NDArray[Any]:
        """Predict means, or the most probable classes."""
        if self.classifier:
            best: npt.NDArray[Any] = self.classes_[np.argmax(self.predict_proba(X), axis=1)]
            return best
        return self._predicted(X, None)

    @available_if(_is_classifier)  # type: ignore[untyped-decorator]  # scikit-learn is untyped
    def predict_proba(self, X: pd.DataFrame | npt.ArrayLike) -> FloatArray:
        """Predict the probability of every class."""
        check_is_fitted(self, "fit_")
        return self._predicted(X, [str(c) for c in self.classes_])

    def score(self, X: pd.DataFrame | npt.ArrayLike, y: npt.ArrayLike) -> float:
        """Return the R² of a regression, the accuracy of a classifier."""
        return float((accuracy_score if self.classifier else r2_score)(y, self.predict(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        if self.classifier:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags

    def _predicted(self, X: pd.DataFrame | npt.ArrayLike, classes: list[str] | None) -> FloatArray:
        check_is_fitted(self, "fit_")
        frame = as_frame(X, "X")
        names = getattr(self, "feature_names_in_", None)
        if names is not None and isinstance(X, pd.DataFrame):
            absent = [name for name in names if name not in frame]
            if absent:
                raise DataError(f"`X` must have the variable `{absent[0]}`, as in training.")
            frame = frame[list(names)]
        elif frame.shape[1] != self.n_features_in_:
            raise DataError(
                f"`X` must have {self.n_features_in_} columns, as in training; it has "
                f"{frame.shape[1]}."
            )
        elif names is not None:
            frame = frame.set_axis(list(names), axis=1)
        return self.fit_.predict(aligned(frame, self._levels), classes, self.predict_args, [])

    def _r_arguments(self) -> dict[str, Any]:
        """Return the arguments under R's names."""
        given = list(self.arguments)
        if not given:
            return {}
        names = text_from_r(SESSION.call("argument_names", self.function, pd.Series(given)))
        return dict(zip(names, self.arguments.values(), strict=True))

    def _response(self, y: npt.ArrayLike, arguments: dict[str, Any]) -> Any:
        """Return the response for R; add the arguments that it needs for that response."""
        gbm = self.function in ("gbm::gbm", "gbm")
        if not self.classifier:
            if gbm:
                arguments.setdefault("distribution", "gaussian")
            return _numbers(y, self.function)
        values = pd.Series(y).astype("category").cat.remove_unused_categories().cat
        codes = values.codes.to_numpy()
        self.classes_ = np.array(values.categories.tolist())
        k = len(self.classes_)
        if k < 2:
            raise DataError(f"A classifier needs two classes or more; the response has {k}.")
        if self.function in ("ranger::ranger", "ranger"):
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
        return pd.Categorical.from_codes(codes, pd.Index([str(c) for c in self.classes_]))

    def _seed(self) -> int | None:
        state = self.random_state
        if state is None or isinstance(state, int | np.integer):
            check_seed("random_state", state)
            return None if state is None else int(state)
        return int(check_random_state(state).randint(2**31 - 1))


def _formula(formula: str | None, frame: pd.DataFrame, y: npt.ArrayLike) -> tuple[str, str]:
    """Return the response's name in R, and the formula."""
    left, tilde, right = (formula or "~").partition("~")
    if not tilde:
        raise OptionError(
            f'`formula` must be a formula of R such as "y ~ s(x1) + x2", not {formula!r}.'
        )
    name = left.strip().strip("`")
    if name and not name.replace(".", "_").isidentifier() and f"`{name}`" != left.strip():
        raise OptionError(
            f"The response of `formula` must be a name, not {name!r}: transform `y` before "
            "fitting, so that predictions are on its scale."
        )
    if name in frame:
        raise OptionError(f"The response `{name}` of `formula` is also a variable.")
    if not name:
        own = str(getattr(y, "name", None) or "")
        candidates = [own] if own.isidentifier() and own.isascii() else []
        name = next(c for c in [*candidates, "y", ".y", ".response"] if c not in frame)
    terms = right.strip() or " + ".join(f"`{c}`" for c in frame.columns)
    return name, f"`{name}` ~ {terms}"


def _numbers(y: npt.ArrayLike, function: str) -> FloatArray:
    values = pd.Series(y)
    if not pd.api.types.is_numeric_dtype(values):
        raise DataError(
            f"The response has dtype {values.dtype}: say that it is classes, by "
            f'`RLearner("{function}", classifier=True)`.'
        )
    return np.asarray(values, dtype=np.float64)
