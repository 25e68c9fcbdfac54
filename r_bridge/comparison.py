"""Our numbers beside those of R's packages, on the identical prediction function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import pandas as pd

from pyinterp.checks import check_choice
from pyinterp.data.features import check_names, names_of
from pyinterp.errors import OptionError
from pyinterp.learner.interpretable import Interpretable
from pyinterp.losses.metrics import MetricName
from pyinterp.results.summary import Table, summarize_frame
from r_bridge import beside
from r_bridge.beside import WORDS, Answer, Question
from r_bridge.conversion import text_from_r
from r_bridge.one_function import one_function
from r_bridge.packages import need
from r_bridge.session import SESSION

__all__ = ["RComparison", "compare"]

What: TypeAlias = Literal["pdp", "vip", "vint", "hstats"]


class _Comparable(NamedTuple):
    packages: tuple[str, ...]
    answer: Callable[[Question], Answer]


QUESTIONS: dict[What, _Comparable] = {
    "pdp": _Comparable(("pdp",), beside.curves),
    "vip": _Comparable(("pdp", "vip"), beside.importances),
    "vint": _Comparable(("pdp", "vip"), beside.interactions),
    "hstats": _Comparable(("hstats",), beside.statistics),
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
        packages = " and ".join(QUESTIONS[self.what].packages)
        title = f"pyinterp and R's {packages} on the same predictions"
        return summarize_frame(self.table, formats, title=title, facts=self.facts, notes=self.notes)

    def __str__(self) -> str:
        return str(self.summary())

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
    what : {"pdp", "vip", "vint", "hstats"}
        "pdp": ``partial`` of every feature. "vip": ``vi_firm`` and, if the response is known,
        ``vi_permute`` with the very permutations that R draws. "vint" needs vip before 0.4.
    features : str or sequence of str, optional
        Variables; by default all.
    metric : str, optional
        Of ``vi_permute``; by default "rmse", for two classes "logloss", for more "accuracy".
    nsim, seed : int
        Number of permutations of ``vi_permute``, and R's ``set.seed`` before they are drawn.
    **options
        Of ``pdp::partial`` (see `pyinterp.r_style.Curve`), or of ``hstats`` (`v` is `features`).

    Returns
    -------
    RComparison

    Raises
    ------
    RMissingError
        If R, rpy2 or a package of R is absent.
    """
    if not isinstance(results, Interpretable):
        raise OptionError(
            "`compare` needs the results of a learner's `fit`, or `pi.FittedModel(model, X, y)`; "
            f"got {type(results).__name__}."
        )
    check_choice("what", what, QUESTIONS)
    packages, answer = QUESTIONS[what]
    versions = {name: need(name, "`r_bridge.compare`") for name in packages}
    ours = one_function(results)
    found = answer(
        Question(
            results=results,
            ours=ours,
            names=_names(ours, features),
            metric=metric,
            nsim=nsim,
            seed=seed,
            options=options,
        )
    )
    context = ours.analysis.context
    said = ", ".join(f"{n} {'.'.join(map(str, v))}" for n, v in versions.items())
    base = text_from_r(SESSION.evaluate("as.character(getRversion())"))[0]
    learner, refits = results.analysis.context.learner, results.analysis.context.refits
    if refits > 1:
        learner += f", mean of {refits} refits"
    facts = (
        ("Function:", learner),
        ("R:", f"{base}, {said}"),
        ("Rows:", str(context.nobs)),
        ("Largest difference:", f"{_largest(found.frame):.1e}"),
        ("Engine:", ours.analysis.engine_used.name),
    )
    return RComparison(what=what, facts=facts, **found._asdict())


def _names(results: Interpretable, features: str | Sequence[str] | None) -> list[str]:
    known = [str(name) for name in results.analysis.problem.population.variables]
    asked = known if features is None else names_of(features)
    check_names(asked, known, kind="variable")
    return asked


def _largest(frame: pd.DataFrame) -> float:
    """Return the largest absolute difference; infinite where only one of the two is missing."""
    one_missing = frame["ours"].isna() != frame["r"].isna()
    return float("inf") if one_missing.any() else float((frame["ours"] - frame["r"]).abs().max())
