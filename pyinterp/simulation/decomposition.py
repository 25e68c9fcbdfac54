"""Bias, variance and mean squared error of a learner's PD and PFI over refits on fresh data.

A decomposition has a frame with Monte Carlo errors, and the plot of Figure 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice, check_count, check_jobs
from pyinterp.data.features import names_of
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.estimands.effects.grids import Grid
from pyinterp.learner.learner import Learner, LearnerResults
from pyinterp.losses.rowwise import LossLike
from pyinterp.models.predictor import learner_name
from pyinterp.parallel.progress import ProgressOption
from pyinterp.random import Seeds
from pyinterp.resampling import FreshDraws
from pyinterp.results.results import EstimandResults
from pyinterp.simulation.processes.process import Process, check_process, formula_and_estimator
from pyinterp.simulation.truth import Truth, dgp_pd, dgp_pfi
from pyinterp.storage import Savable

if TYPE_CHECKING:
    from plotnine import ggplot


EstimandName: TypeAlias = Literal["pd", "pfi"]
Ask: TypeAlias = Callable[[LearnerResults], EstimandResults]

COLORS = ["#999999", "#0072B2", "#009E73"]  # gray; blue and green of Okabe and Ito
CURVES = 50  # refits that a plot shows


@dataclass(frozen=True, kw_only=True, eq=False)
class Decomposition(Savable):
    """Bias, variance and mean squared error of a learner's PD or PFI; made by `decompose`.

    Attributes
    ----------
    process, learner : str
        Names.
    estimand : {"pd", "pfi"}
    description : str
        Its name in tables.
    n, evaluation : int
        Training and evaluation rows of every refit.
    seed : int
        The seed that repeats the results.
    layout : pandas.DataFrame, one row per term
        `feature` and, of PD, grid `value`.
    truth : Truth
        DGP-PD or DGP-PFI of every term, with Monte Carlo errors.
    estimates : ndarray of shape (repetitions, terms)
        Of every refit.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from pyinterp.simulation import decompose, molnar_linear
    >>> process, learner = molnar_linear(), LinearRegression()
    >>> decomposition = decompose(process, learner, "pd", "x1", points=3, repetitions=20, seed=1)
    >>> decomposition.frame["bias"].round(3).tolist()
    [0.106, -0.001, -0.1]
    """

    process: str
    learner: str
    estimand: EstimandName
    description: str
    n: int
    evaluation: int
    seed: int
    layout: pd.DataFrame
    truth: Truth[FloatArray]
    estimates: FloatArray

    def check_state(self) -> None:
        """Raise an error, of whatever kind, unless all parts are of the same terms."""
        len(self.frame)

    @property
    def repetitions(self) -> int:
        """Number of refits."""
        return len(self.estimates)

    @cached_property
    def frame(self) -> pd.DataFrame:
        r"""The decomposition, one row per term.

        Columns `feature` and `value`; `truth`, `mean` of the refits' estimates, `bias` (mean minus
        truth), `bias_squared`, `variance` of the estimates (divisor R, the number of refits, so
        that `mse` is exactly `bias_squared` + `variance`), `mse` (mean squared distance from the
        truth), each with a Monte Carlo standard error, such as `bias_mcse`.

        Notes
        -----
        `bias_squared` is the square of the estimated bias; its expectation is above the square of
        the bias by the square of `bias_mcse`, and `variance` is as much too small. Monte Carlo
        errors: :math:`s / \sqrt R` of the mean, for the bias plus the error of the truth;
        :math:`\sqrt{4 b^2 e^2 + 2 e^4}` of the square of a normal bias b with error e;
        :math:`\sqrt{(m_4 - m_2^2) / R}` of the variance, from the moments of the estimates; and
        the standard error of the mean squared distance, plus :math:`2 |b|` times the truth's.
        """
        truth, truth_mcse = self.truth
        r = self.repetitions
        mean = self.estimates.mean(axis=0)
        away = self.estimates - mean
        variance = np.square(away).mean(axis=0)
        bias, spread = mean - truth, np.sqrt(variance / (r - 1))
        error = np.hypot(spread, truth_mcse)
        fourth = (away**4).mean(axis=0)
        squares = np.square(self.estimates - truth)
        of_mse = np.hypot(squares.std(axis=0, ddof=1) / np.sqrt(r), 2 * np.abs(bias) * truth_mcse)
        return self.layout.assign(
            truth=truth,
            truth_mcse=truth_mcse,
            mean=mean,
            mean_mcse=spread,
            bias=bias,
            bias_mcse=error,
            bias_squared=bias**2,
            bias_squared_mcse=np.sqrt(4 * bias**2 * error**2 + 2 * error**4),
            variance=variance,
            variance_mcse=np.sqrt(np.clip(fourth - variance**2, 0, None) / r),
            mse=squares.mean(axis=0),
            mse_mcse=of_mse,
        )

    def plot(self, feature: str | None = None) -> ggplot:
        """Return a plotnine plot of the refits, their mean and the truth.

        PD: one curve per refit (at most 50), as in Figure 2 of Molnar et al. (2021). PFI: one row
        per feature.

        Parameters
        ----------
        feature : str, optional
            Of PD, the feature to show; needed if several were decomposed.

        Examples
        --------
        >>> plot = decomposition.plot("x1")
        >>> plot.save("decomposition.png", width=5, height=3, verbose=False)
        """
        from pyinterp.results.plots.style import finish  # noqa: PLC0415 - slow

        if self.estimand == "pfi":
            return finish(self._plot_importances())
        features = self.layout["feature"].unique().tolist()
        if feature is None and len(features) == 1:
            (feature,) = features
        if not isinstance(feature, str) or feature not in features:
            raise OptionError(
                f"`feature` must name one of the features decomposed, {list_of(features)}; got "
                f"{quote(feature)}."
            )
        return finish(self._plot_curves(feature))

    def _layers(self, terms: pd.Series[Any]) -> dict[str, pd.DataFrame]:
        """Return the estimates of refits, their means and the truths of some terms, by `term`."""
        shown = {
            "one refit": self.estimates[:CURVES],
            "mean": self.estimates.mean(axis=0)[None],
            f"DGP-{self.estimand.upper()}": self.truth.value[None],
        }
        return {
            what: pd.DataFrame(values[:, terms.index], columns=terms.infer_objects().to_numpy())
            .melt(var_name="term", value_name="estimate", ignore_index=False)
            .rename_axis("refit")
            .reset_index()
            .assign(what=what)
            for what, values in shown.items()
        }

    def _plot_curves(self, feature: str) -> ggplot:
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        layers = self._layers(self.layout["value"][self.layout["feature"] == feature])
        plot = p9.ggplot(mapping=p9.aes("term", "estimate", color="what", group="refit"))
        for data, size, alpha in zip(layers.values(), (0.4, 1.3, 1.1), (0.5, 1, 1), strict=True):
            plot += p9.geom_line(data=data, size=size, alpha=alpha)
        return (
            plot
            + p9.scale_color_manual(values=dict(zip(layers, COLORS, strict=True)))
            + p9.labs(x=feature, y="PD", color="", caption=self._caption())
        )

    def _plot_importances(self) -> ggplot:
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        layers = self._layers(self.layout["feature"])
        refits, mean, truth = layers.values()
        # Features on the horizontal axis while drawing, so that jitter is across them.
        return (
            p9.ggplot(mapping=p9.aes("term", "estimate", color="what", shape="what"))
            + p9.geom_hline(yintercept=0, color=COLORS[0], linetype="dashed")
            + p9.geom_jitter(data=refits, width=0.15, height=0, alpha=0.5, random_state=1)
            + p9.geom_point(data=truth, size=4.5)
            + p9.geom_point(data=mean, size=2.5)
            + p9.scale_x_discrete(limits=self.frame.sort_values("truth")["feature"].tolist())
            + p9.coord_flip()
            + p9.scale_color_manual(values=dict(zip(layers, COLORS, strict=True)))
            + p9.scale_shape_manual(values=dict(zip(layers, [".", "o", "D"], strict=True)))
            + p9.labs(x="", y=self.description, color="", shape="", caption=self._caption())
        )

    def _caption(self) -> str:
        return f"{self.learner}, {self.process}: {self.repetitions} refits of {self.n} rows."

    def __repr__(self) -> str:
        return f"<Decomposition of {self.description}: {self._caption()}>"


def decompose(
    process: Process,
    learner: Any,
    estimand: EstimandName = "pd",
    features: str | Sequence[str] | None = None,
    *,
    grid: Grid = "quantile",
    points: int = 20,
    loss: LossLike = "squared",
    n: int = 100,
    evaluation: int = 2000,
    repetitions: int = 200,
    truth_n: int = 1_000_000,
    seed: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: ProgressOption = True,
) -> Decomposition:
    r"""Bias-variance decomposition of the PD or the PFI of a learner.

    .. math:: E_F[(\theta_f - \theta_{\hat f})^2]
        = (\theta_f - E_F[\theta_{\hat f}])^2 + V_F[\theta_{\hat f}]

    where :math:`\theta_f` is the DGP-PD at a grid point, or the DGP-PFI of a feature, and F the
    distribution of the models that the learner makes of n rows (Molnar et al. 2021, section 5,
    Appendices A and B). Every refit is trained on fresh rows and evaluated on other fresh rows.

    Parameters
    ----------
    process : Process
    learner : estimator, or tuple of formula and estimator
        Alone, an estimator has the formula ``"y ~ ."``. Knots, means and levels of the formula
        are learned once, from a draw of n rows that is the same for all refits.
    estimand : {"pd", "pfi"}
    features : str or sequence of str, optional
        By default all of the formula.
    grid : {"quantile", "equidistant", "unique"}, array or mapping
        Of PD, as in ``pd()``: fixed from a draw of n rows, or as it is, by feature if it is a
        mapping. The grid is the same for all refits.
    points : int
        Grid points per feature.
    loss : str, Loss or callable
        Of PFI; "squared" of a process with classes is the Brier score.
    n : int
        Training rows of every refit.
    evaluation : int
        Evaluation rows of every refit. :math:`\theta_{\hat f}` is an expectation, of which that
        many rows give an estimate: its error counts as variance.
    repetitions : int
        Number of refits.
    truth_n : int
        Rows for a truth that has no closed form.
    seed : int, Generator or None
        The same int gives the same results, for any `n_jobs`.
    n_jobs : int, optional
        Jobs over refits, by joblib: ``joblib.parallel_config`` chooses the backend.
    progress : bool or "log"
        Show a progress bar, or write lines to a log, as ``Learner.fit`` does.

    Returns
    -------
    Decomposition
        With `frame` and ``plot()``.

    Raises
    ------
    OptionError
        If an option or a feature is unknown.
    FormulaError
        If the formula can't be read or names an unknown variable.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from pyinterp.simulation import decompose, molnar_linear
    >>> process, learner = molnar_linear(), LinearRegression()
    >>> decomposition = decompose(process, learner, "pfi", repetitions=20, seed=1)
    >>> decomposition.frame[["feature", "truth", "bias"]].round(3)
      feature  truth   bias
    0      x1  0.167 -0.043
    1      x2  0.167  0.001
    """
    check_process(process)
    check_choice("estimand", estimand, ("pd", "pfi"))
    check_jobs(n_jobs, progress)
    check_count("n", n, 2)
    check_count("evaluation", evaluation, 2)
    check_count("repetitions", repetitions, 2)
    check_count("points", points, 2)
    check_count("truth_n", truth_n, 2)
    if process.classes is not None and isinstance(loss, str) and loss == "squared":
        loss = "brier"
    seeds = Seeds.start(seed)
    formula, estimator = formula_and_estimator(learner)
    # The draw that fixes grids, knots, means and levels.
    model = Learner.from_formula(formula, process.draw(n, seeds.stream("splits")), estimator)
    names = list(dict.fromkeys(model.features if features is None else names_of(features)))
    if not names:
        raise OptionError("`features` must name at least one variable of the process.")
    for feature in names:
        process.check(feature)
    asks: list[Ask]
    if estimand == "pfi":
        asks = [partial(LearnerResults.pfi, features=names, loss=loss)]
    else:
        grids = grid if isinstance(grid, Mapping) else dict.fromkeys(names, grid)
        label = None if process.classes is None else process.classes[1]
        ask = partial(LearnerResults.pd, points=points, which_class=label)
        asks = [partial(ask, features=f, grid=grids.get(f, "quantile")) for f in names]
    rows = n + evaluation
    plan = FreshDraws(partial(process.draw, rows), refits=repetitions, fraction=n / rows)
    fitted = model.fit(plan, seed=seeds.entropy, n_jobs=n_jobs, progress=progress)
    results = [ask(fitted) for ask in asks]
    streams = {feature: seeds.stream("draws", name=feature) for feature in names}
    truths: list[Truth[Any]]
    if estimand == "pfi":
        layout = pd.DataFrame({"feature": names})
        truths = [dgp_pfi(process, f, loss, n=truth_n, seed=rng) for f, rng in streams.items()]
    else:
        values = {f: r.estimand.terms.layout["value"] for f, r in zip(names, results, strict=True)}
        layout = pd.concat([pd.DataFrame({"feature": f, "value": v}) for f, v in values.items()])
        truths = [
            dgp_pd(process, f, values[f].tolist(), n=truth_n, seed=rng)
            for f, rng in streams.items()
        ]
    return Decomposition(
        process=process.name,
        learner=learner_name(model.estimator),
        estimand=estimand,
        description=results[0].estimand.description if estimand == "pfi" else "PD",
        n=n,
        evaluation=evaluation,
        seed=seeds.entropy,
        layout=layout.reset_index(drop=True),
        truth=Truth(np.hstack([t.value for t in truths]), np.hstack([t.mcse for t in truths])),
        estimates=np.concatenate([result.refit_frame() for result in results], axis=1),
    )
