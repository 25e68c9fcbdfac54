"""Parallel work and the learners' own threads share the cores; they do not multiply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from joblib import cpu_count, effective_n_jobs
from threadpoolctl import threadpool_limits

__all__ = ["shared_cores", "workers"]

# What scikit-learn, XGBoost, LightGBM and CatBoost call their number of threads.
_NAMES = ("n_jobs", "nthread", "num_threads", "thread_count")


def workers(n_jobs: int | None) -> int:
    """Return the number of refits that are trained at a time."""
    return int(effective_n_jobs(n_jobs))


@contextmanager
def shared_cores(estimators: Sequence[Any], n: int) -> Iterator[None]:
    """Give each of `n` parallel workers its share of the cores, the estimators' threads included.

    Parameters
    ----------
    estimators : sequence
        Those that train or predict here; their settings are restored in the end, but for those of
        CatBoost, which fitted models do not change.
    n : int
        Number of workers; with one, estimators keep their numbers of threads.
    """
    if n == 1:
        yield
        return
    share = max(1, cpu_count() // n)
    with ExitStack() as restored:
        for estimator in estimators:
            settings = _threads_beyond(share, estimator)
            if settings:
                restored.callback(_restore, estimator, settings)
                estimator.set_params(**dict.fromkeys(settings, share))
        restored.enter_context(threadpool_limits(share))
        yield


def _threads_beyond(share: int, estimator: Any) -> dict[str, Any]:
    """Return an estimator's settings that allow it more threads than its share."""
    params = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    unset = [f"{name}__" for name, model in params.items() if _is_catboost(model)]
    if _is_catboost(estimator):
        unset.append("")
    # CatBoost lists only the parameters that were given.
    params = dict.fromkeys([f"{prefix}thread_count" for prefix in unset], -1) | params
    return {
        name: value
        for name, value in params.items()
        if name.split("__")[-1] in _NAMES and _more(value, share, _owner(estimator, name))
    }


def _restore(estimator: Any, settings: dict[str, Any]) -> None:
    settings = {n: v for n, v in settings.items() if not _is_fixed(_owner(estimator, n))}
    if settings:
        estimator.set_params(**settings)


def _is_catboost(model: Any) -> bool:
    return type(model).__module__.partition(".")[0] == "catboost"


def _is_fixed(owner: Any) -> bool:
    """Whether a model is fitted and then lets no parameter be changed."""
    return _is_catboost(owner) and bool(owner.is_fitted())


def _owner(estimator: Any, name: str) -> Any:
    """Return the estimator, maybe inside of others, whose parameter `name` is."""
    for step in name.split("__")[:-1]:
        estimator = estimator.get_params(deep=True).get(step, estimator)
    return estimator


def _more(threads: Any, share: int, owner: Any) -> bool:
    if _is_fixed(owner):
        return False
    if threads is None:  # one thread for scikit-learn, all cores for these
        return type(owner).__module__.partition(".")[0] == "lightgbm"
    return isinstance(threads, int) and not 0 < threads <= share
