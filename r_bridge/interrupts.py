"""Ctrl-C while R computes: R is told to stop, and Python raises `KeyboardInterrupt` afterwards.

Python's own handler must not raise in the middle of a call: the stack then holds frames of R,
through which no exception of Python may pass.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Interrupts"]


class Interrupts:
    """Passes Ctrl-C on to R.

    Python's handlers wait until R returns, which may be long: the operating system's signal
    therefore also goes through a pipe to a thread, which sets R's own flag at once.

    Parameters
    ----------
    rlib : object
        R's library.
    """

    def __init__(self, rlib: Any) -> None:
        self._rlib = rlib
        self._guard = threading.Lock()
        self._handlers: list[Any] = []
        self._noted = False
        self._former: int = -1
        self._write = -1
        self._process = 0

    @contextmanager
    def passed_on(self) -> Iterator[None]:
        """While R computes, Ctrl-C stops it; raise `KeyboardInterrupt` at the end if it came."""
        former = signal.getsignal(signal.SIGINT)
        main = threading.current_thread() is threading.main_thread()
        if not main or former in (signal.SIG_IGN, None):
            yield
            return
        self._listen()
        signal.signal(signal.SIGINT, self._note)
        watched = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        with self._guard:
            self._handlers.append(former)
            if watched != self._write:
                self._former = watched
        try:
            yield
        finally:
            with self._guard:
                self._handlers.pop()
                self._rlib.R_interrupts_pending = 0
            signal.set_wakeup_fd(watched, warn_on_full_buffer=False)
            signal.signal(signal.SIGINT, former)
            if self._noted:
                self._noted = False
                signal.raise_signal(signal.SIGINT)  # to the program's own handler
                raise KeyboardInterrupt  # which went on, but R has no value to return

    @contextmanager
    def python_again(self) -> Iterator[None]:
        """While R has called Python, Ctrl-C is what it is in the program."""
        mine = signal.getsignal(signal.SIGINT)
        if mine != self._note:
            yield
            return
        signal.signal(signal.SIGINT, self._handlers[-1])
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, mine)

    def _note(self, *_: object) -> None:
        self._noted = True
        self._rlib.R_interrupts_pending = 1

    def _listen(self) -> None:
        if self._process == os.getpid():
            return
        read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._process = os.getpid()
        threading.Thread(
            target=self._watch, args=(read,), name="r_bridge interrupts", daemon=True
        ).start()

    def _watch(self, read: int) -> None:
        while received := os.read(read, 64):
            with self._guard:
                if self._handlers and signal.SIGINT in received:
                    self._rlib.R_interrupts_pending = 1
            if self._former >= 0:  # asyncio's: it wants to know too
                _pass_on(self._former, received)


def _pass_on(descriptor: int, received: bytes) -> None:
    """Pass signals on to whoever listened before; a full or closed pipe is no concern of R."""
    try:
        os.write(descriptor, received)
    except OSError:
        return
