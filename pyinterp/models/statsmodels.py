"""What statsmodels needs: its fitted models are results, which predict from a matrix or a formula.

Results of other packages that follow statsmodels are read alike.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.data.columns import read_variables
from pyinterp.data.design import FormulaDesign
from pyinterp.data.formula import parse
from pyinterp.data.formula.coding import RightSide
from pyinterp.data.formula.factors import column_factor
from pyinterp.distributions import Gamma, Normal, Poisson
from pyinterp.errors import OptionError, PredictionError, list_of
from pyinterp.models import links
from pyinterp.models.library import Aim, Library, Offset, Prediction, Statement
from pyinterp.models.links import Link

ROWS = 200  # on which predictions are compared
SAME = 1e-10  # of the largest value: two ways to compute it differ by rounding only
# Models of counts whose link is the logarithm. Unless they are told otherwise, two add the exposure
# of their training rows to what they predict of others.
ADDS_TRAINING = {"NegativeBinomialP", "GeneralizedPoisson"}
COUNTS = {"Poisson", "NegativeBinomial", *ADDS_TRAINING}
COUNTS |= {f"ZeroInflated{kind}" for kind in COUNTS}


def _is_results(fitted: Any) -> bool:
    """Whether a fitted model is a results object of statsmodels, or one that is made like it."""
    model = getattr(fitted, "model", None)
    of_package = type(model).__module__.partition(".")[0] == "statsmodels"
    return not isinstance(model, type) and (of_package or hasattr(model, "endog_names"))


def takes_offset(model: Any) -> bool:
    """Whether a model, or a class of models, takes an offset."""
    kind = model if isinstance(model, type) else type(model)
    return any("offset" in signature(base).parameters for base in kind.__mro__[:-1])


def aim_of_model(kind: str, family: Any, q: float) -> Aim:
    """Return the aim of a kind of model with a family; `q` is the quantile of QuantReg."""
    if kind == "QuantReg":
        return Aim("quantile", f"q={q:g}", q)
    if kind == "RLM":
        return Aim("other", kind)
    kinds = type(getattr(family, "link", None)).__mro__  # by name: to import them takes time
    log = "Log" in [kind.__name__ for kind in kinds]
    name = kind if kind in COUNTS else type(family).__name__ if log else ""
    return Aim.mean(kind, name, getattr(family, "var_power", getattr(family, "alpha", None)))


def _offset(results: Any) -> Offset | None:
    """Return how results take an offset in `predict`; None if their model has none."""
    if not takes_offset(results.model):
        return None
    adds = type(results.model).__name__ in ADDS_TRAINING
    return Offset("offset", beside={"exposure": 1} if adds else {})


def _aim(results: Any) -> Aim:
    """Return the aim of results: the mean, a quantile, or another thing."""
    model = results.model
    q = getattr(results, "q", 0.5)
    return aim_of_model(type(model).__name__, getattr(model, "family", None), q)


def _check_rows(results: Any, X: Any, offset: bool) -> None:
    """Raise `OptionError` if `predict` needs more than rows of `X`, or an offset, or takes none.

    Models with a smooth can also predict rows of its basis, whose columns have names. The offset of
    new rows is 0 to `predict`.
    """
    model, needs = results.model, "exog_infl"
    if hasattr(model, "smoother"):
        needs = "exog_smooth"
        enough = set(model.exog_names) <= set(getattr(X, "columns", model.exog_names))
    else:
        enough = getattr(model, "_no_exog_infl", True)  # a constant needs no rows
    if not enough:
        raise OptionError(
            f"{type(model).__name__} predicts from `exog` and `{needs}`, but `X` is `exog` alone: "
            "pass a data frame with the variables of both, and instead of the results a function "
            f"of its rows, such as `lambda Z: results.predict(Z[['x']], {needs}=Z[['z']])`."
        )
    lacking = []
    for name in ("offset", "exposure"):
        # Without them statsmodels keeps None, or zeros; the flag stays when data are removed.
        flag = getattr(model, f"_{name}_name", None) or getattr(model, f"_has_{name}", False)
        values = getattr(model, name, None)
        if flag or (values is not None and np.any(np.asarray(values, dtype=np.float64))):
            lacking.append(name)
    if lacking and not offset:
        raise OptionError(
            f"The model was fitted with an {lacking[0]}, which its `predict` leaves out for new "
            "rows, so that every prediction would be wrong: pass that of the evaluation rows, a "
            "column or array, as `offset=` or `exposure=`."
        )
    if offset and not lacking:
        raise OptionError(
            "The model was fitted without an offset or exposure, which can't be added to its "
            "predictions; leave `offset` and `exposure` out."
        )


def _formula(results: Any) -> str | None:
    """Return the formula of results; None without one."""
    formula = getattr(results.model, "formula", None)
    return formula if isinstance(formula, str) and "~" in formula else None


def _names(results: Any) -> list[str] | None:
    """Return the column names of a model without a formula; None if they are the default ones."""
    model = getattr(results, "model", None)  # a model that is not fitted has none
    # What was asked for once, statsmodels knows after `remove_data` too.
    names = [str(name) for name in getattr(model, "exog_names", None) or ()]
    exog = getattr(getattr(model, "data", None), "orig_exog", None)
    if isinstance(exog, pd.DataFrame):
        return [str(column) for column in exog.columns]
    # After `remove_data`, names other than the defaults of statsmodels come from a frame.
    default = all(re.fullmatch(r"const|x\d+", name) for name in names)
    return None if exog is not None or default else names


def _number(results: Any) -> int | None:
    """Return how many columns results were fitted to; None if that is not known."""
    exog = getattr(results.model, "exog", None)
    return None if exog is None else int(exog.shape[1])


def _link(results: Any, kind: str) -> Link | None:
    """Return the inverse link of results, from linear predictors; None if it is not known."""
    model = results.model
    name, family = type(model).__name__, getattr(model, "family", None)
    if family is not None:
        if type(family.link).__name__ == "Identity" and kind == "mean":
            return links.only_sum
        return FamilyLink(family.link, kind == "mean")
    return {
        **dict.fromkeys(("OLS", "WLS", "GLS", "GLSAR", "RLM", "QuantReg"), links.only_sum),
        "Poisson": links.exponential,
        "Logit": links.logistic,
        "Probit": links.probit,
        "MNLogit": links.after_the_first,
    }.get(name)


@dataclass(frozen=True)
class FamilyLink:
    """The inverse of a family's link, to means or to the probabilities of two classes."""

    link: Any
    mean: bool

    def __call__(self, sums: FloatArray) -> FloatArray:
        """Return predictions."""
        return self._inverse(sums) if self.mean else links.two_classes(self._inverse)(sums)

    def slope(self, sums: FloatArray, predictions: FloatArray) -> FloatArray:
        """Return derivatives, of the second of two classes."""
        if type(self.link).__name__ != "Logit":
            return np.asarray(self.link.inverse_deriv(sums))[:, None]
        p = predictions.reshape(len(sums), -1)[:, -1:, None]
        return np.asarray(p * (1 - p))

    def _inverse(self, sums: FloatArray) -> FloatArray:
        """Return means."""
        return np.asarray(self.link.inverse(sums[..., 0]))


