"""Jobs in parallel: the one place where work is started, shown and, if a call ends early, stopped.

A call ends early by Ctrl-C or by an error. Processes are then killed by joblib. Threads can't be:
a job that runs in one is told to stop and does so where it asks, by `go_on`.
"""

from __future__ import annotations

import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from joblib import Parallel, delayed

from pyinterp.parallel.progress import ProgressOption, count_jobs
from pyinterp.parallel.threads import workers

__all__ = ["EndOfCall", "go_on", "outcomes"]

T = TypeVar("T")

# Seconds that an interrupted call waits for threads: control should be back within five.
PATIENCE = 2.0


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

    When the context is left, by an exception or not, no job is under way, and the next call may
    begin: a job in a thread that does not stop in time is waited for by that call.

    Parameters
    ----------
    jobs : iterable of callable
        Pickled for processes. The calling thread draws them, some ahead of the work.
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
    _await_abandoned_jobs()
    stop = _Stop()
    parallel = Parallel(
        n_jobs=n_jobs,
        require="sharedmem" if in_memory else None,
        return_as="generator" if ordered else "generator_unordered",
    )
    with ExitStack() as ends:
        with _workers_without_sigint(processes=not in_memory and workers(n_jobs) > 1):
            results = parallel(delayed(stop.run)(job) for job in jobs)
            ends.callback(_close, results)
        ends.callback(stop.end)
        advance = ends.enter_context(count_jobs(total, label, unit, progress))
        yield _with_count(results, advance)


def go_on() -> None:
    """Raise `EndOfCall` in a job whose call has ended; called before work that takes long."""
    if any(stop.is_set for stop in _calls.stops):
        raise EndOfCall


class _Stop:
    """Tells the jobs of one call to stop, and knows how many other threads do some.

    What other processes get is a copy without a call: they are killed instead.
    """

    def __init__(self) -> None:
        self._outer = _calls.stops
        self._caller = threading.get_ident()
        self._is_set = False
        self._running = 0
        self._changed = threading.Condition()

    def __reduce__(self) -> tuple[type[_Stop], tuple[()]]:
        return _Stop, ()

    @property
    def is_set(self) -> bool:
        return self._is_set or any(stop.is_set for stop in self._outer)

    def run(self, job: Callable[[], T]) -> T:
        """Do a job."""
        if threading.get_ident() == self._caller:  # which Ctrl-C stops by itself
            return job()
        former, _calls.stops = _calls.stops, (self,)
        self._count(1)
        try:
            go_on()
            return job()
        finally:
            self._count(-1)
            _calls.stops = former

    def end(self) -> None:
        """Stop the jobs and wait for those under way."""
        self._is_set = True
        _abandoned_jobs.append(self)  # until it is sure: Ctrl-C may come again
        if self.wait(PATIENCE):
            _abandoned_jobs.remove(self)

    def wait(self, seconds: float) -> bool:
        """Return whether no job is under way, after so many seconds at most."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, seconds)

    def _count(self, change: int) -> None:
        with self._changed:
            self._running += change
            self._changed.notify_all()


class _Calls(threading.local):
    """The calls for which this thread does jobs."""

    stops: tuple[_Stop, ...] = ()


_calls = _Calls()
_abandoned_jobs: list[_Stop] = []


def _await_abandoned_jobs() -> None:
    """Wait for jobs of earlier calls: not every model can predict in two threads at once."""
    for stop in tuple(_abandoned_jobs):
        while not stop.wait(0.1):
            go_on()  # or a job would wait for itself
        if stop in _abandoned_jobs:
            _abandoned_jobs.remove(stop)


@contextmanager
def _workers_without_sigint(*, processes: bool) -> Iterator[None]:
    """Start processes that ignore Ctrl-C in a terminal: joblib kills them.

    They would print tracebacks otherwise, those that are still importing above all.
    """
    if not processes or sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # or Python unblocks the signal when it starts that process
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _with_count(results: Iterable[T], advance: Callable[[], object]) -> Iterator[T]:
    """Yield outcomes and count them; tqdm's own loop would close `results`, with a warning."""
    for outcome in results:
        yield outcome
        advance()


def _close(results: Generator[Any, None, None]) -> None:
    """Cancel the remaining jobs, without the warning of joblib."""
    with warnings.catch_warnings(), _manager_may_fail():
        warnings.simplefilter("ignore", UserWarning)
        results.close()


@contextmanager
def _manager_may_fail() -> Iterator[None]:
    """Print no traceback of joblib's manager of processes, which may look for a job just canceled.

    Canceling waits for the end of that thread.
    """
    former = threading.excepthook

    def hook(error: threading.ExceptHookArgs) -> None:
        if error.thread is None or error.thread.name != "ExecutorManagerThread":
            former(error)

    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = former
