"""Our numbers and the numbers of R's packages, on the identical prediction function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import pandas as pd

from pyinterp.checks import check_choice
from pyinterp.data.features import check_names, names_of
from pyinterp.data.missing import count_missing
from pyinterp.errors import OptionError, list_of
from pyinterp.learner.interpretable import Interpretable
from pyinterp.losses.metrics import MetricName
from pyinterp.r_style.r_functions import HSTATS, PARTIAL, VI_FIRM, RFunction
from pyinterp.results.summary import summarize_frame
from pyinterp.results.table import Table
from pyinterp.whatif import Engine
from r_bridge import beside
from r_bridge.beside import WORDS, Answer, Question
from r_bridge.conversion import text_from_r
from r_bridge.one_function import one_function
from r_bridge.packages import need
from r_bridge.session import SESSION

__all__ = ["RComparison", "compare"]

FEATURES = ("pred_var", "feature_names", "v")  # R's names of `features`
What: TypeAlias = Literal["pdp", "vip", "hstats"]


# Of a question: the packages of R, what answers it, and the function whose arguments it takes.
QUESTIONS: dict[What, tuple[tuple[str, ...], Callable[[Question], Answer], RFunction]] = {
    "pdp": (("pdp",), beside.curves, PARTIAL),
    "vip": (("pdp", "vip"), beside.importances, VI_FIRM),
    "hstats": (("hstats",), beside.statistics, HSTATS),
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RComparison:
    """Our values, R's and their difference.

    Attributes
    ----------
    what : str
    frame : pandas.DataFrame
        One row per value: what it is of, ``ours`` (in R's conventions), ``r`` and ``difference``;
        and ``default``, what our own method gives with its own defaults, where there is a
        value of the same name.
    table : pandas.DataFrame
        The rows that `summary` shows.
    facts : tuple of (str, str)
        The header.
    notes : tuple of str
        The conventions that R's numbers rest on, and how ours differ by default.
    """

    what: What
    frame: pd.DataFrame
    table: pd.DataFrame
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    @property
    def max_abs_diff(self) -> float:
        """The largest absolute difference of ours and R's; infinite if one has no value."""
        return _largest(self.frame)

    def summary(self) -> Table:
        """Return a table; of curves a row per variable, its values those at the end points."""
        formats = {
            name: "" if name in (WORDS, "points") else "%.1e" if "diff" in name else "%.6g"
            for name in map(str, self.table)
        }
        packages = " and ".join(QUESTIONS[self.what][0])
        title = f"pyinterp and R's {packages} on the same predictions"
        return summarize_frame(self.table, formats, title=title, facts=self.facts, notes=self.notes)

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return str(self.summary().as_html())


def compare(
    results: Interpretable,
    what: What = "pdp",
    features: str | Sequence[str] | None = None,
    *,
    metric: MetricName | None = None,
    nsim: int = 5,
    seed: int = 1,
    **options: Any,
) -> RComparison:
    """Ask R's packages what we have answered, on the identical prediction function.

    R calls the model back for every prediction, and ours are computed as `r_style` does, in R's
    conventions but by our own engines: what is left is rounding, or an error of one of the two.

    Parameters
    ----------
    results : FittedModel or LearnerResults
        Of a learner, the function compared is the mean of its refits' predictions, on all rows.
    what : {"pdp", "vip", "hstats"}
        "pdp": ``partial`` of every feature. "vip": ``vi_firm`` and, if the response is known,
        ``vi_permute`` with the very permutations that R draws.
    features : str or sequence of str, optional
        Variables; by default all.
    metric : str, optional
        Of ``vi_permute``; by default "rmse", for two classes "logloss", for more "accuracy".
    nsim, seed : int
        Number of permutations of ``vi_permute``, and R's ``set.seed`` before they are drawn.
    **options
        Arguments of R's functions, with underscores for dots: `pred_grid` and `approx` of
        `partial`, with "pdp" alone; `ice` and `center`, with "pdp" and "vip"; `grid_resolution`,
        `quantiles`, `probs`, `trim_outliers`, `type`, `inv_link`, `which_class`, `prob`, `chull`,
        `cats` and `check_class`, with all but "hstats"; `pairwise_m`, `threeway_m`, `n_max`,
        `eps`, `normalize` and `squared` of `hstats`, with "hstats" alone.

    Returns
    -------
    RComparison

    Raises
    ------
    TypeError
        For an argument that the functions of R that are asked do not have.
    RMissingError
        If R, rpy2 or a package of R is absent.
    """
    check_choice("what", what, QUESTIONS)
    _check_options(what, options)
    if not isinstance(results, Interpretable):
        raise OptionError(
            "`compare` needs the results of a learner's `fit`, or `pi.FittedModel(model, X, y)`; "
            f"got {results.__class__.__name__}."
        )
    if missing := count_missing(results.analysis.problem.sample.variables.isna()):
        raise OptionError(
            "R's functions leave rows with missing values out, each in its own way, so that there "
            f'is nothing to compare (missing: {missing}); use `missing="drop"`.'
        )
    packages, answer, _ = QUESTIONS[what]
    versions = {name: need(name, "`r_bridge.compare`") for name in packages}
    ours = one_function(results)
    question = Question(
        results=results,
        ours=ours,
        names=_names(ours, features),
        metric=metric,
        nsim=nsim,
        seed=seed,
        options=options,
    )
    frame, table, notes = answer(question)
    facts = _facts(question, frame, versions)
    return RComparison(what=what, frame=frame, table=table, facts=facts, notes=notes)


def _check_options(what: What, options: Mapping[str, Any]) -> None:
    """Raise `TypeError` for an option that the two functions do not both take."""
    function = QUESTIONS[what][2]
    there = function.names("r_bridge")
    common = [n for n in function.names("r_style") if n in there and n not in FEATURES]
    for name in options:
        if name not in common:
            raise TypeError(
                f'compare() of "{what}" takes no keyword argument `{name}`; its options are '
                f"{list_of(common, most=20, limit=300)}."
            )


def _facts(
    question: Question, frame: pd.DataFrame, versions: Mapping[str, tuple[int, ...]]
) -> tuple[tuple[str, str], ...]:
    """Return the header of the table."""
    base = text_from_r(SESSION.evaluate("as.character(getRversion())"))[0]
    packages = ", ".join(f"{n} {'.'.join(map(str, v))}" for n, v in versions.items())
    context, cases = question.results.analysis.context, question.ours.analysis.cases
    refits = f", mean of {context.refits} refits" if context.refits > 1 else ""
    return (
        ("Function:", context.learner + refits),
        ("R:", f"{base}, {packages}"),
        ("Rows:", str(question.ours.analysis.context.nobs)),
        ("Largest difference:", f"{_largest(frame):.1e}"),
        ("Engine:", Engine.of_all([case.whatif.engine for case in cases]).name),
    )


def _names(results: Interpretable, features: str | Sequence[str] | None) -> list[str]:
    variables = [str(name) for name in results.analysis.problem.sample.variables]
    names = variables if features is None else names_of(features)
    check_names(names, variables, kind="variable")
    return names


def _largest(frame: pd.DataFrame) -> float:
    """Return the largest absolute difference; infinite where only one of the two is missing."""
    one_missing = frame["ours"].isna() != frame["r"].isna()
    return float("inf") if one_missing.any() else float((frame["ours"] - frame["r"]).abs().max())
