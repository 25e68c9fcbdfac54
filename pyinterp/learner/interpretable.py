"""What can be asked of a fitted learner or model: one method per estimand."""

from __future__ import annotations

from typing import Unpack

from statsmodels.iolib.summary import Summary

from pyinterp.estimands.risk import RiskRelation, risk
from pyinterp.inference.options import Reading, takes
from pyinterp.learner.conditions import Conditions
from pyinterp.learner.effects import Effects
from pyinterp.learner.importances import Importances
from pyinterp.losses.rowwise import LossLike
from pyinterp.results.results import EstimandResults

__all__ = ["Interpretable"]


class Interpretable(Effects, Importances, Conditions):
    """Methods common to a fitted learner and a single fitted model: one per estimand."""

    @takes(Reading)
    def loss(
        self,
        loss: LossLike | None = None,
        *,
        relation: RiskRelation = "loss",
        **reading: Unpack[Reading],
    ) -> EstimandResults:
        """Expected loss on evaluation rows, or the share of it that the features explain.

        Parameters
        ----------
        loss : str, Loss or callable, optional
            As for `pfi`.
        relation : {"loss", "explained"}
            "explained" gives R² for squared loss and D² for others: one minus the ratio to the
            loss of the best constant prediction of the training rows (of the evaluation rows for a
            `FittedModel`, whose training rows are not known).
        **reading
            ``cov_type``, ``alternative``, ``p_adjust``: see `Reading`.

        Returns
        -------
        EstimandResults
            With one term.
        """
        estimand = risk(self._analysis.subject, loss=loss, relation=relation)
        return self._results(estimand, reading, loss)

    def summary(self, alpha: float = 0.05, *, sort: bool = True) -> Summary:
        """Return the summary of `pfi` with default options."""
        return self.pfi().summary(alpha, sort=sort)
