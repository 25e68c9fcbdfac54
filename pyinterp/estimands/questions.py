"""Questions: estimands by name, with their options and rows; methods of results ask them.

A function of the problem becomes a method of all results by one line, ``@method("pfi")``, above it.
Its signature and its docstring are those of the method, which takes `rows`, `by` and the options of
inference too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from inspect import Signature
from pkgutil import walk_packages
from typing import Any, NamedTuple, TypeVar

import numpy.typing as npt

import pyinterp.estimands
from pyinterp.data.row_data import Rows
from pyinterp.errors import OptionError, did_you_mean, list_of, quote
from pyinterp.estimands.estimand import Estimand, Problem, check_weights
from pyinterp.parameters import GROUPS, check_keywords, describe, names_of, whole_signature
from pyinterp.storage import text_of

F = TypeVar("F", bound=Callable[..., Any])
# What tells requests apart while their functions are at hand.
RequestKey = tuple[Hashable, ...]
By = str | npt.ArrayLike | None
ONE_GROUP = (
    "it puts several estimands side by side; ask for one estimand by groups, such as "
    '`pfi(by="sex")`, or for one group with `rows=`.'
)
BY_PRODUCTS = 'for differences between groups use `products("x", "group")`, for one group `rows=`.'


class Method(NamedTuple):
    """A method of results.

    Attributes
    ----------
    function : callable
        ``function(problem, ...)`` returns an estimand, or several.
    signature : Signature
        Of the function.
    names : list of str
        Of all options of the method, those of rows and inference too.
    reasons : mapping of str to str
        By option of inference that it does not take.
    importance : bool
        Whether `importance` takes its name.
    """

    function: Callable[..., Any]
    signature: Signature
    names: list[str]
    reasons: Mapping[str, str]
    importance: bool


_METHODS: dict[str, Method] = {}


def method(
    name: str, *, refused: Mapping[str, str] | None = None, importance: bool = False
) -> Callable[[F], F]:
    """Make a function of the problem a method of all results."""

    def register(function: F) -> F:
        function.__doc__ = describe(function.__doc__)
        reasons, shown = refused or {}, whole_signature(function)
        every = [*names_of(shown), "rows", "by", *GROUPS["inference"]]
        names = [name for name in every if name not in reasons]
        _METHODS[name] = Method(function, shown, names, reasons, importance)
        return function

    return register


@cache
def methods() -> Mapping[str, Method]:
    """Return the methods of all files of this folder, by name."""
    for module in walk_packages(pyinterp.estimands.__path__, "pyinterp.estimands."):
        import_module(module.name)
    return dict(sorted(_METHODS.items()))


@dataclass(frozen=True, eq=False, repr=False)
class Question:
    """What is asked of a fit: a method of results, its options, and the rows it is for.

    Attributes
    ----------
    name : str
        Of the method.
    options : mapping of str to object
    rows : str, array of bool or None
        Which evaluation rows are used.
    by : str, array or None
        The groups that have estimates each.

    Examples
    --------
    >>> import pyinterp as pi
    >>> pi.ask("pfi", ["bmi", "bp"], permutations=5).options
    {'features': ['bmi', 'bp'], 'permutations': 5}
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    rows: Rows = None
    by: By = None

    def of(self, problem: Problem) -> Mapping[str, Estimand]:
        """Return the estimands that are asked for; the only one has no name."""
        made = methods()[self.name].function(problem, **self.options)
        if isinstance(made, Mapping):
            return made
        check_weights(made, problem.sample)
        return {"": made}

    def __repr__(self) -> str:
        rows = {"rows": self.rows, "by": self.by}
        given = {**self.options, **{k: v for k, v in rows.items() if v is not None}}
        return f"{self.name}({', '.join(f'{k}={quote(v)}' for k, v in given.items())})"


