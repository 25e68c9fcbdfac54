"""Parallel work and the threads of learners share the cores; they do not multiply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from joblib import cpu_count
from threadpoolctl import threadpool_limits

from pyinterp.models.libraries import library_of

# What libraries call their number of threads.
_NAMES = ("n_jobs", "nthread", "num_threads", "thread_count")


@contextmanager
def shared_cores(estimators: Sequence[Any], n: int) -> Iterator[None]:
    """Give each of `n` parallel workers its share of the cores, the estimators' threads included.

    Parameters
    ----------
    estimators : sequence
        Those that train or predict here; their settings are restored in the end, but for those
        that fitted models do not change.
    n : int
        Number of workers; with one, estimators keep their numbers of threads.
    """
    if n == 1:
        yield
        return
    share = max(1, cpu_count() // n)
    with ExitStack() as restored:
        for estimator in estimators:
            former = {
                path: value
                for path, (value, threads) in _threads(estimator).items()
                if isinstance(threads, int) and not 0 < threads <= share
            }
            if former:
                restored.callback(_restore, estimator, former)
                estimator.set_params(**dict.fromkeys(former, share))
        restored.enter_context(threadpool_limits(share))
        yield


def _threads(estimator: Any) -> dict[str, tuple[Any, Any]]:
    """Return the numbers of threads, as set and as meant, that can be changed in an estimator."""
    if not hasattr(estimator, "get_params"):
        return {}
    settings = {}
    for path, part in {"": estimator, **estimator.get_params(deep=True)}.items():
        if isinstance(part, type) or not hasattr(part, "get_params"):
            continue
        library, params = library_of(part), part.get_params(deep=False)
        if library.defaults:  # they change nothing once fitted
            params = {} if part.is_fitted() else {**library.defaults, **params}
        for name in set(_NAMES).intersection(params):
            value = params[name]
            meant = library.threads if value is None else value
            settings[f"{path}__{name}".removeprefix("__")] = value, meant
    return settings


def _restore(estimator: Any, former: dict[str, Any]) -> None:
    """Set numbers of threads as they were, where the fitted estimator still has the setting."""
    kept = _threads(estimator).keys() & former.keys()
    if kept:
        estimator.set_params(**{path: former[path] for path in kept})