def _distribution(results: Any) -> Statement | None:
    """Read linear models and generalized linear models of Gaussian, Poisson and gamma families."""
    kind = type(results.model).__name__
    family = type(getattr(results.model, "family", None)).__name__
    if not hasattr(results, "get_prediction"):
        return None
    if kind in ("WLS", "GLM"):
        _check_variance(results, kind, family)
    if kind == "OLS" or (kind, family) == ("GLM", "Gaussian"):
        return Normal(), partial(_of_new_responses, results)
    if kind == "Poisson" or (kind, family) == ("GLM", "Poisson"):
        return Poisson(), partial(_of_counts, results)
    if (kind, family) == ("GLM", "Gamma"):
        return Gamma(), partial(_shape_and_scale, results)
    return None


def _of_new_responses(results: Any, inputs: Any) -> FloatArray:
    """Return mean and standard deviation, with the residual variance and the estimated mean's."""
    prediction = results.get_prediction(inputs)
    if hasattr(prediction, "var_resid"):
        mean, of_mean = prediction.predicted_mean, prediction.var_pred_mean
        variance = prediction.var_resid + of_mean
    else:
        mean, of_mean = prediction.predicted, np.square(prediction.se)
        variance = results.scale + of_mean
    return np.column_stack([mean, np.sqrt(variance)])


def _of_counts(results: Any, inputs: Any) -> FloatArray:
    """Return the parameter of Poisson distributions, (n, 1): the mean."""
    return np.asarray(results.predict(inputs), dtype=np.float64)[:, None]


