"""Results that were saved and loaded are the results, bit for bit, under every option."""

from collections.abc import Callable
from functools import cache
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from asks import asks_of
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp import simulation
from pyinterp.errors import FileError, OptionError
from pyinterp.learner.on_file import ResultsOnFile
from pyinterp.results.hypotheses import Contrasts
from pyinterp.storage.archive import records
from pyinterp.storage.savable import Savable
from pyinterp_papers.processes import molnar_linear

mpl.use("Agg")

PLANS = {
    "halves": pi.HalfSampling(3, pairs=5),
    "bootstrap": pi.Bootstrap(3),
    "subsampling": pi.Subsampling(3),
    "folds": pi.CrossValidation(3),
    "nested bootstrap": pi.NestedBootstrap(3, splits=2),
    "holdout": pi.Holdout(),
    "fresh": pi.FreshDraws(lambda rng: rows_of(40, rng), 3),
    "one model": None,
}
Ask = Callable[[Any], Any]


def squared(y, prediction):
    return (y - prediction) ** 2


def doubled(prediction):
    return 2 * prediction


# Every estimand, by name, of any response.
ANY = asks_of("""
loss; loss()
explained; loss(relation='explained')
pfi; pfi()
ratio; pfi(relation='ratio')
conditional pfi; pfi('x', sampler='subgroup')
pd; pd('x', points=3)
pd of levels; pd('g')
pd of two; pd(['x', 'z'], points=2)
ale; ale('x', points=3)
ame; ame()
firm; firm(points=3)
vint; vint([('x', 'z')], points=3)
h; h_statistic(most_rows=10)
mvim; mvim()
cvim; cvim('x', sampler='subgroup')
amvim; amvim('x', method='additive')
positivity; positivity('x')
loco; loco()
native; native_importance()
user's estimand; estimate(pi.mean_over_rows(squared, 'squared error'))
importance; importance(['pfi', 'mvim'])
rows; pfi(rows='z > 0')
by; pfi(by='g')
""", globals())  # fmt: skip
ANY["compared"] = lambda r: pi.compare(r.pfi(), r.pfi())
NUMBERS = asks_of("""
metric; metric('rmse')
pfi of a metric; pfi(metric='rmse')
pfi of a user's loss; pfi(loss=squared)
curves; pd(['x', 'z'], together=False, points=3)
causal; causal('x', points=3, sampler='subgroup')
user's scale; pd('x', points=3, scale=doubled)
""", globals())  # fmt: skip
# Of learners that state a distribution.
STATED = asks_of("""
likelihood; likelihood_pfi()
entropy; entropy_pfi()
redundancy; redundancy()
uncertainty; uncertainty()
pd of entropy; pd('x', points=3, of='entropy')
""", globals())  # fmt: skip
CLASSES = asks_of("""
auc; metric('roc_auc')
pd of log odds; pd('x', points=3, scale='logit')
pd of a class; pd('x', points=3, which_class='no')
""", globals()) | STATED  # fmt: skip
EVERY = {"numbers": {**ANY, **NUMBERS}, "classes": CLASSES, "distributions": STATED}
# What some plans can't have.
LACK = {"fresh": {"rows", "by", "loco"}, "one model": {"loco"}}


def rows_of(n, rng=0):
    """Numbers x and z, levels g of two, response y; equal seeds make equal rows."""
    rng = np.random.default_rng(rng)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["x", "z"])
    frame["g"] = rng.permutation(np.resize(["a", "b"], n))
    return frame.assign(y=frame["x"] + rng.normal(size=n))


@cache
def learner(kind="numbers"):
    rows, estimator = rows_of(60), LinearRegression()
    if kind == "classes":
        rows["y"] = np.where(rows["y"] > 0, "yes", "no")
        estimator = LogisticRegression()
    elif kind == "distributions":
        estimator = BayesianRidge()
    return pi.Learner.from_formula("y ~ x + z + g", rows, estimator)


def fit(plan, kind="numbers"):
    """Return new results, to which nothing was asked; seed 1."""
    if PLANS[plan] is None:
        return learner(kind).fit_model(seed=1)
    return learner(kind).fit(PLANS[plan], seed=1)


shared = cache(fit)


@cache
def asked(name, plan, kind):
    return EVERY[kind][name](shared(plan, kind))


