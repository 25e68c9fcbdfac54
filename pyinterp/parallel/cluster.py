"""Work in the processes of a Dask cluster, whose results stay there until they are asked for."""

from __future__ import annotations

import pickle
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count
from typing import Any, TypeAlias
from uuid import uuid4

import cloudpickle
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config

from pyinterp.errors import OptionError, RefitError, reason
from pyinterp.parallel.progress import ProgressOption, with_progress

# A result in a process of the cluster, which distributed calls a future.
There: TypeAlias = Any
LARGEST = 2**40  # bytes of work without a warning that they are many


class Cluster:
    """The cluster that ``joblib.parallel_config("dask")`` has set.

    If a process is lost, others do its work again, with the same results.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        # One name for all of a cluster's tasks of a kind, so that they are spread evenly.
        self._name, self._count = f"pyinterp-{uuid4().hex}", count()

    @classmethod
    def active(cls, n_jobs: int | None) -> Cluster | None:
        """Return the cluster that is set; None without one, inside of one, or for one job."""
        client = getattr(get_active_backend()[0], "client", None)
        if client is None or n_jobs == 1 or _is_inside():
            return None
        effective_n_jobs(n_jobs)  # waits for the first process, or raises
        return cls(client)

    def share(self, value: object) -> There:
        """Send a value to the cluster once; its processes then get it from each other."""
        return self.start("data", _itself, (), value)

    def start(
        self, kind: str, function: Callable[..., Any], there: Sequence[There], *arguments: Any
    ) -> There:
        """Begin a kind of work: a function of results that are there, and of other arguments."""
        import dask  # noqa: PLC0415 - there only with a client

        if self.client.status != "running":
            raise RefitError(_no_models(f"its client is {self.client.status}"))
        # As bytes, so that the scheduler need not know the user's classes.
        try:
            work = cloudpickle.dumps((get_config(), function, arguments))
        except Exception as error:
            raise OptionError(
                "On a cluster learners and functions travel as pickles, but one can't be pickled "
                f"({reason(error)}): fit outside of the cluster, or let it be pickled."
            ) from error
        key = f"{self._name}-{kind}", next(self._count)
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGEST}):
            return self.client.submit(_do, work, *there, key=key, pure=False)

    @contextmanager
    def outcomes(
        self, results: Sequence[There], *, label: str, progress: ProgressOption
    ) -> Iterator[Iterable[Any]]:
        """Bring results here, in order; work that is not done when the context ends is canceled."""
        brought = (result.result() for result in results)
        try:
            if progress is False:
                yield brought
            else:
                shown = with_progress(brought, len(results), label, "fit", progress)
                with closing(shown) as counted:
                    yield counted
        finally:
            brought.close()
            if self.client.status == "running":
                self.client.cancel([each for each in results if not each.done()])

    @contextmanager
    def brought(
        self, results: Sequence[There], *, label: str = "", progress: ProgressOption = False
    ) -> Iterator[Iterable[Any]]:
        """Bring results here, as `outcomes` does.

        Raises
        ------
        RefitError
            If they are lost, as without the processes or the client that they need.
        """
        try:
            with self.outcomes(results, label=label, progress=progress) as here:
                yield here
        except (Exception, CancelledError) as error:
            lost = type(error).__module__.startswith("distributed")
            if lost or isinstance(error, CancelledError) or self.client.status != "running":
                raise RefitError(_no_models(reason(error))) from error
            raise

    def bring(self, results: Sequence[There]) -> list[Any]:
        """Return results here, in order."""
        with self.brought(results) as here:
            return list(here)


def _no_models(why: str) -> str:
    return (
        f"The cluster that keeps the models is lost ({why}): ask while its client is connected, or "
        "fit again with `checkpoint=`, whose models come here, or with `keep_models=False` and "
        "`measure=`."
    )


def _itself(value: object) -> object:
    return value


def _do(work: bytes, *there: Any) -> Any:
    """Return the result of a function under the caller's configuration of scikit-learn."""
    config, function, arguments = pickle.loads(work)  # noqa: S301 - of the user's session
    with config_context(**config):
        return function(*there, *arguments)


def _is_inside() -> bool:
    """Whether this is a process of a cluster at work."""
    from distributed import get_worker  # noqa: PLC0415 - there only with a client

    try:
        get_worker()
    except ValueError:
        return False
    return True
