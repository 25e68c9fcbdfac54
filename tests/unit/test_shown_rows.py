"""Footnotes of a table that shows some rows name no others."""

import re

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi

HALVES = pi.HalfSampling(0, pairs=5)
NAMES = ["first_one", "second_one", "third_one", "fourth_one", "fifth_one"]


def data(n=120):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 5)), columns=NAMES)
    frame["y"] = frame @ [5.0, 3.0, 1.0, 0.1, 0.0] + rng.normal(size=n)
    return frame


def constant():
    """Columns that no refit uses have no interval."""
    frame = data().assign(y=lambda f: 5 * f.first_one + 3 * f.second_one)
    return fit_of("y ~ .", frame, DecisionTreeRegressor(max_depth=2), HALVES).pfi()


def without_estimate():
    """Constants have no products."""
    frame = data().assign(third_one=1.0, fourth_one=2.0)
    fit = fit_of("y ~ .", frame, LinearRegression(), pi.CrossValidation(3))
    return fit.products("second_one")


def hardly_varies():
    """Twins violate positivity, of which the diagnostic of CVIM warns."""
    frame = data()
    for name in NAMES[2:]:
        frame[name] = frame["second_one"] + 1e-3 * frame[name]
    return fit_of("y ~ .", frame, LinearRegression(), HALVES).cvim()


def few_rows():
    """Contributions of a rare feature are skew."""
    frame = data()
    for name in NAMES[2:]:
        frame[name] = np.where(np.arange(120) % 60 == NAMES.index(name), 10.0, 0.0)
    frame["y"] += frame["third_one"] + frame["fourth_one"] + frame["fifth_one"]
    return fit_of("y ~ .", frame, LinearRegression(), HALVES).pfi()


def by_groups():
    """Groups of rows have notes of their own."""
    frame = data().assign(half=np.where(np.arange(120) % 2, "odd", "even"))
    for name in NAMES[2:]:
        frame[name] = frame["second_one"] + 1e-3 * frame[name]
    learner = fit_of(f"y ~ {' + '.join(NAMES)} + half", frame, LinearRegression(), HALVES)
    return learner.cvim(NAMES, by="half")


def no_limits():
    """Two refits are too few for some limits of a bootstrap."""
    return fit_of("y ~ .", data(), LinearRegression(), pi.Bootstrap(15)).pfi(
        simultaneous=False, alternative="greater"
    )


def population():
    """Misfit and overlap are warned of feature by feature."""
    frame = data(200)
    for name in NAMES[3:]:
        frame[name] = frame["third_one"] + 1e-2 * frame[name]
    return fit_of("y ~ .", frame, LinearRegression(), pi.CrossValidation(4)).population()


def several():
    """Several measures have one table."""
    return (
        pi.Learner.from_formula("y ~ .", few_rows_data(), LinearRegression())
        .fit(HALVES, seed=1)
        .importance(["pfi", "cvim"])
    )


def few_rows_data():
    frame = data()
    frame["fifth_one"] = np.where(np.arange(120) % 60 == 4, 10.0, 0.0)
    frame["y"] += frame["fifth_one"]
    return frame


def uncertainty():
    """Decisions name features in the header."""
    frame = data(300)
    frame["y"] = frame["y"] > 0
    learner = pi.Learner.from_formula("y ~ .", frame, LogisticRegression())
    return learner.fit(HALVES, seed=1).uncertainty()


def codes(ask="ame"):
    """Numbers that the learner takes as levels."""
    frame = data()
    for name in NAMES[2:4]:
        frame[name] = np.arange(120) % 3 + 1
    frame["fourth_one"] = frame["fourth_one"].to_numpy()[::-1]
    encoder = make_column_transformer((OneHotEncoder(), NAMES[2:4]), remainder="passthrough")
    model = make_pipeline(encoder, Ridge())
    learner = pi.Learner.from_formula("y ~ .", frame, model, design="frame")
    return getattr(learner.fit(HALVES, seed=1), ask)()


def draws():
    """Samplers are named feature by feature."""
    frame = data().assign(fifth_one=lambda f: (f.fifth_one > 0).astype(str), fourth_one=1.0)
    sampler = dict.fromkeys(NAMES[:2], "conditional") | dict.fromkeys(NAMES[2:], "subgroup")
    return fit_of("y ~ .", frame, LinearRegression(), HALVES).pfi(sampler=sampler)


def levels():
    """Flatness is measured in another way of categories."""
    frame = data()
    for name in NAMES[2:]:
        frame[name] = (frame[name] > 0).astype(str)
    return fit_of("y ~ .", frame, LinearRegression(), HALVES).firm()


KINDS = [
    draws, levels, codes, constant, without_estimate, hardly_varies, few_rows, by_groups,
    no_limits, population, several, uncertainty,
]  # fmt: skip


UNNAMED = {"full": (several, no_limits, uncertainty)}
UNNAMED["short"] = (*UNNAMED["full"], draws, levels)


@pytest.mark.parametrize("kind", KINDS)
def test_notes_name_shown_rows_alone(kind):
    results = kind()

    def named(table):
        return set(re.findall(r"\w+_(?:one|two)", " ".join(table.notes)))

    for notes in ("short", "full"):
        every, some = results.summary(notes=notes), results.summary(top=1, notes=notes)
        shown = {row[0].data for block in some.tables for row in block[1:]}
        shown = set(re.findall(r"\w+_(?:one|two)", " ".join(shown)))
        assert len(shown) < len(results.parts[0].params)
        assert named(some) <= shown
        # All rows are named where all are shown; some cases have no such note.
        assert named(every) - shown or kind in UNNAMED[notes]


def test_short_notes_of_flatness_name_shown_codes_alone():
    results = codes("firm")
    assert "is a code" in " ".join(results.summary().notes)
    first = results.params.idxmax()
    notes = " ".join(results.summary(top=1).notes)
    assert set(re.findall(r"(\w+) is a code", notes)) <= {first}