def _shape_and_scale(results: Any, inputs: Any) -> FloatArray:
    """Return the parameters of gamma distributions, (n, 2)."""
    mean, scale = np.asarray(results.predict(inputs), dtype=np.float64), float(results.scale)
    return np.column_stack([np.full(len(mean), 1 / scale), mean * scale])


def _check_variance(results: Any, kind: str, family: str) -> None:
    """Raise unless the variance of a new response agrees with the family."""
    weights = results.model.weights if kind == "WLS" else results.model.var_weights
    if np.any(np.asarray(weights) != 1):
        raise PredictionError(
            f"{kind} was fitted with weights, by which variances differ, and the weight of a new "
            "row is not known, so that no distribution is stated; fit without weights, or use "
            "`pi.Distributional(estimator, ...)`."
        )
    if family == "Poisson" and results.scale != 1:
        raise PredictionError(
            f"The variance of a Poisson distribution is its mean, but GLM was fitted with scale "
            f"{results.scale:.6g}, and a quasi-likelihood is no distribution; leave `scale` out."
        )


def _prediction(
    results: Any, classes: Sequence[Any] | None, response: pd.Series[Any] | None
) -> Prediction:
    """Return the predictions of results: for a response of numbers 0 and 1 the probability of 1.

    If a formula turned a response with two levels into two columns, it is that of the first.
    """
    model = results.model
    kind, family = type(model).__name__, type(getattr(model, "family", None)).__name__
    if kind == "PHReg":
        raise OptionError(
            "Results of PHReg predict hazards of several kinds: pass a function of the rows that "
            'returns one number, such as the log hazard; the page "Survival" has one.'
        )
    if kind not in {"Logit", "Probit", "MNLogit", "OrderedModel"} and family != "Binomial":
        return Prediction()
    trials = kind not in ("MNLogit", "OrderedModel") and _counts_trials(model)
    endog = getattr(model, "endog", None)  # a share once the model is made; gone with its data
    fractions = endog is not None and not np.isin(endog, (0, 1)).all()
    if trials or (fractions and kind not in ("MNLogit", "OrderedModel")):
        return Prediction(shares=True, trials=trials)
    named = not isinstance(getattr(model, "endog_names", ""), str)
    if classes is not None and not named and kind not in ("MNLogit", "OrderedModel"):
        return Prediction(probabilities=True, classes=classes)
    own = _classes(model, kind, response)
    classes = own if classes is None else classes
    given, known = [*map(str, classes)], [*map(str, own)]
    if given != known and sorted(given) == sorted(known):
        raise OptionError(
            f"The model has its classes in the order {list_of(known)}; leave `classes` out."
        )
    return Prediction(probabilities=True, classes=classes, ordinal=kind == "OrderedModel")


def _classes(model: Any, kind: str, response: pd.Series[Any] | None) -> Sequence[Any]:
    """Return the classes that a model was fitted to, as the response writes them.

    statsmodels keeps their names; evaluation rows need not have all of them.
    """
    levels = [] if response is None else sorted(response.unique().tolist(), key=str)
    label_of = {str(level): level for level in levels}
    if kind == "OrderedModel":
        return [label.item() if isinstance(label, np.generic) else label for label in model.labels]
    if kind == "MNLogit":
        names = [str(name) for _, name in sorted(model._ynames_map.items())]
        numbers = all(isinstance(level, int | float) for level in levels)
        return [
            label_of.get(name, int(name) if numbers and name.lstrip("-").isdigit() else name)
            for name in names
        ]
    response_names = getattr(model, "endog_names", "the response")  # gone if data were removed
    if not isinstance(response_names, str):
        texts = [str(n)[str(n).rfind("[") + 1 : -1] for n in response_names]
        return [label_of.get(text, text) for text in reversed(texts)]  # the first is the event
    if not set(levels) <= {0, 1}:
        raise OptionError(
            f"The model predicts the probability that `{response_names}` is 1, but the response "
            f"has {list_of(levels)}; pass the 0/1 response, or `classes=(label of 0, label of 1)`."
        )
    return (0, 1)


