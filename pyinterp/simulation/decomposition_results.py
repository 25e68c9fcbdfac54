"""Results of a bias-variance decomposition: a frame with Monte Carlo errors, and Figure 2."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.simulation.truth import Truth

if TYPE_CHECKING:
    from plotnine import ggplot

__all__ = ["PARTS", "Decomposition", "EstimandName"]

EstimandName: TypeAlias = Literal["pd", "pfi"]

COLORS = ["#999999", "#0072B2", "#009E73"]  # gray; blue and green of Okabe and Ito
PARTS = 10  # of the first refit's evaluation rows, for the left panel of Figure 2
CURVES = 50  # refits that a plot shows


@dataclass(frozen=True, kw_only=True, eq=False)
class Decomposition:
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
    monte_carlo : ndarray of shape (repetitions, terms)
        Variance of each over evaluation rows, given the model.
    parts : ndarray of shape (10, terms)
        PD of the first refit on ten disjoint parts of its evaluation rows: one model, other
        data. No rows for PFI.
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
    monte_carlo: FloatArray
    parts: FloatArray

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
        truth), each with a Monte Carlo standard error, such as `bias_mcse`; and `monte_carlo`, the
        part of `variance` that comes from evaluating every model on finitely many rows (nearly 0
        if `evaluation` is large).

        Notes
        -----
        `bias_squared` is the square of the estimated bias; its expectation is above the square of
        the bias by the square of `bias_mcse`, and `variance` is as much too small. Monte Carlo
        errors: :math:`s / \sqrt R` of the mean, plus that of the truth for the bias;
        :math:`\sqrt{4 b^2 e^2 + 2 e^4}` of the square of a normal bias b with error e;
        :math:`\sqrt{(m_4 - m_2^2) / R}` of the variance, from the moments of the estimates; and
        the standard error of the mean squared distance, plus :math:`2 |b|` times that of the truth.
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
            monte_carlo=self.monte_carlo.mean(axis=0),
        )

    def plot(self, feature: str | None = None) -> ggplot:
        """Return a plotnine plot of the refits, their mean and the truth.

        PD: two panels as in Figure 2 of Molnar et al. (2021), one model on parts of its evaluation
        rows, and one curve per refit (at most 50). PFI: one row per feature.

        Parameters
        ----------
        feature : str, optional
            Of PD, the feature to show; needed if several were decomposed.
        """
        return self._importances() if self.estimand == "pfi" else self._curves(self._one(feature))

    def _one(self, feature: str | None) -> str:
        """Return the feature to plot: the only one, or the one that is named."""
        features = list(dict.fromkeys(self.layout["feature"]))
        if feature is None and len(features) == 1:
            return str(features[0])
        if not isinstance(feature, str) or feature not in features:
            raise OptionError(
                f"`feature` must name one of the features decomposed, {list_of(features)}; got "
                f"{quote(feature)}."
            )
        return feature

    def _curves(self, feature: str) -> ggplot:
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        which = (self.layout["feature"] == feature).to_numpy()
        values = self.layout["value"][which].infer_objects().to_numpy()
        left = f"One model,\neach curve from {self.evaluation // PARTS} other rows"
        right = f"One model per curve,\neach trained on {self.n} other rows"
        mean, truth = self.estimates.mean(axis=0), self.truth.value
        panels = {
            "one curve": {left: self.parts, right: self.estimates[:CURVES]},
            "mean": {left: self.estimates[:1], right: mean[None]},
            "DGP-PD": {left: truth[None], right: truth[None]},
        }
        frames = [
            pd.DataFrame(each[:, which], columns=values)
            .melt(var_name="value", value_name="pd", ignore_index=False)
            .assign(panel=panel, what=what)
            for what, curves in panels.items()
            for panel, each in curves.items()
        ]
        long = pd.concat(frames).rename_axis("curve").reset_index()
        long["panel"] = pd.Categorical(long["panel"], categories=[left, right])
        line = p9.aes("value", "pd", color="what", linetype="what", group="curve")
        plot = p9.ggplot(long, line)
        for what, size, alpha in zip(panels, (0.4, 1.3, 1.1), (0.5, 1, 1), strict=True):
            plot += p9.geom_line(data=long[long["what"] == what], size=size, alpha=alpha)
        return (
            plot
            + p9.facet_wrap("panel")
            + p9.theme(panel_spacing_x=0.05)  # labels of neighboring axes would meet
            + p9.scale_color_manual(values=dict(zip(panels, COLORS, strict=True)))
            + p9.scale_linetype_manual(
                values=dict(zip(panels, ["solid", "solid", "dashed"], strict=True))
            )
            + p9.labs(x=feature, y="PD", color="", linetype="", caption=self._caption())
        )

    def _importances(self) -> ggplot:
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        layers = {
            "one refit": self.estimates[:CURVES],
            "mean": self.estimates.mean(axis=0)[None],
            "DGP-PFI": self.truth.value[None],
        }
        order = self.frame.sort_values("truth")["feature"].tolist()
        frames = {}
        for what, each in layers.items():
            long = pd.DataFrame(each, columns=self.layout["feature"]).melt(value_name="pfi")
            feature = pd.Categorical(long["feature"], categories=order)
            frames[what] = long.assign(feature=feature, what=what)
        # Features on the horizontal axis while drawing, so that jitter is across them.
        return (
            p9.ggplot(mapping=p9.aes("feature", "pfi", color="what", shape="what"))
            + p9.geom_hline(yintercept=0, color=COLORS[0], linetype="dashed")
            + p9.geom_jitter(
                data=frames["one refit"], width=0.15, height=0, alpha=0.5, random_state=1
            )
            + p9.geom_point(data=frames["DGP-PFI"], size=4.5)
            + p9.geom_point(data=frames["mean"], size=2.5)
            + p9.coord_flip()
            + p9.scale_color_manual(values=dict(zip(layers, COLORS, strict=True)))
            + p9.scale_shape_manual(values=dict(zip(layers, [".", "o", "D"], strict=True)))
            + p9.labs(x="", y=self.description, color="", shape="", caption=self._caption())
        )

    def _caption(self) -> str:
        return f"{self.learner}, {self.process}: {self.repetitions} refits of {self.n} rows."

    def __repr__(self) -> str:
        return f"<Decomposition of {self.description}: {self._caption()}>"
