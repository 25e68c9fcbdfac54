"""Pickles between processes and of folders, which leave classes of a script as they are.

cloudpickle overwrites the methods of a class that is there already, with the globals of then:
later changes of a global of the script would count in no method.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any

from joblib.externals.loky.cloudpickle_wrapper import dumps

__all__ = ["content_of", "dumps", "loads"]
_TRACKER = "_DYNAMIC_CLASS_TRACKER_BY_CLASS"  # of cloudpickle: classes that were sent or got


def loads(data: bytes) -> Any:
    """Return the content of a pickle; its classes that are here keep their methods."""
    before = {
        kind: dict(vars(kind)) for kind in getattr(sys.modules[dumps.__module__], _TRACKER, ())
    }
    try:
        return pickle.loads(data)  # noqa: S301 - the user's own folder, or a process of this call
    finally:
        for kind, state in before.items():
            for name in state.keys() - {"__dict__", "__weakref__"}:
                if vars(kind).get(name) is not state[name]:
                    setattr(kind, name, state[name])


def content_of(outcome: Any) -> Any:
    """Return what a job returned, which comes from another process as a pickle."""
    return loads(outcome) if isinstance(outcome, bytes) else outcome
