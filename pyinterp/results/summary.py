"""Summary tables: a header, blocks of numbers, and footnotes; and results that have them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from pyinterp._typing import FilePath
from pyinterp.checks import check_alpha, check_choice, check_count, check_flag, check_text
from pyinterp.errors import OptionError, short
from pyinterp.estimands.estimand import Parameter
from pyinterp.hints import Hints
from pyinterp.inference import TermInference
from pyinterp.inference.digits import Column, block, limits, number_format, row_formats
from pyinterp.inference.intervals import symbol
from pyinterp.parameters import takes
from pyinterp.ranges import REAL
from pyinterp.results import footnotes
from pyinterp.results.footnotes import Footnote, NotesOption
from pyinterp.results.header import LEVELS
from pyinterp.results.table import Fact, Table, need
from pyinterp.storage import Savable, whole_file
from pyinterp.whatif import PERMUTATIONS

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults


MOST_DECIMALS = 15
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# Columns that have a dot in R's broom.
BROOM = ("std_error", "std_error_null", "std_error_mcse", "p_value", "conf_low", "conf_high")
LONGEST_FORMULA = 100
STD_ERR = "std err"
DIGITS = 9  # of estimates that are put in order


@dataclass(frozen=True)
class TableOptions:
    """Options of summary tables, checked; `pyinterp.parameters` describes them."""

    alpha: float = 0.05
    sort: bool = True
    top: int | None = None
    title: str | None = None
    notes: NotesOption = "short"
    decimals: int | None = None

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_flag("sort", self.sort)
        if self.top is not None:
            check_count("top", self.top)
        if self.title is not None:
            check_text("title", self.title)
        check_choice("notes", self.notes, get_args(NotesOption))
        if self.decimals is not None:
            check_count("decimals", self.decimals, 0, MOST_DECIMALS)

    def numbers(self, estimates: ArrayLike, errors: ArrayLike) -> list[str]:
        """Return the formats of estimates and their errors, by row."""
        values = np.asarray(estimates, float)
        if self.decimals is not None:
            return [f"%.{self.decimals}f"] * len(values)
        return row_formats(values, np.asarray(errors, float))


class Tabular(Savable, Hints):
    """Results that have a method ``summary``."""

    if TYPE_CHECKING:
        summary: Callable[..., Table]
        summary_frame: Callable[..., pd.DataFrame]

    def to(
        self,
        target: FilePath,
        *,
        notes: NotesOption = "short",
        caption: str | None = None,
        label: str = "",
    ) -> str | Path:
        r"""Return the summary as text in a format, or write it to a file.

        Parameters
        ----------
        target : {"text", "html", "latex", "markdown", "csv"} or path
            A format, or a file that ends in .txt, .html (a whole page), .tex, .md, .csv, .docx or
            .xlsx. LaTeX needs ``\usepackage{booktabs,threeparttable}`` in the document. An Excel
            file has `summary_frame` in full precision, and a sheet with the header and the full
            footnotes. An existing file is replaced.
        notes : {"short", "full", "none"}
            Footnotes, as in ``summary``.
        caption : str, optional
            Of LaTeX, as it reads it; by default the title of the table. Empty for none.
        label : str
            Of LaTeX, for ``\ref``, such as "tab:pfi".

        Returns
        -------
        str or pathlib.Path
            The text, or the file. A table with other options of ``summary`` has this method too.

        Raises
        ------
        OptionError
            If there is no such format, or no file can have this path.
        ImportError
            Without python-docx for .docx, which ``pip install 'pyinterp-stats[word]'`` brings, or
            without openpyxl for .xlsx.

        Examples
        --------
        >>> print(pfi.to("latex", caption="Importance").splitlines()[0])
        % \usepackage{booktabs,threeparttable}
        >>> pfi.to("pfi.xlsx").name
        'pfi.xlsx'
        """
        excel = isinstance(target, str | PathLike) and str(fspath(target)).endswith(".xlsx")
        table = self.summary(notes="full" if excel else notes)
        if not excel:
            return table.to(target, caption=caption, label=label)
        need("openpyxl", 'or write `to("table.csv")`', table)
        about = pd.DataFrame([*table.facts, *table.legend, *(("Note", n) for n in table.notes)])
        with whole_file(target) as temporary, pd.ExcelWriter(temporary, engine="openpyxl") as file:
            self.tidy().to_excel(file, sheet_name="estimates", index=False)
            about.to_excel(file, sheet_name="about", index=False, header=False)
            for sheet in file.sheets.values():
                for cell in (cell for row in sheet.iter_rows() for cell in row):
                    if cell.data_type == "f":  # a name that begins with "=" is no formula
                        cell.data_type = "s"
        return Path(target)

    def tidy(self, alpha: float | None = None) -> pd.DataFrame:
        """Return `summary_frame` with the terms as a column, as R's broom does.

        Examples
        --------
        >>> pfi.tidy()[["term", "estimate", "std_error", "p_value"]].round(3)
          term  estimate  std_error  p_value
        0  sex    48.512     52.186    0.127
        1  bmi  2724.558    557.763    0.000
        2   bp   779.564    198.999    0.001
        """
        frame = self.summary_frame() if alpha is None else self.summary_frame(alpha=alpha)
        return frame.reset_index()

    def to_r(self, alpha: float | None = None) -> pd.DataFrame:
        """Return `tidy` under broom's column names, with dots, for a data frame in R.

        Hand it to R with ``%R -i``, with rpy2's pandas converter, or as a file.

        Examples
        --------
        >>> pfi.to_r()[["term", "estimate", "std.error", "p.value"]].round(3)
          term  estimate  std.error  p.value
        0  sex    48.512     52.186    0.127
        1  bmi  2724.558    557.763    0.000
        2   bp   779.564    198.999    0.001
        """
        return self.tidy(alpha).rename(columns={name: name.replace("_", ".") for name in BROOM})

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return str(self.summary().as_html())


class TableOfEstimands(Tabular, ABC):
    """Results whose table has one block per estimand."""

    alpha: float = 0.05
    title = ""  # without one, the heading of the first part

    @property
    @abstractmethod
    def parts(self) -> list[EstimandResults]:
        """The results of the estimands, in the order of the table."""

    @takes()
    def summary(
        self,
        alpha: float | None = None,
        *,
        sort: bool = True,
        top: int | None = None,
        title: str | None = None,
        notes: NotesOption = "short",
        decimals: int | None = None,
    ) -> Table:
        """Return a table as statsmodels prints; of several estimands, one below the other.

        Parameters
        ----------
        alpha : float, optional
            Significance level of the intervals; by default 0.05, or as of ``decisions``.
        sort : bool
            Print features in decreasing order of their estimates, of values with a sign such as
            effects by absolute size; of several as in the first that has them. Grids keep their
            order.
        {top}
        {table}

        Returns
        -------
        statsmodels.iolib.summary.Summary
            With ``to``, ``as_text``, ``as_html``, ``as_latex`` and ``as_csv``.

        Examples
        --------
        >>> print(pfi.summary(alpha=0.1, top=2, title="Diabetes"))
                                            Diabetes
        ================================================================================
        Dep. variable:     progression     Estimand:                PFI (squared error)
        Formula:           progression ~ bmi + bp + sex
        Learner:           LinearRegression
        No. observations:  442             Resampling:              half-sampling
        No. refits:        5, and 5 pairs  Train / evaluation rows: 279 / 163
        Loss:              squared error   Loss, out of sample:     3635 (s.e. 446)
        R², out of sample: 0.380           Df:                      5
        Cov. type:         half-sample     Engine:                  linear, exact
        Seed:              1               Software:                pyinterp ...
        Terms:             2 of 3 shown
        ================================================================================
                                   PFI   std err     [0.05     0.95]         t     P>|t|
        --------------------------------------------------------------------------------
        bmi                       2725       558      1741      3995     9.846    <0.001
        bp                         780       199       441      1246     7.930     0.001
        ================================================================================
        <BLANKLINE>
        [1] Increase in expected squared error, in units of progression², when the
            feature is replaced by an independent draw.
        [2] Intervals (half-sample, 5 df) are for the learner trained on 63.2% of the
            rows. Limits are asymmetric, and t takes the s.e. at 0.
        [3] No simulations say how often such intervals cover.
        """
        alpha = self.alpha if alpha is None else alpha
        options = TableOptions(alpha, sort, top, title, notes, decimals)
        several, first = self.parts, self.parts[0]
        headings, (legend, before, columns) = footnotes.headings_of(several), self._explanation()
        frames = _frames(several, options)
        below = footnotes.notes_of(several, headings, frames, alpha, notes, before=before)
        # A diagnostic of several estimands stands once, below the last one.
        last = {r.diagnostic.estimand.words.label: k for k, r in enumerate(several) if r.diagnostic}
        blocks: list[pd.DataFrame] = []
        pending: list[EstimandResults] = []
        for k, (results, heading, frame) in enumerate(zip(several, headings, frames, strict=True)):
            others = results.diagnostics if k in last.values() else []
            if k and results.estimand.words.as_columns[0][1]:
                same = bool(pending) and {*pending[-1].exog_names} == {*results.exog_names}
                others = [*(pending if same else []), *others, results]
                blocks = blocks[:-1] if same else blocks
            else:
                block = block_of(
                    frame,
                    results.inference,
                    options,
                    _stubs(frame.index, {heading}, below),
                    heading=heading,
                    tested=results.null is not None,
                )
                blocks.append(block.rename(columns=columns))
            if others and len(beside := _columns(others, results, frame.index, below, options)):
                blocks.append(beside)
            pending = others
        alone, shown = len(several) == 1, len(frames[0])
        what = first.estimand.description if alone else ", ".join(dict.fromkeys(headings))
        facts = facts_of(first, what)
        if shown < len(first.params):
            facts.append(("Terms:", f"{shown} of {len(first.params)} shown"))
        return Table(
            blocks,
            [note.text for note in below],
            title=title
            or f"{self.title or first.estimand.words.heading}, {LEVELS[first.context.level]}",
            facts=facts,
            legend=[*legend, *footnotes.legend_of(several, headings)],
        )

    def _explanation(self) -> tuple[list[Fact], list[Footnote], dict[str, str]]:
        """Return further facts of the header, the first footnotes, and columns' longer headings."""
        return [], [], {}