def again(results, path):
    """Save and load; what is saved again must be the same file."""
    results.save(path)
    loaded = pi.load(path)
    other = path.with_name("again.pyinterp")
    loaded.save(other)
    assert other.read_bytes() == path.read_bytes()
    assert type(loaded) is type(results)
    return loaded


def bits(frame):
    """Return what two frames share only if they are the same, signs of zeros included."""
    values = [
        frame[c].to_numpy().tobytes() if frame[c].dtype.kind in "fiub" else frame[c].tolist()
        for c in frame
    ]
    return [list(frame.columns), frame.dtypes.map(str).tolist(), frame.index.tolist(), values]


def check_same(loaded, results, *, alpha=0.1):
    """Check tables, and all that results of estimands give besides."""
    assert bits(loaded.tidy()) == bits(results.tidy())
    for notes in ("short", "full"):
        assert str(loaded.summary(notes=notes)) == str(results.summary(notes=notes))
    for part, other in zip(parts(loaded), parts(results), strict=True):
        assert bits(part.tidy(alpha)) == bits(other.tidy(alpha))
        assert bits(part.glance()) == bits(other.glance())
        assert bits(part.refit_frame()) == bits(other.refit_frame())
        assert outcome(lambda r: bits(r.row_frame()), part) == outcome(
            lambda r: bits(r.row_frame()), other
        )
        assert bits(part.cov_params()) == bits(other.cov_params())
        for ask in TESTS.values():
            assert outcome(ask, part) == outcome(ask, other)


def parts(results):
    return list(getattr(results, "parts", []))


def outcome(ask, results):
    """Return an answer, or the words with which it is refused."""
    try:
        return ask(results)
    except pi.errors.PyinterpError as error:
        return str(error)


TESTS = {
    "t_test": lambda r: str(r.t_test(np.eye(len(r.params))[:1])),
    "differences": lambda r: str(r.differences()),
    "wald_test": lambda r: str(r.wald_test(np.eye(len(r.params))[:2])),
    "equality_test": lambda r: str(r.equality_test()),
    "flat_test": lambda r: str(r.flat_test()),
    "ranks": lambda r: bits(r.ranks()),
}
CELLS = [
    (name, plan, kind)
    for kind, every in EVERY.items()
    for plan in (PLANS if kind == "numbers" else ("halves", "one model"))
    for name in every
    if name not in LACK.get(plan, ())
]


@pytest.mark.parametrize(("name", "plan", "kind"), CELLS)
def test_results_of_estimands(name, plan, kind, tmp_path):
    results = asked(name, plan, kind)
    check_same(again(results, tmp_path / "a.pyinterp"), results)


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n, p, k in CELLS if p == "halves"])
def test_plots_are_made_of_loaded_results(name, kind, tmp_path):
    results = asked(name, "halves", kind)
    loaded = again(results, tmp_path / "a.pyinterp")
    plot, other = loaded.plot(), results.plot()
    assert type(plot) is type(other)
    if hasattr(plot, "data") and isinstance(plot.data, pd.DataFrame):
        assert bits(plot.data) == bits(other.data)


@pytest.mark.parametrize("name", ["pfi", "curves", "uncertainty"])
def test_plots_of_loaded_results_can_be_drawn(name, tmp_path):
    kind = "classes" if name == "uncertainty" else "numbers"
    again(asked(name, "halves", kind), tmp_path / "a.pyinterp").plot().save(
        tmp_path / "a.png", verbose=False, dpi=50
    )


@pytest.mark.parametrize("plan", PLANS)
def test_results_of_refits_answer_what_they_were_asked(plan, tmp_path):
    results = fit(plan)
    names = [n for n, p, k in CELLS if (p, k) == (plan, "numbers")]
    answers = {name: EVERY["numbers"][name](results) for name in names}
    results.save(tmp_path / "a.pyinterp")
    loaded = pi.load(tmp_path / "a.pyinterp")
    assert isinstance(again(loaded, tmp_path / "b.pyinterp"), ResultsOnFile)
    assert (loaded.seed, loaded.nobs) == (results.seed, results.nobs)
    for name, answer in answers.items():
        check_same(EVERY["numbers"][name](loaded), answer)


