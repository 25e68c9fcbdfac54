"""Results of a bias-variance decomposition: a frame with Monte Carlo errors, and Figure 2."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.simulation.truth import Truth

if TYPE_CHECKING:
    from plotnine import ggplot

__all__ = ["PARTS", "Decomposition", "EstimandName", "RefitEstimates"]

EstimandName: TypeAlias = Literal["pd", "pfi"]

BLUE, GREEN, GRAY = "#0072B2", "#009E73", "#999999"  # Okabe and Ito
PARTS = 10  # of the first refit's evaluation rows, for the left panel of Figure 2
CURVES = 50  # refits that a plot shows


class RefitEstimates(NamedTuple):
    """Estimates of refits, and the variance of each over evaluation rows, given the model.

    Both have shape (refits, terms).
    """

    estimates: FloatArray
    monte_carlo: FloatArray


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
        return str(feature)

    def _curves(self, feature: str) -> ggplot:
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        from pyinterp.results.plots import room as rooms  # noqa: PLC0415 - imports plotnine

        which = (self.layout["feature"] == feature).to_numpy()
        values = self.layout["value"][which].infer_objects().to_numpy()
        left = f"One model, each curve from {self.evaluation // PARTS} other rows"
        right = f"One model per curve, each trained on {self.n} other rows"
        panels = [
            (left, "one curve", _spread(self.parts[:, which])),
            (left, "mean", self.estimates[:1, which]),
            (right, "one curve", _spread(self.estimates[:, which])),
            (right, "mean", self.estimates[:, which].mean(axis=0)[None]),
            (left, "DGP-PD", self.truth.value[which][None]),
            (right, "DGP-PD", self.truth.value[which][None]),
        ]
        long = pd.concat(
            [_long(values, curves).assign(panel=panel, what=what) for panel, what, curves in panels]
        )
        long = long.assign(
            panel=pd.Categorical(long["panel"], categories=[left, right]),
            what=pd.Categorical(long["what"], categories=list(_COLORS)),
            group=long["what"] + long["curve"].astype(str),
        )
        plot = p9.ggplot(long, p9.aes("value", "pd", color="what", group="group"))
        for what, style in _LINES.items():
            plot += p9.geom_line(p9.aes(linetype="what"), data=long[long["what"] == what], **style)
        return (
            plot
            + rooms.panels_of("panel", rooms.Room(panels=2, legend=rooms.legend_width(_COLORS)))
            + p9.scale_color_manual(values=_COLORS)
            + p9.scale_linetype_manual(values=_TYPES)
            + p9.labs(x=feature, y="PD", color="", linetype="", caption=self._caption())
        )

    def _importances(self) -> ggplot:
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        frame = self.frame.sort_values("truth")
        order = frame["feature"].tolist()
        layers = {
            "one refit": _spread(self.estimates),
            "mean": self.estimates.mean(axis=0)[None],
            "DGP-PFI": self.truth.value[None],
        }
        long = pd.concat(
            [
                pd.DataFrame(
                    {"feature": np.tile(self.layout["feature"], len(v)), "pfi": v.ravel()}
                ).assign(what=what)
                for what, v in layers.items()
            ]
        )
        long = long.assign(
            feature=pd.Categorical(long["feature"], categories=order),
            what=pd.Categorical(long["what"], categories=list(layers)),
        )
        # Features on the horizontal axis while drawing, so that jitter is across them.
        plot = p9.ggplot(long, p9.aes("feature", "pfi", color="what", shape="what"))
        plot += p9.geom_hline(yintercept=0, color=GRAY, linetype="dashed")
        plot += p9.geom_jitter(
            data=long[long["what"] == "one refit"], width=0.15, height=0, alpha=0.5, random_state=1
        )
        for what, size in (("DGP-PFI", 4.5), ("mean", 2.5)):
            plot += p9.geom_point(data=long[long["what"] == what], size=size)
        return (
            plot
            + p9.coord_flip()
            + p9.scale_color_manual(values=dict(zip(layers, (GRAY, BLUE, GREEN), strict=True)))
            + p9.scale_shape_manual(values=dict(zip(layers, (".", "o", "D"), strict=True)))
            + p9.labs(x="", y=self.description, color="", shape="", caption=self._caption())
        )

    def _caption(self) -> str:
        return f"{self.learner}, {self.process}: {self.repetitions} refits of {self.n} rows."

    def __repr__(self) -> str:
        return f"<Decomposition of {self.description}: {self._caption()}>"


_COLORS = {"one curve": GRAY, "mean": BLUE, "DGP-PD": GREEN}
_TYPES = {"one curve": "solid", "mean": "solid", "DGP-PD": "dashed"}
_LINES: dict[str, dict[str, float]] = {
    "one curve": {"size": 0.4, "alpha": 0.5},
    "mean": {"size": 1.3},
    "DGP-PD": {"size": 1.1},
}


def _spread(curves: FloatArray) -> FloatArray:
    return curves[:CURVES]


def _long(values: FloatArray, curves: FloatArray) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "value": np.tile(values, len(curves)),
            "pd": curves.ravel(),
            "curve": np.repeat(np.arange(len(curves)), len(values)),
        }
    )