def summarize_frame(
    frame: pd.DataFrame,
    formats: Mapping[str, str],
    *,
    title: str,
    facts: Sequence[Fact],
    notes: Sequence[str],
) -> Table:
    """Return a table of any numbers and words.

    Parameters
    ----------
    frame : pandas.DataFrame
        Its index names the rows.
    formats : mapping of str to str
        The columns to show, each with the format of its numbers; "" for words.
    title : str
    facts : sequence of (str, str)
        What the header says.
    notes : sequence of str
        Footnotes.
    """
    columns = [(name, name, fmt) for name, fmt in formats.items()]
    cells = block(frame, columns, list(map(str, frame.index)))
    return Table([cells], notes, title=title, facts=facts)


def largest_first(
    frame: pd.DataFrame, parameter: Parameter, column: str = "estimate"
) -> pd.DataFrame:
    """Return the rows of a frame by a column of a parameter's values, missing ones last.

    Signed ones, which may be large on either side of the null value, are ordered by their distance.
    Values that are equal but for rounding keep their order, which would depend on the machine.
    Contrasts of one variable stay together, by its largest, in the order of its levels.
    """
    values = frame[column]
    if parameter.range == REAL and parameter.no_effect is None and parameter.better is None:
        values = (values - (parameter.null or 0.0)).abs()
    digits = np.array([float(f"{value:.{DIGITS - 1}e}") for value in values])
    of = pd.Index(frame.get("term", frame.index)).astype(str)
    best = pd.Series(digits).groupby(of.str.replace(r"\[.* - .*\]", "", regex=True))
    return frame.iloc[np.argsort(-best.transform("max").to_numpy(), kind="stable")]


