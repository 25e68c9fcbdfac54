"""Samplers: the laws that they learn, and what they can't draw."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.preprocessing import StandardScaler

import pyinterp as pi
from pyinterp import samplers
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError
from pyinterp.samplers import LearningRows, Target, choose_sampler
from pyinterp.samplers import sampler as sampler_module
from pyinterp.samplers.learners import PENALTIES, regressions
from pyinterp.samplers.sampler import Covariates


def sample(frame, clusters=None):
    rows = np.arange(len(frame))
    return Sample(variables=frame, y=None, response=None, rows=rows, clusters=clusters)


def learned(sampler, variables, frame, *, train=0, seed=0):
    """Learn from the first `train` rows for the others; 0: cross-validate in all rows."""
    every = sample(frame)
    evaluation = every.take(np.arange(train, len(frame)))
    rows = every.take(np.arange(train)) if train else None
    covariates = Covariates(evaluation, rows, every)
    return sampler.learn(LearningRows(tuple(variables), covariates, seed=seed))


def gaussian(n, seed=1):
    """x given z has mean z1 - z2/2 and variance 1/4."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    x = z @ [1.0, -0.5] + rng.normal(size=n) / 2
    return pd.DataFrame({"x": x, "z1": z[:, 0], "z2": z[:, 1]})


def chosen(sampler, frame, *variables, discrete=False):
    return choose_sampler(sampler, Target(variables[0], variables, discrete), frame)


def joined(draws, name):
    """Return rows and their values, one per draw."""
    rows = np.concatenate([np.repeat(d.rows, d.positions.shape[1]) for d in draws])
    values = np.concatenate([d.frame[name].to_numpy()[d.positions.ravel()] for d in draws])
    return rows, values


