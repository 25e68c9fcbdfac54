"""Ctrl-C while R computes: R is told to stop, and Python raises `KeyboardInterrupt` afterwards.

Python's own handler must not raise in the middle of a call: the stack then holds frames of R,
through which no exception of Python may pass.
"""

from __future__ import annotations

import os
import select
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
        self._handlers: list[Any] = []  # of the program, one per call of R under way
        self._noted = False
        self._former = -1  # where the program wants to be told of signals
        self._read = self._write = -1
        self._process = 0

    @contextmanager
    def pass_on(self) -> Iterator[None]:
        """While R computes, Ctrl-C stops it; raise `KeyboardInterrupt` at the end if it came."""
        handler = signal.getsignal(signal.SIGINT)
        main = threading.current_thread() is threading.main_thread()
        if not main or handler in (signal.SIG_IGN, None):
            yield
            return
        self._listen()
        signal.signal(signal.SIGINT, self._note)
        self._former = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._handlers.append(handler)
        try:
            yield
        finally:
            signal.set_wakeup_fd(self._former, warn_on_full_buffer=False)
            with self._guard:
                self._handlers.pop()
                self._drain()
                self._rlib.R_interrupts_pending = 0
            signal.signal(signal.SIGINT, handler)
            if self._noted:
                self._noted = False
                signal.raise_signal(signal.SIGINT)  # to the program's own handler
                raise KeyboardInterrupt  # which went on, but R has no value to return

    @contextmanager
    def python_again(self) -> Iterator[None]:
        """While R has called Python, Ctrl-C is what it is in the program."""
        if signal.getsignal(signal.SIGINT) != self._note:
            yield
            return
        self._stop_after_note()
        former = self._former
        try:
            signal.set_wakeup_fd(former, warn_on_full_buffer=False)
            signal.signal(signal.SIGINT, self._tell_program)
            yield
        except BaseException:
            self._noted = False  # what the handler raised is on its way
            raise
        finally:
            self._take_over()
            self._former = former
        self._stop_after_note()  # what the handler raised was lost, as it is in `__del__`

    def _stop_after_note(self) -> None:
        if self._noted:
            self._rlib.R_interrupts_pending = 0  # Python stops, and then R
            raise KeyboardInterrupt

    def _tell_program(self, number: int, frame: Any) -> None:
        handler = self._handlers[-1]
        self._noted = True
        if callable(handler):
            handler(number, frame)
        else:  # the operating system's own: the end of the program
            signal.signal(signal.SIGINT, handler)
            signal.raise_signal(signal.SIGINT)
        self._noted = False  # it lets the program go on

    def _take_over(self) -> None:
        try:
            signal.signal(signal.SIGINT, self._note)
        except BaseException:  # the program's handler had a signal to see first
            signal.signal(signal.SIGINT, self._note)
            raise
        finally:
            signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)

    def _note(self, *_: object) -> None:
        self._noted = True
        self._rlib.R_interrupts_pending = 1

    def _listen(self) -> None:
        if self._process == os.getpid():
            return
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._process = os.getpid()
        threading.Thread(target=self._watch, name="r_bridge interrupts", daemon=True).start()

    def _watch(self) -> None:
        read = self._read
        while True:
            select.select([read], [], [])
            with self._guard:  # or a signal of one call would stop the next
                if signal.SIGINT in self._drain() and self._handlers:
                    self._rlib.R_interrupts_pending = 1

    def _drain(self) -> bytes:
        """Take the signals from the pipe, and pass them on to whoever listened before."""
        try:
            received = os.read(self._read, 64)
            if self._former >= 0:
                os.write(self._former, received)
        except OSError:  # nothing there, or nobody who listens
            return b""
        return received
