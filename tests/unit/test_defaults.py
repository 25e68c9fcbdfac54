"""Parameters that public functions share have one default, or a docstring that says why not."""

import inspect
import re

import pytest

import pyinterp as pi

SHARED = {"seed": None, "progress": False, "features": None, "fraction": 0.632}


def functions():
    """Yield every public function, method and class with the docstring of its parameters."""
    homes = [pi, pi.simulation, pi.samplers]
    for name, value in {n: getattr(home, n) for home in homes for n in home.__all__}.items():
        if not callable(value) or not str(getattr(value, "__module__", "")).startswith("pyinterp"):
            continue
        if inspect.isclass(value):
            members = [n for n in dir(value) if not n.startswith("_")]
            parts = {n: inspect.getattr_static(value, n) for n in members}
            yield name, value
            for member, part in parts.items():
                if callable(part := getattr(part, "__func__", part)):
                    yield f"{name}.{member}", part
        elif inspect.isfunction(value):
            yield name, value


def entry(docstring, name):
    """Return what a numpydoc docstring says of a parameter."""
    found = re.search(rf"^( *){name} : .*\n((?:\1 +\S.*\n)*)", docstring or "", flags=re.MULTILINE)
    return "" if found is None else found[0]


@pytest.mark.parametrize("name", SHARED)
def test_a_shared_parameter_has_one_default_or_a_reason(name):
    cases, without_reason = 0, []
    for place, function in functions():
        try:
            parameter = inspect.signature(function).parameters.get(name)
        except ValueError:
            continue
        if parameter is None or parameter.default is parameter.empty:
            continue
        cases += 1
        same = parameter.default == SHARED[name] and type(parameter.default) is type(SHARED[name])
        if not same and "by default" not in " ".join(entry(function.__doc__, name).lower().split()):
            without_reason.append(f"{place}({name}={parameter.default!r})")
    assert cases > 2
    assert not without_reason