class TestResidual:
    def test_draws_are_the_prediction_plus_every_other_rows_residual(self):
        data = gaussian(60)
        law = learned(samplers.Residual(LinearRegression()), ["x"], data, train=30)
        fitted = LinearRegression().fit(data[["z1", "z2"]][:30].to_numpy(), data["x"][:30])
        center = fitted.predict(data[["z1", "z2"]][30:].to_numpy())
        residual = data["x"][30:].to_numpy() - center
        rows, values = joined(list(law.all()), "x")
        for i in range(30):
            expected = center[i] + np.delete(residual, i)
            assert_allclose(np.sort(values[rows == i]), np.sort(expected))
        assert law.size == 29
        assert_allclose(law.squared_residuals, residual**2)

    def test_donors_are_the_rows_that_residuals_come_from(self):
        law = learned(samplers.Residual(LinearRegression()), ["x"], gaussian(50), train=30)
        some = [*law.some(6, np.random.default_rng(0))]
        for draws in (*law.all(), *some):
            assert (draws.donors != draws.rows[:, None]).all()
            values = draws.frame["x"].to_numpy()[draws.positions]
            residual = values - law.prediction[draws.rows][:, None]
            own = np.sqrt(law.squared_residuals)[draws.donors]
            assert_allclose(np.abs(residual), own, atol=1e-12)
        (draws,) = some
        assert (np.bincount(draws.donors.ravel()) == 6).all()  # balanced permutations

    def test_the_law_is_that_of_the_process(self):
        """Mean and variance of draws given z, to 4 standard errors."""
        n = 4000
        data = gaussian(2 * n)
        law = learned(samplers.Residual(), ["x"], data, train=n)
        (draws,) = law.some(20, np.random.default_rng(0))
        values = draws.frame["x"].to_numpy()[draws.positions]
        apart = values - data[["z1", "z2"]][n:].to_numpy() @ np.array([[1.0], [-0.5]])
        assert abs(apart.mean()) < 4 * 0.5 * np.sqrt(2 / n)
        assert abs(apart.var() - 0.25) < 4 * 0.25 * np.sqrt(2 / n) + 0.01
        # What is left does not depend on z.
        assert abs(np.corrcoef(apart[:, 0], data["z1"][n:])[0, 1]) < 4 / np.sqrt(n)

    def test_groups_take_all_residuals_from_one_row(self):
        data = gaussian(80)
        law = learned(samplers.Residual(LinearRegression()), ["x", "z1"], data, train=40)
        center = np.column_stack(
            [
                LinearRegression().fit(data[["z2"]][:40].to_numpy(), data[v][:40]).predict(
                    data[["z2"]][40:].to_numpy()
                )
                for v in ("x", "z1")
            ]
        )  # fmt: skip
        residual = data[["x", "z1"]][40:].to_numpy() - center
        (draws,) = law.some(3, np.random.default_rng(0))
        values = draws.frame.to_numpy()[draws.positions]
        assert_allclose(values - center[:, None], residual[draws.donors])
        assert law.squared_residuals is None

    def test_without_other_variables_it_is_the_marginal_law(self):
        data = gaussian(60)[["x"]]
        rows, values = joined(list(learned(samplers.Residual(), ["x"], data, train=30).all()), "x")
        for i in range(30):
            others = np.delete(data["x"][30:].to_numpy(), i)
            assert_allclose(np.sort(values[rows == i]), np.sort(others))

    def test_draws_can_be_kept_within_the_range(self):
        data = gaussian(60)
        law = learned(samplers.Residual(within_range=True), ["x"], data, train=30)
        _, values = joined(list(law.all()), "x")
        assert data["x"].min() <= values.min()
        assert values.max() <= data["x"].max()

    def test_training_rows_unknown_means_cross_validation(self):
        """A learner that remembers its rows would leave no residuals."""
        data = gaussian(60)
        law = learned(samplers.Residual(), ["x"], data)
        assert len(law.squared_residuals) == 60
        assert law.squared_residuals.mean() > 0.1

    def test_copies_of_a_training_row_count_once(self):
        every = sample(gaussian(60))
        evaluation = every.take(np.arange(40, 60))
        laws = [
            samplers.Residual().learn(
                LearningRows(("x",), Covariates(evaluation, every.take(rows), every))
            )
            for rows in (np.arange(40), np.repeat(np.arange(40), 3))
        ]
        assert_array_equal(laws[0].squared_residuals, laws[1].squared_residuals)


def treated(n, seed=1):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    level = (rng.random(n) < special.expit(z)).astype(int) + (rng.random(n) < 0.3)
    return pd.DataFrame({"g": pd.Categorical(np.array(["a", "b", "c"])[level]), "z": z})


class TestCategorical:
    def test_every_level_is_drawn_with_its_probability(self):
        data = treated(200)
        law = learned(samplers.Categorical(LogisticRegression()), ["g"], data, train=100)
        (draws,) = law.all()
        labels = draws.frame["g"].to_numpy()[draws.positions[0]]
        model = LogisticRegression().fit(data[["z"]][:100].to_numpy(), data["g"][:100])
        expected = model.predict_proba(data[["z"]][100:].to_numpy())
        order = [list(model.classes_).index(label) for label in labels]
        assert_allclose(draws.weights, expected[:, order], atol=1e-3)
        assert draws.frame["g"].dtype == data["g"].dtype
        assert_allclose(draws.weights.sum(axis=1), 1)

    def test_the_default_learns_probabilities(self):
        data = treated(8000)
        law = learned(samplers.Categorical(), ["g"], data, train=4000)
        (draws,) = law.all()
        p = special.expit(data["z"][4000:].to_numpy())
        true = {"a": (1 - p) * 0.7, "b": (1 - p) * 0.3 + p * 0.7, "c": p * 0.3}
        for k, label in enumerate(draws.frame["g"]):
            # Less than 1% of the variance that R²_j divides by.
            error = np.mean((draws.weights[:, k] - true[label]) ** 2)
            assert error < 0.01 * true[label].mean() * (1 - true[label].mean())

    def test_a_level_that_no_training_row_has_is_never_drawn(self):
        data = treated(100)
        data.loc[:59, "g"] = np.where(data["g"][:60] == "c", "b", data["g"][:60])
        law = learned(samplers.Categorical(), ["g"], data, train=60)
        (draws,) = law.all()
        level = draws.frame["g"].tolist().index("c")
        assert (draws.weights[:, level] == 0).all()

    def test_one_level_only(self):
        data = pd.DataFrame({"x": ["a"] * 60, "z": np.arange(60.0)})
        (draws,) = learned(samplers.Categorical(), ["x"], data, train=30).all()
        assert_array_equal(draws.weights, 1.0)


