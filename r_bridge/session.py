"""The one session of R: every call goes through here, under one lock, in one thread."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pyinterp.errors import level_of_caller
from r_bridge.conversion import from_r, text_from_r, texts_to_r, to_r
from r_bridge.errors import RCallError, RThreadError, RWarning
from r_bridge.start import R, holding_ctrl_c, start_r

__all__ = ["SESSION", "Session"]


class Session:
    """R, started on first use, in the thread that asks first."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._running: R | None = None
        self._thread = 0
        self._thread_name = ""
        self._failures: list[list[BaseException]] = []

    @property
    def r(self) -> R:
        """rpy2's interface; R is started if need be.

        Raises
        ------
        RMissingError
            If rpy2 or R is absent.
        RThreadError
            If R runs in another thread.
        """
        return self._ready()

    def call(
        self,
        function: str,
        *positional: Any,
        seed: int | None = None,
        console: list[str] | None = None,
        **named: Any,
    ) -> Any:
        """Call a function of R, and return its value as R has it.

        Parameters
        ----------
        function : str
            A function's name, as in ``"stats::lm"``, or an expression that gives one. It is code:
            names and values of data are arguments.
        *positional, **named
            Arguments, converted to R.
        seed : int, optional
            R's seed for this call; R's own random numbers then stay as they were.
        console : list of str, optional
            Takes what R prints; by default that goes to `sys.stdout` and `sys.stderr`.

        Raises
        ------
        RCallError
            If R stops with an error.
        KeyboardInterrupt
            If Ctrl-C is pressed, after R has returned.
        BaseException
            What a Python function raised that R has called, as it was raised.
        """
        return self.call_with(
            function, [*((("", v)) for v in positional), *named.items()], seed=seed, console=console
        )

    def call_with(
        self,
        function: str,
        arguments: Sequence[tuple[str, Any]],
        *,
        seed: int | None = None,
        console: list[str] | None = None,
    ) -> Any:
        """Call a function of R with (name, value) pairs; see `call`."""
        r = self._ready()
        failures: list[BaseException] = []
        with self._lock, r.openrlib.rlock:
            self._failures.append(failures)
            try:
                with _console(r, console), holding_ctrl_c(r.openrlib.rlib):
                    given = r.interface.ListSexpVector([to_r(v, r) for _, v in arguments])
                    given.names = texts_to_r([name for name, _ in arguments], r)
                    outcome = r.helpers["invoke"](texts_to_r([function], r), given, to_r(seed, r))
            except r.interface.embedded.RRuntimeError as error:
                if not failures:  # R could not even catch it
                    raise RCallError(str(error), called=function) from error
            finally:
                self._failures.pop()
        if failures:
            raise failures[0]
        return _value(outcome, r)

    def helper(self, name: str, *arguments: Any) -> Any:
        """Call a function of `bridge.R` that can't fail."""
        r = self._ready()
        with self._lock, r.openrlib.rlock:
            return r.helpers[name](*(to_r(a, r) for a in arguments))

    def evaluate(self, expression: str) -> Any:
        """Evaluate an expression of R, which is code: no name or value may be put into it."""
        return self.call(f"function() {expression}")

    def function(
        self,
        called: Callable[..., Any],
        arguments: Sequence[str],
        convert: Callable[[Any, R], Any] = from_r,
    ) -> Any:
        """Return a function of R that calls one of Python.

        What it raises stops R, and reaches the caller of R as it was raised. The function is kept
        alive by what is returned.

        Parameters
        ----------
        called : callable
            Given the arguments by position; returns what `to_r` can convert.
        arguments : sequence of str
            Names of the arguments in R.
        convert : callable
            What makes values of Python of the arguments.
        """
        r = self._ready()

        def answer(*given: Any) -> Any:
            failures = self._failures[-1]
            value = []
            try:
                if not failures:
                    value = [to_r(called(*(convert(g, r) for g in given)), r)]
            except BaseException as error:  # noqa: BLE001 - raised again where R was called
                failures.append(error)
            return r.interface.ListSexpVector(value)  # nothing in it: R must stop

        with self._lock, r.openrlib.rlock:
            inner = r.interface.rternalize(answer)
            outer = r.helpers["guarded"](inner, texts_to_r(list(arguments), r))
        outer.kept_alive = (inner, answer)
        return outer

    def _ready(self) -> R:
        running = self._running
        if running is None:
            with self._lock:
                if self._running is None:
                    r = start_r()
                    self._thread = threading.get_ident()
                    self._thread_name = threading.current_thread().name
                    self._running = r
                running = self._running
        if threading.get_ident() != self._thread:
            raise RThreadError(
                f"R runs in the thread {self._thread_name!r}, which used it first, and can't be "
                f"called from {threading.current_thread().name!r}; call it from there, or use "
                'processes: joblib.parallel_config("loky").'
            )
        return running


SESSION = Session()


def _value(outcome: Any, r: R) -> Any:
    """Return what R returned, or raise its error; warn of what it warned of."""
    value, failed, called, warned, interrupted = (outcome[i] for i in range(5))
    if interrupted[0]:
        raise KeyboardInterrupt
    called = text_from_r(called)[0]
    for item in warned:
        message, call = text_from_r(item)
        where = f" (in `{call}`)" if call else ""
        warnings.warn(f"{message}{where}", RWarning, stacklevel=level_of_caller())
    if isinstance(failed, r.interface.ListSexpVector):
        message, call = (text_from_r(part)[0] for part in failed)
        raise RCallError(message, call, called)
    return value[0]


@contextmanager
def _console(r: R, kept: list[str] | None) -> Iterator[None]:
    """Send what R prints to `kept`, or to where Python prints."""

    def to(stream: str) -> Callable[[str], Any]:
        return (lambda text: getattr(sys, stream).write(text)) if kept is None else kept.append

    callbacks = r.callbacks
    former = callbacks.consolewrite_print, callbacks.consolewrite_warnerror
    callbacks.consolewrite_print, callbacks.consolewrite_warnerror = to("stdout"), to("stderr")
    try:
        yield
    finally:
        callbacks.consolewrite_print, callbacks.consolewrite_warnerror = former