def _counts_trials(model: Any) -> bool:
    """Whether a model was fitted to two columns, successes and failures.

    A response with two levels is also two columns, of 0 and 1, named after the levels.
    """
    names = getattr(model, "endog_names", None)
    trials = getattr(model, "n_trials", None)
    if trials is not None and np.any(np.asarray(trials) != 1):
        return True
    # Levels are named "sex[female]" and so on, by either version of statsmodels.
    return isinstance(names, list) and not all(str(name).endswith("]") for name in names)


def _read_formula(results: Any, variables: pd.DataFrame) -> tuple[FormulaDesign, Any] | None:
    """Return the design of a statsmodels formula, and the same results for rows of its matrix.

    None unless its columns equal those that the model was fitted to, and predictions by it equal
    those of ``results.predict``.

    Parameters
    ----------
    results : object
    variables : pandas.DataFrame
        Evaluation rows. A variable that the formula lacks is an offset.
    """
    formula = _formula(results)
    data: Any = getattr(results.model, "data", None)
    frame, exog = getattr(data, "frame", None), getattr(data, "exog", None)
    if formula is None or exog is None or not isinstance(frame, pd.DataFrame):
        return None
    # A copy of the results predicts rows of the matrix, as results of arrays do.
    inside = copy(getattr(results, "_results", results))
    inside.model = copy(inside.model)
    del inside.model.formula
    of_matrices = type(results)(inside) if hasattr(results, "_results") else inside
    try:
        rows = read_variables(variables.iloc[:ROWS])
        # The training rows of the variables that evaluation rows have, an offset as 0.
        kept = np.delete(np.arange(len(frame)), data.missing_row_idx)
        trained = frame.reindex(columns=rows.columns, fill_value=0.0).take(kept)
        trained = read_variables(trained.reset_index(drop=True))
        design = _design(formula, trained, _scope(data))
        columns = design.encode(trained)[:, : exog.shape[1]]
        predicted = of_matrices.predict(design.encode(rows)[:, : exog.shape[1]])
        same = _equal(columns, exog) and _predicts(results, rows, predicted)
    except Exception:  # noqa: BLE001 - code of another language, or rows that no model predicts
        return None
    return (design, of_matrices) if same else None


def _predicts(results: Any, rows: pd.DataFrame, predicted: FloatArray) -> bool:
    """Whether results predict these numbers of rows, as arrays, or as columns of a frame.

    Of arrays patsy makes the matrix in a fifth of the time; code may need more than they can do.
    """
    arrays = {name: column.to_numpy() for name, column in rows.items()}
    with suppress(Exception):
        if _equal(predicted, results.predict(arrays)):
            return True
    return _equal(predicted, results.predict(rows))


def _scope(data: Any) -> Mapping[str, Any]:
    """Return the names of the code around the formula, as patsy keeps them."""
    factors = getattr(getattr(data, "model_spec", None) or data.design_info, "factor_infos", {})
    states = [info.state for info in factors.values()]
    return ChainMap(*(state["eval_env"].namespace for state in states if "eval_env" in state))


def _design(formula: str, trained: pd.DataFrame, scope: Mapping[str, Any]) -> FormulaDesign:
    """Return the design of the right side, and of an offset as the last column."""
    names = [str(name) for name in trained]
    response = "y" + "_" * max(map(len, names))
    _, terms = parse(f"{response} ~ {formula.partition('~')[2]}", [*names, response], scope)
    offset = [(column_factor(name),) for name in names if name not in terms.variables]
    terms = RightSide(terms.intercept, (*terms.products, *offset))
    design = FormulaDesign(terms, trained, scope, intercept=True)
    design.check_rows()
    return design


def _equal(a: Any, b: Any) -> bool:
    """Whether two matrices are the same but for rounding, beside the size of each column."""
    one, other = (np.asarray(x, dtype=np.float64) for x in (a, b))
    atol: Any = SAME * np.abs(other).max(axis=0)
    return one.shape == other.shape and np.allclose(one, other, rtol=0, atol=atol)


STATSMODELS = Library(
    package="statsmodels",
    recognizes=_is_results,
    families={"linear models": r".*\.Statsmodels(Regressor|Classifier)"},
    missing="refuses",
    check_rows=_check_rows,
    offset=_offset,
    rates="",
    aim=_aim,
    formula=_formula,
    read_formula=_read_formula,
    names=_names,
    results=True,
    number=_number,
    estimator="pi.statsmodels_learner({})",
    link=_link,
    distribution=_distribution,
    prediction=_prediction,
)