class TestSubgroup:
    def test_rows_of_a_leaf_exchange_values(self):
        data = gaussian(300)
        law = learned(samplers.Subgroup(), ["x"], data, train=200)
        seen = {}
        for draws in law.all():
            for row, donors in zip(draws.rows, draws.donors, strict=True):
                seen.setdefault(int(row), set()).update(donors.tolist())
                values = draws.frame["x"].to_numpy()[draws.positions[draws.rows == row][0]]
                assert_array_equal(values, data["x"][200:].to_numpy()[donors])
        for row, donors in seen.items():
            members = set(np.flatnonzero(law.strata == law.strata[row]).tolist())
            assert donors == members - {row}
        for draws in law.some(3, np.random.default_rng(0)):
            assert (law.strata[draws.donors] == law.strata[draws.rows][:, None]).all()

    def test_small_leaves_are_joined(self):
        """Values of independent variables are exchanged freely, however few rows evaluate."""
        data = gaussian(220).assign(x=np.random.default_rng(0).normal(size=220))
        law = learned(samplers.Subgroup(leaf=5), ["x"], data, train=200)
        assert len(np.unique(law.strata)) > 1
        whole = learned(samplers.Subgroup(), ["x"], data, train=212)
        assert len(whole.strata) == 8
        assert min(np.bincount(one.strata).min() for one in (law, whole)) >= 5

    @pytest.mark.parametrize(("least", "train"), [(2, 50), (10, 0)])
    def test_least_number_of_rows_is_that_of_the_docs(self, least, train):
        law = learned(samplers.Subgroup(), ["x"], gaussian(train + least), train=train)
        assert np.bincount(law.strata).min() == 2
        with pytest.raises(OptionError, match="at least 2 of them per subgroup"):
            learned(samplers.Subgroup(), ["x"], gaussian(train + least - 1), train=train)

    def test_leaves_of_different_folds_are_different_subgroups(self):
        law = learned(samplers.Subgroup(), ["x"], gaussian(300))
        assert len(np.unique(law.strata)) > 5

    def test_groups_of_numbers_and_categories(self):
        data = treated(200).assign(w=lambda d: d["z"] ** 2)
        law = learned(samplers.Subgroup(), ["g", "w"], data, train=100)
        draws = next(iter(law.all()))
        assert list(draws.frame) == ["g", "w"]
        assert draws.frame["g"].dtype == data["g"].dtype


def wide(n, seed=3):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(n, 50)), columns=[f"w{k}" for k in range(50)])


