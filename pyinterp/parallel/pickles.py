"""Pickles between processes and of folders, which leave classes of a script as they are.

cloudpickle overwrites the methods of a class that is there already, with the globals of then:
later changes of a global of the script would count in no method.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any

from joblib.externals.loky.cloudpickle_wrapper import dumps

_TRACKER = "_DYNAMIC_CLASS_TRACKER_BY_CLASS"  # of cloudpickle: classes that were sent or got


def loads(data: bytes) -> Any:
    """Return the content of a pickle; its classes that are here keep their methods."""
    modules = map(sys.modules.get, ("cloudpickle.cloudpickle", dumps.__module__))
    classes = {kind for module in modules for kind in getattr(module, _TRACKER, ())}
    before = {kind: dict(vars(kind)) for kind in classes}
    try:
        return pickle.loads(data)  # noqa: S301 - the user's own folder, or a process of this call
    finally:
        for kind, state in before.items():
            for name in state.keys() - {"__dict__", "__weakref__"}:
                if vars(kind).get(name) is not state[name]:
                    setattr(kind, name, state[name])


class Pickle:
    """What a job in another process returns, as bytes that its caller loads."""

    def __init__(self, value: object) -> None:
        self.data: bytes = dumps(value)


def content(outcome: Any) -> Any:
    """Return what a job returned, here or in another process."""
    return loads(outcome.data) if isinstance(outcome, Pickle) else outcome
