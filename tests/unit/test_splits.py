"""Splits of the user's own: the same numbers as our plans, and every bad split is refused."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of, words_of
from sklearn import model_selection as ms
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.resampling import Split, Splitting

N = 40
_rng = np.random.default_rng(1)
DATA = pd.DataFrame(_rng.normal(size=(N, 2)), columns=["a", "b"])
DATA["y"] = DATA["a"] + _rng.normal(size=N)
DATA["who"] = np.arange(N) // 4
LEARNER = pi.Learner.from_formula("y ~ a + b", DATA, LinearRegression())


def _pfi(resampling):
    return LEARNER.fit(resampling, seed=5).pfi()


def test_a_splitter_is_the_list_is_our_own_cross_validation():
    ours = LEARNER.fit(pi.CrossValidation(4), seed=5)
    folds = [(r.train_rows, r.evaluation.rows) for r in ours.refits]
    masks = [tuple(np.isin(np.arange(N), rows) for rows in pair) for pair in folds]
    fold = np.empty(N, int)
    for k, (_, test) in enumerate(folds):
        fold[test] = k
    for same in (folds, masks, ms.PredefinedSplit(fold), pi.Splits(folds)):
        theirs = _pfi(same)
        np.testing.assert_allclose(theirs.params, ours.pfi().params, rtol=1e-12)
        np.testing.assert_allclose(theirs.bse, ours.pfi().bse, rtol=1e-12)
    assert theirs.replicates.evaluations.correction == pytest.approx(10 / 30)


SPLITTERS = {
    "KFold": ms.KFold(4),
    "RepeatedKFold": ms.RepeatedKFold(n_splits=4, n_repeats=2),
    "ShuffleSplit": ms.ShuffleSplit(3, test_size=0.25),
    "TimeSeriesSplit": ms.TimeSeriesSplit(3),
    "GroupKFold": pi.Splits(ms.GroupKFold(4), cluster="who"),
    "LeaveOneGroupOut": pi.Splits(ms.LeaveOneGroupOut(), cluster="who"),
}


@pytest.mark.parametrize("name", SPLITTERS)
def test_splitters_of_scikit_learn_repeat_with_the_seed(name):
    first, again = _pfi(SPLITTERS[name]), _pfi(SPLITTERS[name])
    pd.testing.assert_series_equal(first.params, again.params)
    assert first.context.plan == f"{name}, {first.context.refits} splits"


def test_stratified_folds_have_the_classes():
    from sklearn.linear_model import LogisticRegression

    data = DATA.assign(z=np.where(np.arange(N) % 5 == 0, "yes", "no"))
    refits = fit_of("z ~ a + b", data, LogisticRegression(), ms.StratifiedKFold(4)).refits
    assert {int(r.evaluation.y.sum()) for r in refits} == {2}


def test_ordered_splits_say_that_rows_are_not_exchangeable(tmp_path):
    text = words_of(_pfi(ms.TimeSeriesSplit(3)))
    assert "intervals: every refit is evaluated on rows after its training rows" in text
    fit = LEARNER.fit(ms.TimeSeriesSplit(3), seed=5)
    assert fit.loss(cov_type="naive").bse.isna().all()
    fit.save(tmp_path / "fit.pyinterp")
    assert pi.load(tmp_path / "fit.pyinterp").loss().bse.isna().all()
    assert "10 to 30 rows" in text
    assert "exchangeable" not in str(_pfi(ms.KFold(4)).summary())


GOOD = (range(20, 40), range(20))
BAD = {
    "overlap": ([GOOD, (range(21), range(20, 40))], "split 2 has 1 rows in both"),
    "out of range": ([GOOD, (range(20), range(20, 41))], "split 2 has test row 40"),
    "empty": ([GOOD, (range(20), [])], "Split 2 has no test rows"),
    "twice": ([GOOD, GOOD], "split 2 is split 1 again"),
    "test row twice": ([GOOD, (range(20), [30, 30, 31])], "twice"),
    "no pair": ([GOOD, range(20)], "pair"),
    "short mask": ([GOOD, (np.ones(5, bool), [30, 31])], "40 rows"),
    "groups": (ms.GroupKFold(3), "cluster="),
    "clusters on both sides": (pi.Splits(ms.KFold(3), cluster="who"), "both sides"),
    "single": (ms.ShuffleSplit(1), "at least 2 splits"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_splits_are_refused_by_number(case):
    splits, words = BAD[case]
    with pytest.raises(OptionError, match=words):
        _pfi(splits)


SHIFTED = {
    "frequency weights repeat": (DATA.assign(n=2), {"weights": "n", "weights_type": "frequency"}),
    "rows are left out": (DATA.mask(DATA["a"] > 1.5), {"missing": "drop"}),
}


@pytest.mark.parametrize("why", SHIFTED)
def test_positions_need_all_rows_once(why):
    data, options = SHIFTED[why]
    learner = pi.Learner.from_formula("y ~ a + b", data, LinearRegression(), **options)
    for rows in ([GOOD, GOOD[::-1]], ms.PredefinedSplit(np.arange(N) % 2)):
        with pytest.raises(OptionError, match=why):
            learner.fit(rows)


@pytest.mark.parametrize("stated", [None, 3, 5])
def test_a_plan_of_the_user_states_how_many_splits_it_yields(stated):
    class Blocks(Splitting):
        label = "blocks"

        def split(self, units, rng, classes):
            for block in np.array_split(np.arange(units.count), 4):
                yield Split(np.setdiff1d(np.arange(units.count), block), block)

    class Counted(Blocks):
        number = 4

    if stated is not None:
        Blocks.number = stated
    with pytest.raises(OptionError, match=rf"`number = {stated or 1}` and yields 4"):
        _pfi(Blocks())
    pd.testing.assert_series_equal(_pfi(Counted()).params, _pfi(ms.KFold(4)).params)