def _frames(several: Sequence[EstimandResults], options: TableOptions) -> list[pd.DataFrame]:
    """Return the rows of every block in the order in which they are shown."""
    frames: list[pd.DataFrame] = []
    order = pd.Index([])
    for results in several:
        frame, terms = results.summary_frame(options.alpha), results.estimand.terms
        if options.top is not None and terms.axes:
            raise OptionError("`top` is for tables of one value per feature; this is of a grid.")
        if not terms.axes and set(frame.index) == set(order):
            frame = frame.loc[order]
        elif options.sort and not terms.axes:
            frame = largest_first(frame, results.estimand.parameter)
            if terms.facet is not None and terms.groups:
                frame = frame.sort_values(terms.facet, kind="stable")
        order = order if frames else frame.index
        if options.top is not None:
            groups = frame.groupby(terms.facet, sort=False, observed=True) if terms.facet else frame
            frame = groups.head(options.top)
        frames.append(frame)
    return frames


def block_of(
    frame: pd.DataFrame,
    inference: TermInference,
    options: TableOptions,
    names: Sequence[str],
    *,
    heading: str,
    error: str = STD_ERR,
    tested: bool,
) -> pd.DataFrame:
    """Return estimate, standard error, limits, t and P as text, as far as there are.

    Parameters
    ----------
    frame : pandas.DataFrame
    inference : TermInference
    options : TableOptions
    names : sequence of str
        Of the rows.
    heading, error : str
        Of the estimates and their errors.
    tested : bool
        Whether there is a P.
    """
    errors = frame["std_error"].to_numpy(float)
    if error != STD_ERR:  # of logarithms
        errors = errors * np.fmin(frame["estimate"], 1)
    number = options.numbers(frame["estimate"], errors)
    variance = inference.variance
    alternative = inference.alternative
    # A square has no sign: the limit of a one-sided interval is one of the two-sided ones.
    two_sided = alternative == "two-sided" or variance.varies_as_square
    tail = options.alpha / 2 if two_sided else options.alpha
    columns: list[Column] = [(heading, "estimate", number)]
    if "corrected" in frame:
        columns.append(("corrected", "corrected", number))
    columns += [(error, "std_error", number), *limits(tail, alternative, number)]
    if tested and frame["statistic"].notna().any():
        columns.append((symbol(variance.df), "statistic", "%.3f"))
    if tested:
        p = "adj. P" if inference.note else variance.p_heading(alternative)
        columns.append((p, "p_value", "p"))
    return block(frame, columns, names)


