"""Loops that are compiled when they are first called."""

from functools import cached_property


class Loop:
    """A loop that is compiled when it is first called, and runs without Python's lock.

    numba is imported then, not before: it takes 54 MB, which only some models need.
    """

    def __init__(self, loop):
        self._loop = loop

    def __call__(self, *arguments):
        """Run the machine code."""
        return self.machine_code(*arguments)

    @cached_property
    def machine_code(self):
        """The machine code; the loops it calls are compiled first, as numba knows no `Loop`."""
        from pyinterp.parallel.machine_code import machine_code  # noqa: PLC0415 - imports numba

        names = self._loop.__globals__
        for name in self._loop.__code__.co_names:
            if isinstance(names.get(name), Loop):
                names[name] = names[name].machine_code
        return machine_code(self._loop)
