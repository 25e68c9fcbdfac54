"""What features do to predictive uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from pyinterp.estimands.importance.permutation import Permutations, Replacement
from pyinterp.estimands.importance.relation import Relation
from pyinterp.estimands.positivity import positivity
from pyinterp.estimands.uncertainty.entropy import entropy_importance
from pyinterp.estimands.uncertainty.likelihood import likelihood_importance
from pyinterp.estimands.uncertainty.redundancy import redundancy
from pyinterp.learner.fitted_models import FittedModels, Inference
from pyinterp.learner.subgroups import ONE_GROUP
from pyinterp.parameters import takes
from pyinterp.results.results import EstimandResults
from pyinterp.results.together import ImportanceResults, UncertaintyResults
from pyinterp.samplers import SamplerLike

__all__ = ["Uncertainties"]


class Uncertainties(FittedModels):
    """Questions about predictive uncertainty (Wood et al. 2024)."""

    @takes()
    def likelihood_pfi(
        self,
        features: str | Sequence[str] | None = None,
        *,
        which_class: Any = None,
        permutations: Permutations = "auto",
        relation: Relation = "difference",
        sampler: Replacement = "marginal",
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""Likelihood permutation feature importance.

        .. math:: PFI_L(j) = E[-\log q(Y | \tilde X_j, X_{-j})] - E[-\log q(Y | X)]

        where q is the predictive distribution: class probabilities, or what a regressor states
        (Wood et al. 2024, eqs 5 and 6). For classes it is the PFI for log loss.

        Parameters
        ----------
        {features}
        which_class : label, optional
            A class that is told from all others together; by default all classes jointly.
        {permutations}
        relation : {"difference", "ratio"}
            How the expected losses are compared; "ratio" for classes and counts only.
        {sampler}
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In nats; one term per feature.

        Raises
        ------
        PredictionError
            If the learner predicts neither a distribution nor class probabilities.
        """
        estimand = likelihood_importance(
            self.analysis.problem,
            features,
            which_class=which_class,
            permutations=permutations,
            relation=relation,
            sampler=sampler,
        )
        return self.estimate(estimand, **inference)

    @takes()
    def entropy_pfi(
        self,
        features: str | Sequence[str] | None = None,
        *,
        which_class: Any = None,
        permutations: Permutations = "auto",
        relation: Relation = "difference",
        sampler: Replacement = "marginal",
        **inference: Unpack[Inference],
    ) -> EstimandResults:
        r"""Entropy permutation feature importance: how much a feature makes the model surer.

        .. math:: PFI_H(j) = E\{H[q(\cdot | \tilde X_j, X_{-j})]\} - E\{H[q(\cdot | X)]\}

        (Wood et al. 2024, section 3.2). No response is needed. It is 0 if the feature is
        independent of the others or unused, and above 0 if the model is surer where the feature
        agrees with the others.

        Parameters
        ----------
        {features}
        which_class : label, optional
            A class that is told from all others together; by default all classes jointly.
        {permutations}
        relation : {"difference", "ratio"}
            How the expected entropies are compared; "ratio" for classes and counts only.
        sampler : "marginal"
            There is no other: for draws given the other features it is 0 (Proposition 3).
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults
            In nats; one term per feature.

        Raises
        ------
        PredictionError
            If the learner predicts neither a distribution nor class probabilities.
        """
        estimand = entropy_importance(
            self.analysis.problem,
            features,
            which_class=which_class,
            permutations=permutations,
            relation=relation,
            sampler=sampler,
        )
        return self.estimate(estimand, **inference)

    @takes(refused={"by": ONE_GROUP})
    def redundancy(
        self,
        features: str | Sequence[str] | None = None,
        *,
        sampler: SamplerLike = "conditional",
        **inference: Unpack[Inference],
    ) -> ImportanceResults:
        """How well each feature is predicted from the others, without and with the response.

        R²_j out of sample, as in `positivity` and Figure 7 of Wood et al. (2024). A feature that
        the others do not predict, but the others and the response do, is informative and
        independent.

        Parameters
        ----------
        {features}
        {sampler}
        {rows}
        {inference}

        Returns
        -------
        ImportanceResults
            With "others" and "response"; one term per feature.
        """
        problem = self.analysis.problem
        estimands = {
            "others": positivity(problem, features, sampler=sampler),
            "response": redundancy(problem, features, sampler=sampler),
        }
        return ImportanceResults(
            {name: self.estimate(each, **inference) for name, each in estimands.items()}
        )

    @takes(refused={"by": ONE_GROUP, "alternative": "it decides by two-sided intervals"})
    def uncertainty(
        self,
        features: str | Sequence[str] | None = None,
        *,
        permutations: Permutations = "auto",
        sampler: SamplerLike = "conditional",
        alpha: float = 0.05,
        **inference: Unpack[Inference],
    ) -> UncertaintyResults:
        """Likelihood-PFI, entropy-PFI and R²_j of every feature, and what they say together.

        Parameters
        ----------
        {features}
        {permutations}
        sampler : str, Sampler or mapping
            What learns R²_j.
        alpha : float
            Level of the intervals by which features are told apart.
        {rows}
        {inference}

        Returns
        -------
        UncertaintyResults
            With `decisions`: "informative and independent" if the interval of likelihood-PFI is
            above 0 and that of entropy-PFI contains 0; "informative and shared" if that of
            entropy-PFI does not; "redundant" if only entropy-PFI differs from 0; "unused" if
            neither; "undecided" if an interval is missing, or if the feature is informative and the
            model equally sure whatever its value. The rule is one of intervals: `simultaneous`
            makes them wider, most kinds of `p_adjust` do not.
        """
        return UncertaintyResults(
            likelihood=self.likelihood_pfi(features, permutations=permutations, **inference),
            entropy=self.entropy_pfi(features, permutations=permutations, **inference),
            redundancy=self.estimate(
                positivity(self.analysis.problem, features, sampler=sampler), **inference
            ),
            alpha=alpha,
        )