@pytest.mark.parametrize("kind", ["classes", "distributions"])
def test_results_of_refits_that_state_distributions(kind, tmp_path):
    results = fit("halves", kind)
    answers = {name: ask(results) for name, ask in EVERY[kind].items()}
    results.save(tmp_path / "a.pyinterp")
    loaded = pi.load(tmp_path / "a.pyinterp")
    for name, answer in answers.items():
        check_same(EVERY[kind][name](loaded), answer)


OPTIONS = [
    {"cov_type": "corrected"},
    {"p_adjust": "holm"},
    {"simultaneous": True},
    {"rows": "z > 0", "p_adjust": "fdr_bh"},
    {"by": "g", "rows": "z > -1", "cov_type": "corrected"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options_of_inference_after_loading(options, tmp_path):
    """Only the estimand and its rows were asked before; the options are new to the file."""
    results, rows = fit("halves"), {n: o for n, o in options.items() if n in ("rows", "by")}
    results.pfi(**rows)
    results.pd("x", points=3, **rows)
    results.save(tmp_path / "a.pyinterp")
    loaded = pi.load(tmp_path / "a.pyinterp")
    check_same(loaded.pfi(**options), results.pfi(**options))
    curve = {n: o for n, o in options.items() if n != "alternative"}
    check_same(loaded.pd("x", points=3, **curve), results.pd("x", points=3, **curve))


def test_what_was_not_measured_is_refused_with_a_list(tmp_path):
    results = fit("halves")
    results.pfi()
    results.save(tmp_path / "a.pyinterp")
    loaded = pi.load(tmp_path / "a.pyinterp")
    assert any("PFI" in name for name in loaded.estimands)
    for ask in (
        lambda r: r.pd("x", points=4),
        lambda r: r.pfi(permutations=7),
        lambda r: r.pfi(rows="z > 0"),
        lambda r: r.pfi(by="g"),
        lambda r: r.loco(),
        lambda r: r.native_importance(),
    ):
        with pytest.raises(FileError, match=r".* was not measured .*Measured: .*PFI"):
            ask(loaded)


# Comparison with fresh results ------------------------------------------------------------------


def other():
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    return pi.Learner.from_formula("y ~ x + z + g", rows_of(60), tree).fit(PLANS["halves"], seed=1)


@pytest.mark.parametrize("name", ["pfi", "loss", "pd", "firm", "user's estimand"])
def test_a_loaded_result_is_compared_with_a_fresh_one(name, tmp_path):
    mine, theirs = asked(name, "halves", "numbers"), ANY[name](other())
    loaded = again(mine, tmp_path / "a.pyinterp")
    compared = pi.compare(mine, theirs)
    for pair in ((loaded, theirs), (loaded, again(theirs, tmp_path / "b.pyinterp"))):
        check_same(pi.compare(*pair), compared)
    check_same(again(compared, tmp_path / "c.pyinterp"), compared)


def test_loaded_learners_are_compared_with_fresh_ones(tmp_path):
    mine, theirs = fit("halves"), other()
    compared = pi.compare([mine, theirs], names=["line", "tree"])
    mine.save(tmp_path / "a.pyinterp")
    loaded = pi.load(tmp_path / "a.pyinterp")
    check_same(pi.compare([loaded, theirs], names=["line", "tree"]), compared)


def test_another_estimand_is_not_compared(tmp_path):
    loaded = again(asked("pfi", "halves", "numbers"), tmp_path / "a.pyinterp")
    with pytest.raises(pi.errors.InferenceError, match="Only the same estimand"):
        pi.compare(loaded, shared("halves").pfi(relation="ratio"))


# Tests, ranks and studies -----------------------------------------------------------------------


def test_of_hypotheses(tmp_path):
    pfi, pd_ = asked("pfi", "halves", "numbers"), asked("pd", "halves", "numbers")
    by = shared("halves").pfi("x", by="g")
    for results in (
        pfi.t_test("x = z"),
        pfi.t_test(np.eye(3)),
        by.differences(),
        shared("halves").pfi("x", by="g", simultaneous=True).differences("a"),
        shared("halves").pfi(alternative="greater", p_adjust="holm").t_test(np.eye(3)),
        pfi.wald_test("x = z, x = g"),
        pfi.f_test("x = z"),
        by.equality_test(),
        pd_.flat_test(),
    ):
        loaded = again(results, tmp_path / "a.pyinterp")
        assert str(loaded) == str(results)
        assert repr(loaded) == repr(results)
        if isinstance(results, Contrasts):
            assert bits(loaded.conf_int(0.2)) == bits(results.conf_int(0.2))
            assert bits(loaded.summary_frame()) == bits(results.summary_frame())


def studies(folder):
    line, options = {"lm": LinearRegression()}, {"progress": False}
    counts = simulation.CoverageStudy(
        dgps=[molnar_linear()], learners=line, estimands={"pfi": pi.LearnerResults.pfi},
        resamplings={"five": pi.Subsampling(5)}, cov_types={"five": ["corrected"]}, n=[30],
        repetitions=3, truth_refits=4, seed=1,
    )  # fmt: skip
    yield "coverage", counts.run(folder / "a.sqlite", **options)
    certified = fit("subsampling")
    yield "certificate", pi.certify(certified, data_sets=2, truth_refits=5, **options)


def test_studies(tmp_path):
    for name, results in studies(tmp_path):
        loaded = again(results, tmp_path / f"{name}.pyinterp")
        assert str(loaded) == str(results)
        for part in ("frame", "rows", "truths"):
            if hasattr(results, part):
                assert bits(getattr(loaded, part)) == bits(getattr(results, part))
        if name != "certificate":
            loaded.plot()
    assert bits(loaded.counts.rows) == bits(results.counts.rows)
    check_same(loaded.table, results.table)


# Functions of the user --------------------------------------------------------------------------


def test_a_function_is_named_and_not_kept(tmp_path):
    loaded = again(asked("user's scale", "halves", "numbers"), tmp_path / "a.pyinterp")
    score = again(asked("pfi of a user's loss", "halves", "numbers"), tmp_path / "b.pyinterp")
    function = score.estimand.score.function
    assert "squared" in function.name
    with pytest.raises(FileError, match=r"`.*squared` is not in it"):
        function(np.ones(2), np.ones(2))
    with pytest.raises(FileError, match="A file holds no functions"):
        loaded.estimand.measure(None)


def test_functions_count_by_their_names(tmp_path):
    """Of a file: in the session of the fit another function of the same name is measured."""
    results = fit("halves")
    answers = [NUMBERS["pfi of a user's loss"](results), NUMBERS["user's scale"](results)]
    answers.append(ANY["user's estimand"](results))
    results.save(tmp_path / "a.pyinterp")
    loaded = pi.load(tmp_path / "a.pyinterp")

    def absolute(y, prediction):
        return np.abs(y - prediction)

    def halved(prediction):
        return prediction / 2

    for ask in (
        lambda r: r.pfi(loss=absolute),
        lambda r: r.pd("x", points=3, scale=halved),
        lambda r: r.estimate(pi.mean_over_rows(absolute, "absolute error")),
    ):
        with pytest.raises(FileError, match="was not measured"):
            ask(loaded)
    check_same(loaded.pfi(loss=squared), answers[0])
    check_same(loaded.pd("x", points=3, scale=doubled), answers[1])
    check_same(loaded.estimate(pi.mean_over_rows(squared, "squared error")), answers[2])
    absolute.__name__ = absolute.__qualname__ = "squared"
    check_same(loaded.pfi(loss=absolute), answers[0])
    assert (results.pfi(loss=absolute).params != answers[0].params).all()


def test_what_a_nameless_function_gave_is_left_out(tmp_path):
    results = fit("halves")
    loss = results.loss(lambda y, prediction: (y - prediction) ** 4)
    results.loss()
    results.save(tmp_path / "a.pyinterp")
    loaded = pi.load(tmp_path / "a.pyinterp")
    check_same(loaded.loss(), results.loss())
    with pytest.raises(FileError, match="was not measured"):
        loaded.loss(lambda y, prediction: (y - prediction) ** 4)
    loss.save(tmp_path / "b.pyinterp")
    check_same(pi.load(tmp_path / "b.pyinterp"), loss)


def loss_of(c):
    def loss(y, prediction):
        return c * np.abs(y - prediction)

    return loss


def test_what_two_functions_of_one_name_gave_is_left_out(tmp_path):
    results = fit("halves")
    values = [float(results.loss(loss_of(c)).params.iloc[0]) for c in (1, 3)]
    assert values[1] == pytest.approx(3 * values[0])
    path = tmp_path / "a.pyinterp"
    with pytest.raises(OptionError, match="Nothing that a file can keep was measured yet"):
        results.save(path)
    results.loss()
    results.save(path)
    loaded = pi.load(path)
    for c in (1, 3):
        with pytest.raises(FileError, match="was not measured"):
            loaded.loss(loss_of(c))


def share_above(case):
    return {"above": pi.Estimate.of_rows((case.whatif.factual > case.y)[:, None] * 1.0)}


def once(measurement):
    return measurement["above"]


def in_percent(measurement):
    return measurement["above"].linear(np.array([[100.0]]))


def test_readings_of_a_user_and_kinds_of_keys_are_told_apart(tmp_path):
    words = pi.Words(label="share", title="share above", meaning="Share above y.")
    year, other = pd.Timestamp("2020"), pd.Timestamp("2021")
    choices = ((year, once), (other, in_percent), (year, in_percent))
    terms = pi.Terms.plain(["share"])
    every = [
        pi.Estimand(key=("above", k), terms=terms, measure=share_above, read=read, words=words)
        for k, read in choices
    ]
    results = fit("halves")
    values = [float(results.estimate(one).params.iloc[0]) for one in every]
    assert values[1:] == pytest.approx([100 * values[0]] * 2)
    results.save(tmp_path / "a.pyinterp")
    loaded = pi.load(tmp_path / "a.pyinterp")
    assert [float(loaded.estimate(one).params.iloc[0]) for one in every] == values
    assert len(loaded.record.models.findings) >= 3


def test_errors_of_coefficients_are_kept_whatever_was_asked(tmp_path):
    data = rows_of(60, np.random.default_rng(0))
    fitted = smf.ols("y ~ x + z", data).fit()
    model = pi.FittedModel(fitted, data, "y")
    model.pd("x", grid=[0, 1], cov_type="ustat")
    model.save(tmp_path / "a.pyinterp")
    loaded = pi.load(tmp_path / "a.pyinterp").pd("x", grid=[0, 1])
    assert loaded.cov_type == "delta"
    check_same(loaded, model.pd("x", grid=[0, 1]))


def test_every_public_result_can_be_saved():
    """Whatever ends in Results is read by its own name."""
    public = [getattr(pi, name) for name in pi.__all__ if name.endswith("Results")]
    public += [getattr(simulation, n) for n in simulation.__all__ if n.endswith("Results")]
    kept = {pi.LearnerResults}  # `save` keeps what was measured, as ResultsOnFile
    results = [k for k in records() if issubclass(k, Savable)]
    assert not [kind.__name__ for kind in public if kind not in kept and kind not in results]
    names = [kind.__name__ for kind in results]
    assert len(set(names)) == len(names)


def test_a_message_says_why_no_file_is_made(tmp_path):
    pfi = asked("pfi", "halves", "numbers")
    with pytest.raises(OptionError, match="The folder of `path` must exist"):
        pfi.save(tmp_path / "none" / "a.pyinterp")
    with pytest.raises(OptionError, match="is a folder"):
        pfi.save(tmp_path)
    with pytest.raises(OptionError, match=r"`path` must be a text or a pathlib\.Path"):
        pfi.save(3)
    with pytest.raises(FileError, match="There is no file"):
        pi.load(tmp_path / "none.pyinterp")


@pytest.mark.parametrize("kind", ["frequency", "sampling"])
@pytest.mark.parametrize("least", [0, 1])  # as many rows as the user's, or more
def test_masks_of_loaded_fits_name_the_users_rows(kind, least, tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(90, 2)), columns=["x", "y"])
    frame = frame.assign(w=np.arange(90) % 3 + least)
    learner = pi.Learner.from_formula(
        "y ~ x", frame, LinearRegression(), weights="w", weights_type=kind
    )
    results = learner.fit(pi.Bootstrap(4), seed=1)
    mask = (frame["x"] > 0).to_numpy()
    expected = results.loss(rows=mask).params, results.loss(by=mask).params
    results.save(tmp_path / "fit.pyinterp")
    loaded = pi.load(tmp_path / "fit.pyinterp")
    pd.testing.assert_series_equal(loaded.loss(rows=mask).params, expected[0])
    pd.testing.assert_series_equal(loaded.loss(by=mask).params, expected[1])