def _stubs(terms: pd.Index, headings: set[str], notes: Sequence[Footnote]) -> list[str]:
    """Return names of rows, with the numbers of footnotes that warn of them."""
    stubs = []
    for term in map(str, terms):
        rows = {*product(headings, [term])}
        marks = [str(k) for k, note in enumerate(notes, 1) if rows & note.marks]
        # Raised, as brackets may be a part of a term's name.
        stubs.append(f"{term} {','.join(marks).translate(SUPERSCRIPTS)}" if marks else term)
    return stubs


def _columns(
    several: Sequence[EstimandResults],
    results: EstimandResults,
    terms: pd.Index,
    notes: Sequence[Footnote],
    options: TableOptions,
) -> pd.DataFrame:
    """Return columns of estimands as text, by terms of results that have one, or by their own."""
    # Groups have no R²_j, and no row of it.
    terms = terms[[any(pd.notna(one.params.get(term)) for one in several) for term in terms]]
    numbers: dict[str, pd.Series[float]] = {}
    formats: dict[str, str | list[str]] = {}
    for one in several:
        if not {*one.exog_names} <= {*results.exog_names}:
            terms = one.params.index
        words, frame = one.estimand.words, one.summary_frame(options.alpha).reindex(terms)
        for name, heading, _ in words.as_columns:
            p, column = name == "p_value", heading or words.label
            if not p and one is not results and words.label == results.estimand.words.label:
                continue  # the same limit stands above
            numbers[column] = frame[name]
            as_estimates = options.numbers(frame["estimate"], frame["std_error"])
            formats[column] = "p" if p else as_estimates if words.unit else "%.3f"
    labels = {one.estimand.words.label for one in several}
    columns = [(column, column, formats[column]) for column in numbers]
    return block(pd.DataFrame(numbers), columns, _stubs(terms, labels, notes))


