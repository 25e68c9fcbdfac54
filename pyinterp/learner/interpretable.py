"""All methods of a fitted learner or model: one per estimand."""

from __future__ import annotations

from statsmodels.iolib.summary import Summary

from pyinterp.estimands.risk import RiskRelation, risk
from pyinterp.inference import Alternative, CovType
from pyinterp.learner.conditions import Conditions
from pyinterp.learner.effects import Effects
from pyinterp.learner.importances import Importances
from pyinterp.learner.local_effects import LocalEffects
from pyinterp.learner.uncertainties import Uncertainties
from pyinterp.losses.rowwise import LossLike
from pyinterp.parameters import takes
from pyinterp.results.results import EstimandResults

__all__ = ["Interpretable"]


class Interpretable(Effects, LocalEffects, Importances, Conditions, Uncertainties):
    """Methods common to a fitted learner and a single fitted model: one per estimand."""

    @takes()
    def loss(
        self,
        loss: LossLike | None = None,
        *,
        relation: RiskRelation = "loss",
        cov_type: CovType | None = None,
        alternative: Alternative = "two-sided",
        p_adjust: str | None = None,
        simultaneous: bool = False,
    ) -> EstimandResults:
        """Expected loss on evaluation rows, or the share of it that the features explain.

        Parameters
        ----------
        {loss}
        relation : {"loss", "explained"}
            "explained" gives R² for squared loss and D² for others: one minus the ratio to the
            loss of the best constant prediction of the training rows (of the evaluation rows for a
            `FittedModel`, whose training rows are not known).
        {inference}

        Returns
        -------
        EstimandResults
            With one term.
        """
        estimand = risk(self.analysis.problem, loss=loss, relation=relation)
        return self.estimate(
            estimand,
            cov_type=cov_type,
            alternative=alternative,
            p_adjust=p_adjust,
            simultaneous=simultaneous,
        )

    def summary(self, alpha: float = 0.05, *, sort: bool = True) -> Summary:
        """Return the summary of `pfi` with default options."""
        return self.pfi().summary(alpha, sort=sort)
