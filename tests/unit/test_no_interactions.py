"""Learners without interactions: levels of a factor go together; what comparisons test."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of, words_of
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingRegressor

import pyinterp as pi

N = 200
RNG = np.random.default_rng(1)
DATA = pd.DataFrame({"g": RNG.choice(list("abcd"), N), "h": RNG.choice(list("uvw"), N)})
DATA["x"] = RNG.normal(size=N)
DATA["y"] = DATA.g.map(dict(zip("abcd", range(4), strict=True))) + DATA.x + RNG.normal(size=N)
SAID = "may be its underfitting and proves no interaction"


def boosted(cst=None, trees=20, **options):
    return HistGradientBoostingRegressor(
        max_iter=trees, interaction_cst=cst, min_samples_leaf=5, **options
    )


def fitted(estimator, formula="y ~ x + g + h", **options):
    return fit_of(formula, DATA, estimator, pi.Subsampling(3), **options)


def pairs_in_branches(model):
    """Pairs of columns on one branch, of all trees."""
    found = set()
    for (tree,) in model._predictors:
        nodes = tree.nodes

        def walk(k, above, nodes=nodes):
            if nodes["is_leaf"][k]:
                return
            column = int(nodes["feature_idx"][k])
            found.update((one, column) for one in above)
            walk(nodes["left"][k], {*above, column})
            walk(nodes["right"][k], {*above, column})

        walk(0, set())
    return {pair for pair in found if pair[0] != pair[1]}


@pytest.mark.parametrize("formula", ["y ~ x + g + h", "y ~ bs(x, df=4) + C(h)"])
def test_columns_of_one_variable_go_together(formula):
    res = fitted(boosted("no_interactions"), formula)
    variable = {}
    design = res.refits[0].design
    for name in design.variables:
        variable |= dict.fromkeys(design.driven([name]).tolist(), name)
    pairs = set().union(*(pairs_in_branches(r.predictor.estimator) for r in res.refits))
    assert pairs
    assert all(variable[one] == variable[other] for one, other in pairs)
    assert_allclose(res.h_statistic(order="total").params, 0, atol=1e-20)
    assert res.model.estimator.interaction_cst == "no_interactions"


def test_pairs_are_of_variables_too():
    estimator = fitted(boosted("pairwise")).refits[0].predictor.estimator
    # exog_names: g[a] g[b] g[c] g[d] h[u] h[v] h[w] x
    assert sorted(map(sorted, estimator.interaction_cst)) == [
        [0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 7], [4, 5, 6, 7],
    ]  # fmt: skip


@pytest.mark.parametrize("options", [{"design": "frame"}, {}])
def test_one_column_of_each_variable_is_left_alone(options):
    formula = "y ~ x + g" if options else "y ~ x + I(x > 0)"
    data = DATA.astype({"g": "category"})
    res = fit_of(formula, data, boosted("no_interactions"), pi.Holdout(0.5), **options)
    chosen = res.refits[0].predictor.estimator.interaction_cst
    assert chosen == ("no_interactions" if options else [{0, 1}])


def test_every_way_to_train_has_the_same_sets():
    estimator = boosted("no_interactions")
    learner = pi.Learner.from_formula("y ~ x + g + h", DATA, estimator)
    sets = [{0, 1, 2, 3}, {4, 5, 6}, {7}]
    by_hand = pi.Learner.from_formula("y ~ x + g + h", DATA, boosted(sets))
    assert sorted(
        map(
            sorted, learner.fit_model(seed=1).analysis.refits[0].predictor.estimator.interaction_cst
        )
    ) == [*map(sorted, sets)]
    one, other = (each.fit(pi.Subsampling(3), seed=1) for each in (learner, by_hand))
    assert_allclose(one.pfi().params, other.pfi().params, rtol=0, atol=0)
    assert (one.loco("x").params > 0).all()


@pytest.mark.parametrize("constrained", [boosted("no_interactions"), boosted(max_depth=1)])
def test_comparisons_with_as_many_trees_have_a_note(constrained):
    free, few = fitted(boosted()), fitted(constrained)
    assert SAID in words_of(pi.compare(free, few))
    assert SAID in words_of(pi.compare(few, free))
    assert SAID not in words_of(pi.compare(free, fitted(boosted(max_depth=3))))
    assert SAID not in words_of(pi.compare(few, few))


def test_comparisons_with_more_trees_have_none():
    more = fitted(boosted("no_interactions", trees=60))
    assert SAID not in words_of(pi.compare(fitted(boosted()), more))


def test_other_boosters_have_the_note_too():
    lgb = pytest.importorskip("lightgbm")
    free = lgb.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1)
    sets = lgb.LGBMRegressor(
        n_estimators=5, n_jobs=1, verbose=-1, interaction_constraints=[[0], [1, 2, 3]]
    )
    one, other = (fitted(each, "y ~ x + g") for each in (free, sets))
    assert SAID in words_of(pi.compare(one, other))
