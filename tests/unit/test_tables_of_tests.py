"""Tables of hypotheses say what is tested, of what and from how many rows, and recompute."""

import re

import numpy as np
import pytest
from asks import asks_of
from fits import fit_of
from numpy.testing import assert_allclose
from scipy import stats
from shared import normal_rows
from sklearn.linear_model import LinearRegression

import pyinterp as pi


@pytest.fixture(scope="module")
def res():
    rng, data = normal_rows(150, "a b c", 5)
    data["g"] = rng.choice(["u", "v"], 150)
    data["y"] = 3 + data["a"] + data["b"] / 2 + rng.normal(size=150)
    return fit_of("y ~ a + b + c + g", data, LinearRegression(), pi.HalfSampling(5, pairs=8))


CASES = asks_of("""
hypotheses; pfi().t_test("a = b, b - c = 0.1"); PFI (squared error)
one term; pd("a", grid=[0, 1]).t_test("a[1] = 3"); PD of a
weights; ame().t_test(([[1, -1, 0, 0]], [0.25])); AME
differences; pd("a", grid=[0, 1], by="g").differences(); PD of a (by g)
points; pd("g").differences(); PD of g
adjusted; pd("a", p_adjust="bonferroni").differences(); PD of a
joint; ame().wald_test("a = b, b = 0"); AME
equal; pfi("a", by="g").equality_test(); PFI (squared error, by g)
""", globals())  # fmt: skip


def printed(table):
    """Return the printed numbers of a table by row."""
    _, *rows = [[str(cell.data).strip() for cell in row] for row in table.tables[0]]
    return {row[0]: [float(cell.strip("<")) for cell in row[1:]] for row in rows}


@pytest.mark.parametrize("name", CASES)
def test_they_say_what_is_tested(res, name):
    ask, estimand = CASES[name]
    table = ask(res).summary()
    text, facts = str(table), dict(table.facts)
    assert "Test for Constraints" not in text
    said = [facts[fact] for fact in ("Estimand:", "No. observations:", "Df:")]
    assert said == [estimand, "150", "8"]
    assert len(table.notes) >= 2
    assert "Intervals (half-sample, 8 df) are for the learner" in " ".join(text.split())
    assert table.title.endswith(", learner")


@pytest.mark.parametrize("name", ["hypotheses", "weights", "differences", "points", "adjusted"])
def test_t_p_and_limits_follow_from_the_print(res, name):
    tests = CASES[name][0](res)
    table = tests.summary(decimals=6)
    notes, df = " ".join(table.notes), float(dict(table.facts)["Df:"])
    q = re.search(r"Limits take ([\d.]+) as the quantile", notes)
    q = float(q[1]) if q else stats.t.isf(0.025, df)
    for hypothesis, (coef, error, low, high, t, p) in printed(table).items():
        target = hypothesis.partition("=")[2].strip()
        target = float(target) if re.fullmatch(r"[\d.]+", target) else 0.0
        side = (coef - low if coef > target else high - coef) / q  # one error, or one per side
        if "Of several importances" not in notes:
            assert_allclose([side, low, high], [error, coef - q * error, coef + q * error], 1e-3)
        assert_allclose(t, (coef - target) / side, atol=2e-3, rtol=1e-3)
        count = len(tests.effect) if name == "adjusted" else 1
        assert_allclose(p, min(1, count * 2 * stats.t.sf(abs(t), df)), atol=1.1e-3)


def test_a_single_importance_follows_from_the_full_notes(res):
    table = res.pfi().t_test("a = 0, c = 0").summary(notes="full", decimals=8)
    assert "Limits are the hull of two t intervals" in " ".join(table.notes)
    q = stats.t.isf(0.025, 8)
    for c, error, low, high, t, _ in printed(table).values():
        positive = max(c, 0)
        a = error**2 / 2 / (np.hypot(positive, error / np.sqrt(2)) + positive)
        lower = min(max(np.sqrt(c + a) - q * np.sqrt(a), 0) ** 2, c - q * c / t)
        assert_allclose([low, high], [lower, (np.sqrt(c + a) + q * np.sqrt(a)) ** 2], rtol=5e-3)


def test_a_joint_test_shows_its_hypotheses_and_its_p(res):
    joint = res.ame().wald_test("a = b, b = 0")
    found = re.search(
        r"F\((\d), (\d)\) = ([\d.]+), P ([<=] ?[\d.]+)", dict(joint.summary().facts)["Joint test:"]
    )
    assert list(printed(joint.summary())) == ["a = b", "b = 0"]
    p = stats.f.sf(float(found[3]), int(found[1]), int(found[2]))
    assert_allclose(joint.pvalue, p, rtol=1e-2)
    assert str(joint) == str(joint.summary())


def test_they_have_the_formats_of_tables(res, tmp_path):
    tests = res.pfi().t_test("a = b")
    for end in ("html", "tex", "md", "csv", "txt", "xlsx"):
        assert tests.to(tmp_path / f"t.{end}").stat().st_size > 100
    assert tests.tidy(0.1)["hypothesis"].tolist() == ["a = b"]
    assert "std.error" in tests.to_r()
    again = pi.load(tests.save(tmp_path / "t.pyinterp") or tmp_path / "t.pyinterp")
    assert str(again.summary(notes="full")) == str(tests.summary(notes="full"))
    assert len(tests.summary(notes="none").notes) == 0


def test_weights_name_the_value_that_they_test(res):
    tests = res.ame().t_test(([[1, -1, 0, 0], [0, 1, 0, 0]], [0.25, 0]))
    assert tests.summary_frame().index[0].endswith(" = 0.25")
    assert "=" not in tests.summary_frame().index[1]