def facts_of(results: EstimandResults, estimand: str) -> list[Fact]:
    """Return names and values of a table's header.

    Parameters
    ----------
    results : EstimandResults
    estimand : str
        What the table is of.
    """
    context, fit = results.context, results.fit
    dropped = f" ({context.dropped_rows} dropped)" if context.dropped_rows else ""
    refits = str(context.refits)
    if context.pairs:
        apart = context.refits != 2 * context.pairs
        pairs = f"{context.pairs} pairs"
        refits = f"{context.refits}, and {pairs}" if apart else pairs
    if context.failed_refits:
        refits += f" ({context.failed_refits} failed)"
    facts = [
        ("Dep. variable:", context.endog_name),
        ("Estimand:", estimand),
        ("Formula:", short(context.formula, LONGEST_FORMULA)),
        ("Learner:", context.specification or context.learner),
        ("Chosen:", context.choices),
        ("Groups, rows:", context.groups),
        ("Subgroup, rows:", context.subgroup),
        ("No. observations:", f"{context.nobs}{dropped}"),
        ("Weights:", context.weighting),
        ("Clusters:", context.clusters),
        ("Offset:", context.offset),
        ("Resampling:", context.plan),
        ("From a folder:", context.folder),
    ]
    if context.n_train > 0:
        sizes = f"{context.n_train:.0f} / {context.n_evaluation:.0f}"
        facts += [("No. refits:", refits), (f"Train / evaluation {context.unit}:", sizes)]
    if fit is not None:
        number = number_format(np.array([fit.loss]), np.array([fit.bse]))
        spread = f" (s.e. {number % fit.bse})" if fit.bse > 0 else ""
        facts += [
            (f"{fit.kind}:", fit.name),
            (f"{fit.kind}, {context.where}:", f"{number % fit.loss}{spread}"),
            (f"{fit.share_name}, {context.where}:", fit.share_text),
        ]
    facts += [
        ("Df:", f"{results.df_resid:g}" if results.use_t else ""),
        ("Cov. type:", results.variance.label),
        ("Intervals for:", "" if results.has_test else "other rows only"),
        ("Engine:", context.engine.name),
        ("Faster:", _faster(results)),
    ]
    # No seed where nothing was drawn: one model that was fitted elsewhere, and no draws of values.
    elsewhere = context.level == "model" and context.where == "evaluation rows"
    exact = bool(results.estimand.words.exact) and results.diagnostic is None
    if not (elsewhere and exact and not (results.mcse > 0).any()):
        facts.append(("Seed:", "none" if context.seed is None else str(context.seed)))
    version = dict(context.versions).get("pyinterp-stats", "")
    facts.append(("Software:", f"pyinterp {version}" if version else ""))
    return [(name, value) for name, value in facts if value]


def _faster(results: EstimandResults) -> str:
    """Return an option that makes ten times fewer predictions in batches; empty for none."""
    values = np.minimum(results.estimand.words.values, results.context.n_evaluation)
    share = values.sum() / max(np.minimum(values, PERMUTATIONS).sum(), 1)
    if share <= 10 or "batched" not in results.context.engine.name:
        return ""
    return f"`permutations={PERMUTATIONS}` makes 1/{share:.0f} of the predictions"