def ask(name: str, *args: Any, rows: Rows = None, by: By = None, **options: Any) -> Question:
    """Question for results of a fit: a method's name, and its arguments.

    A fit that drops its models is told by questions what to measure. `answer` of a fit is the
    method: ``res.answer(pi.ask("pd", "bmi"))`` is ``res.pd("bmi")``.

    Parameters
    ----------
    name : str
        Name of a method of results that estimates something, such as "pfi" or "pd".
    *args, **options
        Arguments of the method, but for those of inference.
    rows : str or array of bool, optional
        Which evaluation rows are used, as in the method.
    by : str or array, optional
        The groups of rows that have estimates each, as in the method.

    Returns
    -------
    Question

    Raises
    ------
    OptionError
        If there is no such method.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> curve = pi.ask("pd", "bmi", points=2)
    >>> curve
    pd(features='bmi', points=2)
    >>> res = learner.fit(pi.Holdout(0.7), seed=1, keep_models=False, measure=["pfi", curve])
    >>> res.pd("bmi", points=2).params.round().to_dict()
    {'bmi[18]': 83.0, 'bmi[42.2]': 290.0}
    """
    if not isinstance(name, str) or name not in methods():
        raise OptionError(
            f"There is no estimand {quote(name)}; estimands are {list_of(methods(), most=40)}."
            + did_you_mean(name, methods())
        )
    one = methods()[name]
    check_keywords(name, options if by is None else {**options, "by": by}, one.names, one.reasons)
    try:
        given = one.signature.bind(None, *args, **options).arguments
    except TypeError as error:
        several = " (several features are one list)" * bool(args)
        raise TypeError(f"{name}(): {error}{several}") from None
    return Question(name, dict(list(given.items())[1:]), rows, by)


def question_of(one: object) -> Question:
    """Return a question; the name of a method, and an estimand, become one."""
    if isinstance(one, Question):
        return one
    if isinstance(one, Estimand):
        return ask("estimate", one)
    if isinstance(one, str):
        return ask(one)
    raise OptionError(
        "What is to be measured is the name of a method, a question or an estimand, such as "
        f'`["pfi", pi.ask("pd", "x")]`, not {quote(one)}; it needs no `lambda`.'
    )


@method("estimate")
def estimate(_: Problem, estimand: Estimand) -> Estimand:
    """Estimate any estimand, such as one that you wrote.

    Parameters
    ----------
    estimand : Estimand
        What is estimated.
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults

    Raises
    ------
    OptionError
        If `estimand` is not an Estimand, or the options do not go together.

    Examples
    --------
    >>> bias = pi.mean_over_rows(lambda y, prediction: prediction - y, "bias", null=0.0)
    >>> res.estimate(bias).summary_frame().iloc[:, :4].round(2)
          estimate  std_error  std_error_null  statistic
    term
    bias     -2.94       3.33            3.33      -0.88
    """
    if not isinstance(estimand, Estimand):
        raise OptionError(
            "`estimand` must be an Estimand, such as that of `pi.mean_over_rows`, not "
            f"{quote(estimand)}."
        )
    return estimand


def side_by_side(
    problem: Problem, functions: Mapping[str, Callable[[Problem], Estimand]]
) -> dict[str, Estimand]:
    """Return the estimands that functions make of the problem.

    Raises
    ------
    OptionError
        With all that is in the way of any of them.
    """
    made, obstacles = dict[str, Estimand](), list[str]()
    for name, function in functions.items():
        try:
            made[name] = function(problem)
            check_weights(made[name], problem.sample)
        except OptionError as error:
            obstacles += error.args
    if obstacles:
        raise OptionError(*dict.fromkeys(obstacles))
    return made


def key_of(estimand: Estimand) -> RequestKey:
    """Return the key of measurements in memory: arguments, and functions themselves.

    A key that is used again for another function, as in a notebook, is another request.
    """
    # What a package reads in several ways has names for them; a user's own function is itself.
    measure = estimand.measure
    function = measure.func if isinstance(measure, partial) else measure
    return estimand.key, function, estimand.form or estimand.read


def request_of(estimand: Estimand) -> str:
    """Return a request as text: its name, arguments, reading and version.

    A user's own `read` counts by its name, unless the estimand has a `form`.

    Functions of the user count by their names, as losses, metrics and samplers do. No private name
    is in it.
    """
    name, *arguments = estimand.key if isinstance(estimand.key, tuple) else (estimand.key,)
    name = name if isinstance(name, str) else text_of(name)
    read = estimand.read.func if isinstance(estimand.read, partial) else estimand.read
    own = not str(getattr(read, "__module__", "")).startswith("pyinterp.")
    form = estimand.form or (estimand.read if own else "")
    return (
        f"{name}({', '.join(map(text_of, arguments))})"
        f"{f' {text_of(form)}' if form else ''} /{estimand.version}"
    )
