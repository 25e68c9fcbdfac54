"""Features: variables, or groups of variables that are replaced together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from pyinterp.checks import is_list
from pyinterp.errors import OptionError, did_you_mean, list_of, quote, short

Features = Mapping[str, tuple[str, ...]]
Groups = Mapping[str, Sequence[str]]
Names = str | Sequence[str]  # one or several


def features_of(
    variables: Sequence[str], groups: Groups | None, besides: str | None = None
) -> Features:
    """Return the features: groups of variables, and every variable that is in no group.

    A variable `besides` them, an offset, is no feature.
    """
    if groups is not None and not isinstance(groups, Mapping):
        raise OptionError(
            "`groups` must map names to lists of variables, such as "
            f"{{'size': ['area', 'rooms']}}; got {type(groups).__name__}."
        )
    single = {name: (name,) for name in variables if name != besides}
    if not groups:
        return single
    variables = list(single)
    owner = _owners(variables, groups)
    for group in groups:
        if group in variables and owner.get(group) != group:
            raise OptionError(
                f"Group {quote(group)} has the name of a variable; choose another name."
            )
    features: dict[str, tuple[str, ...]] = {}
    for name in variables:
        if name in owner:
            features.setdefault(owner[name], tuple(groups[owner[name]]))
        else:
            features[name] = (name,)
    return features


def _owners(variables: Sequence[str], groups: Groups) -> dict[str, str]:
    """Return the group of every variable that is in one.

    Raises
    ------
    OptionError
        If a group is not a list of variables with a name, or a variable is in two groups.
    """
    owner: dict[str, str] = {}
    for group, members in groups.items():
        if not isinstance(group, str) or not group.strip():
            raise OptionError(
                f"The name of a group must be a text that is not empty, not {quote(group)}."
            )
        listed = isinstance(members, Collection) and not isinstance(members, str | Mapping)
        if not (listed and len(members) and all(isinstance(name, str) for name in members)):
            raise OptionError(
                f"Group {short(group)!r} must be a list of variables such as ['area', 'rooms'], "
                f"not {quote(members)}."
            )
        check_names([*members], variables, kind="variable", argument=f"group {short(group)}")
        for name in members:
            if name in owner:
                raise OptionError(
                    f"A variable can be in one group only, but {quote(name)} is in "
                    f"{quote(owner[name])} and {quote(group)}."
                )
            owner[name] = group
    return owner


def names_of(features: object, what: str = "features") -> list[str]:
    """Return one name or several as a list."""
    if isinstance(features, str):
        return [features]
    if is_list(features):
        names = list(features)
        if all(isinstance(name, str) for name in names):
            return names
    raise OptionError(f"`{what}` must be a name or a list of names, not {quote(features)}.")


def check_names(
    names: Sequence[object],
    allowed: Iterable[object],
    *,
    kind: str = "feature",
    argument: str = "features",
) -> None:
    """Raise `OptionError` unless there are names, all of them among the allowed ones.

    Parameters
    ----------
    names : sequence of str
    allowed : iterable of str
    kind : str
        The kind of the names, in messages.
    argument : str
        Where they were given.
    """
    allowed = list(allowed)
    if not names:
        raise OptionError(f"`{argument}` must name at least one {kind}.")
    for name in names:
        if not isinstance(name, str) or name not in allowed:
            raise OptionError(
                f"Can't find {kind} {quote(name)} of `{argument}`. {kind.capitalize()}s: "
                f"{list_of(allowed)}." + did_you_mean(name, allowed)
            )
