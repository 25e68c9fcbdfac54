"""Models that stay in the process of a cluster that trained them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pyinterp._typing import Matrix
from pyinterp.models.predictor import Predictor
from pyinterp.parallel.cluster import Cluster, There


@dataclass(frozen=True, kw_only=True, repr=False)
class DistantModel:
    """A fitted estimator in a process of a cluster.

    Attributes
    ----------
    learner_name : str
    name : str
        What tables call its offset, if it has one.
    log_link : bool
        Whether it has an offset and a logarithmic link.
    """

    learner_name: str
    name: str = ""
    log_link: bool = False
    _cluster: Cluster
    refit: There

    def predict(self, matrix: Matrix) -> Any:
        """Return what its ``predict`` says of design rows: numbers, or labels of classes."""
        return self._ask(_predict, matrix)

    def call(self, matrix: Matrix) -> Any:
        """Return what its predictor asks it: numbers, or probabilities of classes."""
        return self._ask(_call, matrix)

    def fetch(self) -> Any:
        """Return the estimator itself, brought here."""
        return self._ask(_estimator)

    def _ask(self, function: Any, *arguments: Any) -> Any:
        (answer,) = self._cluster.bring(
            [self._cluster.start("answer", function, [self.refit], *arguments)]
        )
        return answer

    def __repr__(self) -> str:
        return f"<{self.learner_name} on a cluster; fetch() brings it here>"


def outline(owner: Any) -> Predictor | Exception:
    """Return the predictor of a refit without its model, or why there is none."""
    if isinstance(owner, Exception):
        return owner
    predictor: Predictor = owner.predictor
    model = predictor.estimator
    facts = {
        "learner_name": predictor.name,
        "name": str(getattr(model, "name", "")),
        "log_link": bool(getattr(model, "log_link", False)),
    }
    return replace(predictor, estimator=facts, _call=_estimator)  # `distant` sets another


def distant(predictor: Predictor, cluster: Cluster, owner: There) -> Predictor:
    """Return a predictor that asks a model on a cluster, by the outline of it."""
    model = DistantModel(**predictor.estimator, _cluster=cluster, refit=owner)
    return replace(predictor, estimator=model, _call=model.call)


def _predict(owner: Any, matrix: Matrix) -> Any:
    return owner.predictor.estimator.predict(matrix)


def _call(owner: Any, matrix: Matrix) -> Any:
    return owner.predictor._call(matrix)


def _estimator(owner: Any) -> Any:
    return owner.predictor.estimator