def knockoffs(data, target, train=0):
    """Two draws of every row after the first `train` (by default half) rows, which are learned."""
    law = learned(samplers.Knockoff(), target, data, train=train or len(data) // 2)
    return next(iter(law.some(2, np.random.default_rng(0)))).frame.to_numpy()


DUMMIES = ["d0", "d1", "d2"]


class TestKnockoff:
    def test_second_moments_are_those_of_the_features(self):
        """(X~_j, X_-j) has the covariance of X; Cov(X_j, X~_j) = V(X_j) - s_j."""
        n = 20_000
        data = gaussian(n)
        values = knockoffs(data, ["x"])[::2, 0]
        rest = data.iloc[n // 2 :]
        cov = np.cov(np.column_stack([values, rest[["z1", "z2"]]]), rowvar=False)
        true = np.array([[1.5, 1.0, -0.5], [1.0, 1.0, 0.0], [-0.5, 0.0, 1.0]])
        assert np.abs(cov - true).max() < 4 * 1.5 * np.sqrt(2 / (n / 2))
        s = min(1.0, 2 * np.linalg.eigvalsh(rest.corr())[0]) * rest["x"].var()
        assert np.cov(values, rest["x"])[0, 1] == pytest.approx(1.5 - s, abs=0.06)

    def test_draws_have_no_end_and_are_numbers(self):
        law = learned(samplers.Knockoff(), ["x"], gaussian(100), train=50)
        with pytest.raises(OptionError, match="no end of draws"):
            law.all()
        with pytest.raises(OptionError, match="numbers only, but `g` is a category"):
            chosen("knockoff", treated(20), "z")

    @pytest.mark.parametrize("n", [100, 14])
    @pytest.mark.parametrize("target", [["x"], ["x", "z1"]])
    @pytest.mark.parametrize(
        ("units", "shifts"),
        [
            ([1e-3, 1, 1], 0),
            ([1, 1e6, 1], 0),
            ([1e-12, 1, 1e12], [0, 5, 0]),
            ([1e12, 1e-12, 1], [1e12, 0, 0]),
            ([1e200, 1, 1e-200], 0),
            ([3, 1, 60], 1e9),
        ],
    )
    def test_units_and_shifts_change_nothing(self, n, target, units, shifts):
        """Whole numbers, which stay exact; of few rows correlations are shrunk."""
        whole = (1000 * gaussian(n)).round()
        draws = knockoffs(whole, target)
        moved = knockoffs(whole * units + shifts, target)
        k = len(target)
        back = (moved - (np.zeros(3) + shifts)[:k]) / units[:k]
        assert_allclose(back, draws, rtol=1e-8, atol=1e-8 * 1000)

    @pytest.mark.parametrize("k", [0.0, 0.1, 1e9 + 0.1])
    def test_a_constant_draws_itself_and_changes_no_other(self, k):
        data = gaussian(60)
        constant = data.assign(k=k)
        assert (knockoffs(constant, ["k"]) == k).all()
        chosen("knockoff", constant, "k")
        assert_allclose(knockoffs(constant, ["x"]), knockoffs(data, ["x"]), rtol=1e-9)
        draws = knockoffs(constant, ["k", "x"])
        assert (draws[:, 0] == k).all()
        assert np.std(draws[:, 1] - np.repeat(data["x"].to_numpy()[30:], 2)) > 0.3

    def test_a_value_that_no_training_row_has_changes_no_other(self):
        data = gaussian(60).assign(k=3.0)
        rare = data.assign(k=np.where(np.arange(60) == 55, 4e12, 3.0))
        assert_allclose(knockoffs(rare, ["x"]), knockoffs(data, ["x"]), rtol=1e-9)
        assert_array_equal(knockoffs(rare, ["k"])[:, 0], np.repeat(rare["k"][30:], 2))

    DETERMINED = (
        ("copy", lambda d: d.assign(copy=d["z1"]), "z1"),
        ("total", lambda d: wide(len(d)).assign(total=lambda w: w.sum(axis=1)), ".* and 42 more"),
        ("copy", lambda d: wide(len(d) // 5).assign(copy=lambda w: 3 - w["w7"]), "w7"),
        ("d0", lambda d: pd.DataFrame(np.eye(3)[np.arange(len(d)) % 3], columns=DUMMIES), "d., d."),
        ("gap", lambda d: d.assign(a=d["z1"] + 1e-3 * d["x"], gap=d["x"])[["z1", "a", "gap"]],
         "z1, a"),
    )  # fmt: skip

    @pytest.mark.parametrize(("name", "make", "by"), DETERMINED)
    def test_a_feature_that_others_determine_is_refused(self, name, make, by):
        with pytest.raises(OptionError, match=f"`{name}` is a linear function of {by}; use `sam"):
            chosen("knockoff", make(gaussian(100)), name)

    @pytest.mark.parametrize("n", [6, 10, 29, 31, 32, 40])
    def test_few_rows_determine_nothing(self, n):
        for seed in range(20):
            data = wide(n, seed)[[f"w{k}" for k in range(30)]]
            chosen("knockoff", data, "w0")
            draws, own = knockoffs(data, ["w0"], train=n - 3), np.repeat(data["w0"][-3:], 2)
            assert np.isfinite(draws).all()
            assert (np.abs(draws[:, 0] - own) > 1e-3).all()

    def test_others_that_determine_each_other_do_no_harm(self):
        """E (X~ - X)² is 2 s; s is of the smallest eigenvalue above 0."""
        n = 20_000
        data = gaussian(n)[["x", "z1"]].assign(copy=lambda d: 5 - 60 * d["z1"])
        values = knockoffs(data, ["x"])[::2, 0]
        x, z = data["x"][n // 2 :], data["z1"][n // 2 :]
        s = 2 * np.sort(np.linalg.eigvalsh(data.corr()))[1] * 1.5
        assert np.mean((values - x) ** 2) == pytest.approx(2 * s, rel=4 * np.sqrt(2 / len(x)))
        true = [[1.5, 1.0], [1.0, 1.0]]
        assert np.abs(np.cov(values, z) - true).max() < 4 * 1.5 * np.sqrt(2 / len(x))

    def test_others_that_determine_each_other_in_few_rows(self):
        """Three indicators say the same as two, also where correlations are shrunk."""
        data = gaussian(60).assign(
            **dict(zip(DUMMIES, np.eye(3)[np.arange(60) % 3].T, strict=True))
        )
        all_three, two = (
            knockoffs(frame, ["x"])[:, 0] - np.repeat(data["x"].to_numpy()[30:], 2)
            for frame in (data, data.drop(columns="d2"))
        )
        assert np.var(all_three) == pytest.approx(np.var(two), rel=0.5)

    def test_a_near_copy_stays_near(self):
        """Shrunken correlations would draw what lies 0.1 s.d. away."""
        data = gaussian(300)
        near = data.assign(near=data["z1"] + 1e-3 * np.random.default_rng(2).normal(size=300))
        draws = knockoffs(near, ["near"], train=150)
        own = np.repeat(near["near"].to_numpy()[150:], 2)
        assert 0.1 * 1e-6 < np.mean((draws[:, 0] - own) ** 2) < 4 * 1e-6

    def test_importance_of_a_linear_effect_is_twice_its_square_times_s(self):
        data = gaussian(4000)
        model = pi.FittedModel(lambda rows: 3 * rows["x"].to_numpy(), data, 3 * data["x"], seed=1)
        s = min(1.0, 2 * np.linalg.eigvalsh(data.corr())[0]) * data["x"].var(ddof=0)
        found = model.pfi("x", sampler="knockoff", permutations=30)
        assert found.params["x"] == pytest.approx(18 * s, rel=4 * np.sqrt(2 / 4000))
        assert found.params["x"] > 18 * 0.25  # more than with independent draws, V(x | z) = 1/4


class TestChoice:
    frame = treated(100).assign(
        binary=lambda d: (d["z"] > 0).astype(int), flag=lambda d: d["z"] > 1, w=lambda d: d["z"]
    )

    @pytest.mark.parametrize(
        ("sampler", "variables", "kind"),
        [
            ("conditional", ["z"], samplers.Residual),
            ("conditional", ["g"], samplers.Categorical),
            ("conditional", ["binary"], samplers.Categorical),
            ("conditional", ["flag"], samplers.Categorical),
            ("conditional", ["z", "w"], samplers.Residual),
            ("conditional", ["z", "g"], samplers.Subgroup),
            ({"z": "subgroup"}, ["z"], samplers.Subgroup),
            ({"z": "subgroup"}, ["w"], samplers.Residual),
        ],
    )
    def test_which_sampler_suits_a_feature(self, sampler, variables, kind):
        assert chosen(sampler, self.frame, *variables) == kind()

    def test_numbers_that_the_user_calls_discrete_are_categories(self):
        frame = self.frame.assign(z=self.frame["z"].round())
        assert isinstance(chosen("conditional", frame, "z", discrete=True), samplers.Categorical)

    @pytest.mark.parametrize(
        ("sampler", "variables", "said"),
        [
            ("residual", ["g"], r'`g` is a category; use `sampler=\{"g": "categ'),
            ("categorical", ["z"], "is a number with 100"),
            ("categorical", ["g", "z"], 'group; use `sampler="subgroup"`'),
            ("resdiual", ["z"], "`sampler` must be"),
        ],
    )
    def test_refusals_say_what_to_do(self, sampler, variables, said):
        with pytest.raises(OptionError, match=said):
            chosen(sampler, self.frame, *variables)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [30, 60_000])
def test_one_gram_matrix_gives_the_ridge_regressions_of_scikit_learn(n, weighted):
    """Every column on all others: a near copy, a constant, small units and far away."""
    rng = np.random.default_rng(n)
    columns = rng.normal(size=(n, 6)) @ rng.normal(size=(6, 6)) * [1, 1e-3, 1, 1, 100, 1] + 5
    columns[:, 2], columns[:, 3] = columns[:, 0] + 0.01 * columns[:, 2], 0.1
    weights = rng.uniform(0.2, 3, n) if weighted else None
    center, coefficients = regressions(columns, weights)
    for j in range(6):
        others, target = np.delete(columns, j, axis=1), columns[:, j]
        scaled = StandardScaler().fit_transform(others)
        expected = RidgeCV(PENALTIES).fit(scaled, target, weights).predict(scaled)
        found = center[j] + (columns - center) @ coefficients[:, j]
        assert_allclose(found, expected, rtol=0, atol=1e-10 * max(1, np.std(target)))
        assert coefficients[j, j] == 0


def test_missing_values_are_means_for_the_linear_learner():
    data = gaussian(100)
    gap, mean = data.copy(), data.copy()
    gap.loc[99, "z1"], mean.loc[99, "z1"] = np.nan, data["z1"][:80].mean()
    laws = [learned(samplers.Residual(), ["x"], frame, train=80) for frame in (gap, mean)]
    assert_allclose(laws[0].prediction, laws[1].prediction, atol=1e-10)


class TestChoiceOfLearner:
    """Trees are trained where the linear model's errors, of all rows, are clearly larger."""

    @staticmethod
    def fitted(curved, **options):
        rng = np.random.default_rng(5)
        z = rng.normal(size=(240, 2))
        x = (z[:, 0] ** 2 if curved else z[:, 0]) + rng.normal(size=240) / 2
        data = pd.DataFrame({"x": x, "z": z[:, 0], "w": z[:, 1], "y": x + rng.normal(size=240)})
        data["g"] = pd.Categorical(np.where(x + rng.normal(size=240) / 4 > 0.6, "a", "b"))
        return fit_of(
            "y ~ x + z + w + g",
            data,
            LinearRegression(),
            pi.Subsampling(4),
            progress=False,
            **options,
        )

    def test_dependence_that_only_trees_find_is_found(self):
        straight, curved = (self.fitted(c).positivity("x").params["x"] for c in (False, True))
        assert straight > 0.7
        assert curved > 0.4

    def test_tables_do_not_depend_on_jobs_or_on_what_is_kept(self):
        tables = []
        for options in ({}, {"n_jobs": 2}, {"keep_models": False, "measure": "cvim"}):
            sampler_module._CHOICES.clear()
            tables.append(self.fitted(True, **options).cvim().params)
        for other in tables[1:]:
            pd.testing.assert_series_equal(other, tables[0], check_exact=True)
