"""Jobs in parallel: the one place where work is started, shown and, if a call ends early, stopped.

A call ends early by Ctrl-C or by an error. Processes are then killed by joblib. Threads can't be:
a job that runs in one is told to stop and does so where it asks, by `stop_if_over`.
"""

from __future__ import annotations

import platform
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from operator import attrgetter
from typing import Any, TypeVar

import joblib
import numpy as np
import sklearn
from joblib import Parallel, delayed, parallel_config
from sklearn import config_context, get_config

from pyinterp.errors import OptionError
from pyinterp.parallel.pickles import content_of, dumps
from pyinterp.parallel.progress import ProgressOption, with_progress

T = TypeVar("T")

# Seconds that an interrupted call waits for threads: control should be back within five.
PATIENCE = 2.0
# Seconds between two looks at threads, as in joblib.
TICK = 0.01


class EndOfCall(BaseException):
    """The call that a job works for has ended; no learner's ``except Exception`` catches it."""


@contextmanager
def outcomes(
    jobs: Iterable[Callable[[], T]],
    total: int,
    *,
    n_jobs: int | None,
    label: str,
    progress: ProgressOption,
    unit: str = "fit",
    in_memory: bool = False,
    ordered: bool = True,
) -> Iterator[Iterable[T]]:
    """Do jobs under the joblib backend that is set; the context yields their outcomes.

    When the context ends, by an exception or not, no job is under way, and the next call may
    begin: a job in a thread that does not stop in time is waited for by that call.

    Parameters
    ----------
    jobs : iterable of callable
        Pickled for processes. They are drawn ahead of the work, in threads of joblib too.
    total : int
        Number of jobs, for the progress bar.
    n_jobs : int or None
        With one, jobs are done in the calling thread.
    label : str
        Of the progress bar.
    progress : bool or "log"
        Whether to show the progress bar, or to write lines to a log.
    unit : str
        What the progress bar counts.
    in_memory : bool
        Whether jobs need this process's memory: threads, whatever the backend.
    ordered : bool
        Whether outcomes come in the order of the jobs, not as they are done.
    """
    # Jobs of calls that are over: not every model can predict in two threads at once.
    while any(map(attrgetter("is_over"), _jobs.copy().values())):
        stop_if_over()  # or a job would wait for itself
        time.sleep(TICK)
    call = _Call()
    parallel = Parallel(
        n_jobs=n_jobs,
        require="sharedmem" if in_memory else None,
        return_as="generator" if ordered else "generator_unordered",
    )
    results = None
    try:
        results = parallel(map(delayed(call.do), jobs))
        here = in_memory or joblib.effective_n_jobs(n_jobs) == 1
        loaded = results if here else map(content_of, results)
        if progress is False:
            yield loaded
        else:
            with closing(with_progress(loaded, total, label, unit, progress)) as counted:
                yield counted
    finally:
        # Stop the jobs, and wait a while for the ones under way.
        call.has_ended = True
        if results is not None:
            with suppress(EndOfCall):
                results.throw(EndOfCall)  # joblib cancels, as for any error; `close` would warn
        until = time.monotonic() + PATIENCE
        while call in _jobs.copy().values() and time.monotonic() < until:
            time.sleep(TICK)


def stop_if_over() -> None:
    """Raise `EndOfCall` in a job whose call has ended; called before work that takes long."""
    call = _jobs.get(threading.get_ident())
    if call is not None and call.is_over:
        raise EndOfCall


def versions() -> dict[str, str]:
    """Return the versions that numbers rest on, of this process."""
    modules = (sys.modules["pyinterp"], joblib, np, sklearn)
    found = {module.__name__: str(module.__version__) for module in modules}
    return {"Python": platform.python_version(), **found}


class _Call:
    """A call of `outcomes`, which its jobs in other threads ask whether to go on.

    What other processes get is a copy without a call: they are killed instead. Jobs run under the
    configuration of scikit-learn that the caller has, in other threads and processes too. On a
    Dask cluster they would spread over it again, and forests add their trees up in any order.
    """

    def __init__(
        self, config: dict[str, Any] | None = None, versions: dict[str, str] | None = None
    ) -> None:
        self._versions = versions or {}
        self._config = get_config() if config is None else config
        self._inside = {} if config is None else {"backend": "threading", "n_jobs": 1}
        self._caller = threading.get_ident()
        self._outer = _jobs.get(self._caller)
        self.has_ended = False

    def __reduce__(self) -> tuple[type[_Call], tuple[dict[str, Any], dict[str, str]]]:
        return _Call, (self._config, versions())

    @property
    def is_over(self) -> bool:
        """Whether the call, or one that it is a part of, has ended."""
        return self.has_ended or (self._outer is not None and self._outer.is_over)

    def do(self, job: Callable[[], T]) -> T | bytes:
        """Do a job; in another thread than the caller's `stop_if_over` ends it with its call."""
        thread = threading.get_ident()
        if thread == self._caller and not self._inside:  # which Ctrl-C stops by itself
            return job()
        wanted, here = self._versions, versions() if self._versions else {}
        if others := {name: here[name] for name in here if here[name] != wanted.get(name)}:
            raise OptionError(
                f"Every process must have the caller's versions, {wanted}, but one has {others}: "
                "install the same ones."
            )
        with config_context(**self._config), parallel_config(**self._inside):
            _jobs[thread] = self
            try:
                stop_if_over()
                done = job()
            finally:
                del _jobs[thread]
            return dumps(done) if wanted else done


# The calls that other threads than the callers' do jobs for, by thread.
_jobs: dict[int, _Call] = {}
