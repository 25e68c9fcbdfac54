"""Plots: the built layers hold the numbers of summary_frame, and nothing warns."""

from contextlib import nullcontext
from copy import deepcopy
from dataclasses import replace
from functools import partial

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from plotnine import ggplot, theme_minimal
from shared import normal_rows
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression, Ridge

import pyinterp as pi
from pyinterp.simulation.coverage_results import CoverageResults

mpl.use("Agg")


@pytest.fixture(scope="module")
def fitted():
    return fit(LinearRegression())


@pytest.fixture(scope="module")
def other():
    return fit(BayesianRidge())


def fit(estimator):
    rng, frame = normal_rows(90, "a b", 3)
    frame["g"] = pd.Categorical(rng.choice(["u", "v", "w"], 90))
    frame["still"] = 0.0
    frame["y"] = frame["a"] + rng.normal(size=90)
    return pi.Learner.from_formula("y ~ .", frame, estimator).fit(pi.Bootstrap(5), seed=1)


def layers(plot):
    """Draw the plot and return the data that each layer was built to show, by geom."""
    assert plot.draw() is not None
    built = deepcopy(plot)
    # As plotnine does before it builds.
    old = pd.__version__ < "3"
    with pd.option_context("mode.copy_on_write", True) if old else nullcontext():
        built._build()
    return {type(layer.geom).__name__: layer.data for layer in built.layers}


def test_importance_is_sorted_points_with_intervals_and_a_line_at_0(fitted):
    result = fitted.pfi()
    plot = result.plot()
    assert plot.labels.y == "PFI (squared error) [y²]"
    drawn = layers(plot)
    assert list(drawn) == ["geom_hline", "geom_linerange", "geom_point"]
    order = list(plot.data["term"].cat.categories)
    assert order == result.params.sort_values().index.tolist()
    bars, limits = drawn["geom_linerange"], result.conf_int().dropna()
    assert "still" not in limits.index  # no interval, no bar
    assert_allclose(sorted(bars["ymin"]), sorted(limits[0]))
    assert_allclose(sorted(bars["ymax"]), sorted(limits[1]))
    assert_allclose(drawn["geom_point"].sort_values("x")["y"], sorted(result.params))
    assert "95% intervals (corrected)" in plot.labels.caption.replace("\n", " ")


@pytest.mark.parametrize("relation", ["difference", "ratio"])
def test_hypotheses_are_drawn_in_the_order_of_their_table(fitted, relation):
    result = fitted.pd("a", grid=[3, 4, 5]).differences(relation=relation)
    drawn, table = layers(plot := result.plot(0.1)), result.summary_frame(alpha=0.1)
    places = [plot.scales[0].limits.index(name) for name in table.index]
    assert places == [1, 0]
    scale = np.log10 if relation == "ratio" else np.asarray
    lines, limits = drawn["geom_linerange"], table[["conf_low", "conf_high"]]
    assert_allclose(lines[["ymin", "ymax"]].sort_index(), scale(limits))
    assert set(drawn["geom_hline"]["yintercept"]) == {0}


def test_features_are_in_the_order_of_the_data_if_not_sorted(fitted):
    order = fitted.pfi().plot(sort=False).data["term"].cat.categories
    assert list(order) == ["still", "g", "b", "a"]  # from the bottom
    with pytest.raises(pi.errors.OptionError, match="`sort` must be True or False"):
        fitted.pfi().plot(sort="no")


def test_terms_without_an_estimate_keep_an_empty_line_at_the_bottom():
    """A group has no R² on the others: its name is there, its point is not, and nothing warns."""
    _, frame = normal_rows(60, "a b c y", 3)
    learner = pi.Learner.from_formula(
        "y ~ .", frame, LinearRegression(), groups={"both": ["a", "b"]}
    )
    result = learner.fit(pi.Bootstrap(5), seed=1).positivity(["both", "c"])
    assert result.params.isna()["both"]
    plot = result.plot()
    assert list(layers(plot)["geom_point"]["y"]) == [result.params["c"]]
    (axis,) = (scale for scale in plot.scales if "x" in scale.aesthetics)
    assert axis.limits == ["both", "c"]


def test_curve_has_band_line_and_rug(fitted):
    result = fitted.pd("a", points=7)
    plot = result.plot(alpha=0.2)
    drawn = layers(plot)
    assert list(drawn) == ["geom_ribbon", "geom_line", "geom_rug", "geom_point"]
    assert_allclose(drawn["geom_ribbon"]["ymin"], result.conf_int(0.2)[0])
    assert_allclose(drawn["geom_line"]["y"], result.params)
    assert len(drawn["geom_rug"]) == 90
    assert plot.labels.x == "a"
    assert "80% pointwise" in plot.labels.caption.replace("\n", " ")


def test_ice_adds_a_thin_line_per_row(fitted):
    result = fitted.pd("a", kind="ice", points=4)
    built = deepcopy(result.plot())
    built._build()
    rows = result.row_frame()
    thin = built.layers[0].data
    assert thin["group"].nunique() == len(rows)
    assert_allclose(np.sort(thin["y"]), np.sort(rows.to_numpy(), axis=None))


def test_levels_are_points_with_bars(fitted):
    plot = fitted.pd("g").plot()
    assert list(layers(plot)) == ["geom_linerange", "geom_point"]
    assert list(plot.data["value"].cat.categories) == ["u", "v", "w"]


def test_a_number_and_a_category_have_a_curve_per_level(fitted):
    result = fitted.pd(("a", "g"), points=3)
    plot = result.plot()
    drawn = layers(plot)
    assert list(drawn) == ["geom_ribbon", "geom_line", "geom_point", "geom_rug"]
    assert_allclose(np.sort(drawn["geom_line"]["y"]), np.sort(result.params))
    assert drawn["geom_line"]["group"].nunique() == 3
    assert (plot.labels.x, plot.labels.color) == ("a", "g")
    assert "intervals" in plot.labels.caption
    tiles = result.plot(geom="tiles")
    assert list(layers(tiles)) == ["geom_rect"]
    assert len(tiles.data) == 9
    assert "intervals" not in tiles.labels.caption


def test_tiles_end_halfway_between_grid_points(fitted):
    points = pd.DataFrame({"a": [1.0, 4.0, 0.0, 1.0], "b": [0.0, 0.0, 1.0, 1.0]})
    data = fitted.pd(("a", "b"), grid=points).plot().data  # as in a hull
    edges = data[["xmin", "xmax"]].drop_duplicates().sort_values("xmin")
    assert edges.to_dict("list") == {"xmin": [0.0, 0.5, 2.5], "xmax": [0.5, 2.5, 4.0]}
    assert sorted(data["ymin"].unique()) == [0.0, 0.5]


def many_levels(ordered=False):
    rng = np.random.default_rng(1)
    names = [f"Region {k:02d}" for k in range(28)]
    g = pd.Categorical(np.tile(names, 8), names, ordered=ordered)
    frame = pd.DataFrame({"g": g, "z": rng.normal(size=224)})
    frame["y"] = frame["g"].cat.codes % 5 + rng.normal(size=224)
    learner = pi.Learner.from_formula("y ~ g + z", frame, LinearRegression())
    return learner.fit(pi.Subsampling(3, strata="g"), seed=1).pd("g")


def test_many_levels_have_a_line_each_sorted_by_estimate():
    result = many_levels()
    plot = result.plot()
    assert type(plot.coordinates).__name__ == "coord_flip"
    order = plot.data["value"].cat.categories.tolist()
    assert order == result.estimand.terms.layout["value"].iloc[np.argsort(result.params)].tolist()
    assert plot.theme.getp("figure_size")[1] > 6
    in_data = [f"Region {k:02d}" for k in range(28)][::-1]
    assert result.plot(sort=False).data["value"].cat.categories.tolist() == in_data
    assert many_levels(ordered=True).plot().data["value"].cat.categories.tolist() == in_data


@pytest.fixture(scope="module")
def city():
    """Return a model with a category of 28 levels, one of 3 and a number."""
    names = [f"Region number {k:02d}" for k in range(28)]
    frame = pd.DataFrame({"g": np.tile(names, 9), "k": np.repeat(list("abc"), 84)})
    frame["x"] = np.random.default_rng(0).normal(size=252)

    def predict(X):
        return X["x"].to_numpy() + X["g"].str[-2:].astype(int).to_numpy() % 5

    return pi.FittedModel(predict, frame, predict(frame))


@pytest.mark.parametrize("pair", [["g", "k"], ["k", "g"], ["g", "x"], ["x", "g"]])
def test_many_levels_are_on_the_vertical_axis_of_tiles(city, pair):
    result = city.pd(pair, **({"points": 3} if "x" in pair else {}))
    plot = result.plot()
    assert plot.labels.y == "g"
    (axis,) = (scale for scale in plot.scales if "y" in scale.aesthetics)
    assert len(axis.labels) == len(axis.breaks) == 28
    column = result.estimand.terms.axes[pair.index("g")]
    means = plot.data.groupby("ymin").agg(level=(column, "first"), mean=("estimate", "mean"))
    assert (np.diff(means["mean"]) > -1e-9).all()  # the largest on top
    assert means["level"].tolist() == axis.labels
    assert plot.theme.getp("figure_size")[1] > 6
    in_data = result.plot(sort=False)
    (axis,) = (scale for scale in in_data.scales if "y" in scale.aesthetics)
    assert axis.labels == [f"Region number {k:02d}" for k in range(28)][::-1]


def test_few_levels_have_curves_and_many_have_tiles(city):
    few, many = city.pd(["x", "k"], points=3), city.pd(["x", "g"], points=3)
    assert "geom_line" in layers(few.plot())
    tiles = many.plot()
    crosses, rows = layers(tiles)["geom_point"], many.data
    ends = tiles.data[["xmin", "xmax", "ymin", "ymax"]].to_numpy()
    level = rows["g"].map({name: k for k, name in enumerate(tiles.scales[1].labels)})
    empty = [
        not (
            rows["x"].between(a, b, inclusive="left" if b < ends.max() else "both")
            & (level == c + 0.5)
        ).any()
        for a, b, c, _ in ends
    ]
    assert len(crosses) == sum(empty) > 0
    curves = many.plot(geom="curves")
    assert layers(curves)["geom_line"]["PANEL"].nunique() == 28
    for plot, words in ((tiles, "no row is in the tile"), (curves, "Dashed: beyond the 1%")):
        assert words in plot.labels.caption.replace("\n", " ")


def test_many_levels_have_a_column_of_their_own_among_all_variables(city):
    grid = city.pd(points=3).plot()
    *beside, tall = grid
    assert type(tall.coordinates).__name__ == "coord_flip"
    assert tall.labels.x == "g"
    assert len(beside) == 1
    assert tall.theme.getp("figure_size")[1] > 6
    grid.draw()


def test_many_levels_of_several_results_have_a_line_each(city):
    result = city.pd("g")
    plot = pi.plot({"one": result, "two": result})
    assert type(plot.coordinates).__name__ == "coord_flip"
    means = plot.data.groupby("value", observed=True)["estimate"].mean()
    assert (np.diff(means) > -1e-9).all()
    plot.draw()


def test_bars_and_forest_plots_have_the_numbers_of_the_table(fitted):
    pfi = fitted.pfi()
    bars = layers(pfi.plot(geom="bars"))["geom_tile"]
    assert_allclose(np.sort(bars["ymax"] - bars["ymin"]), np.sort(pfi.params.abs()))
    assert (np.isclose(bars["ymin"], 0) | np.isclose(bars["ymax"], 0)).all()
    texts = layers(pfi.plot(geom="forest"))["geom_text"]["label"].tolist()
    first = pfi.params.idxmax()
    low, high = pfi.conf_int().loc[first]
    decimals = len(texts[0].partition(" ")[0].partition(".")[2])
    assert texts[0] == f"{pfi.params[first]:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"
    assert texts[-1].endswith("no interval")  # of the feature that is never used
    assert "has no interval" in pfi.plot().labels.caption.replace("\n", " ")


def test_bars_of_ratios_begin_at_1(fitted, other):
    ratio = fitted.pfi(relation="ratio")
    bars = layers(ratio.plot(geom="bars"))["geom_tile"]
    assert (np.isclose(bars["ymin"], 1) | np.isclose(bars["ymax"], 1)).all()
    assert_allclose(np.sort(bars["ymax"] - bars["ymin"]), np.sort(abs(ratio.params - 1)))
    two = layers(pi.plot({"one": ratio, "two": other.pfi(relation="ratio")}))
    assert two["geom_hline"]["yintercept"].unique().tolist() == [1.0]


def test_every_panel_of_measures_has_its_null_value(fitted):
    results = [fitted.pfi(), fitted.pfi(relation="ratio")]
    built = deepcopy(pi.plot(results, model_names=["one", "one"]))
    built._build()
    lines = built.layers[0].data
    assert lines.groupby("PANEL", observed=True)["yintercept"].unique().explode().tolist() == [0, 1]


def test_forest_plots_of_groups_have_a_line_at_0_and_panels_below_each_other(fitted):
    plot = fitted.pfi(["a", "b"], by="g").plot(geom="forest")
    drawn = layers(plot)  # a line beyond the limits is a warning, and so an error
    assert plot.facet.ncol == 1
    assert drawn["geom_hline"]["yintercept"].tolist() == [0.0] * 3
    (axis,) = (scale for scale in plot.scales if "y" in scale.aesthetics)
    texts = drawn["geom_text"]
    assert axis.limits[0] <= 0 < texts["y"].max() < axis.limits[1]
    assert max(axis.breaks) < texts["y"].min()  # no tick below the numbers
    letters = max(map(len, texts["label"]))  # of 8 points, in a figure of 6.4 inches
    share = (axis.limits[1] - texts["y"].max()) / (axis.limits[1] - axis.limits[0])
    assert share * 5.4 > 0.9 * letters * 0.62 * 8 / 72


def test_panels_beside_each_other_have_few_breaks():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": 1000 * rng.normal(size=200), "k": np.arange(200) % 7})
    model = pi.FittedModel(lambda X: X["a"].to_numpy(), frame, frame["a"] + 500)
    plot = model.pfi("a", by="k").plot()
    (scale,) = (scale for scale in plot.scales if "y" in scale.aesthetics)
    assert len(scale.breaks((0, 1000))) <= 3  # 0, 500, 1000
    assert plot.theme.getp("figure_size")[1] > 4.8  # three panels below each other


def test_long_names_are_in_lines_and_many_make_a_figure_higher():
    name = "a rather long name of a variable with many words"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50, 40)), columns=[name, *map(str, range(39))])
    result = pi.FittedModel(lambda X: X[name].to_numpy(), frame, frame["1"]).pfi()
    plot = result.plot()
    (axis,) = (scale for scale in plot.scales if "x" in scale.aesthetics)
    assert axis.labels[name].count("\n") == 1
    assert plot.theme.getp("figure_size")[1] > 10


def test_top_keeps_the_first(fitted):
    pfi = fitted.pfi()
    plot = pfi.plot(top=2)
    assert set(plot.data["term"]) == set(pfi.params.nlargest(2).index)
    assert "2 of 4" in plot.labels.caption
    assert list(pfi.plot(top=2, sort=False).data["term"]) == list(pfi.params.index[:2])
    assert "of 4 terms." not in pfi.plot(top=9).labels.caption


def counts(**columns):
    """Return a linear model of a count with the values 0, 1 and 2, and of other columns."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"k": np.arange(60) % 3, "a": rng.normal(size=60)}).assign(**columns)
    frame["y"] = frame["k"] + frame["a"] + rng.normal(size=60)
    learner = pi.Learner.from_formula("y ~ .", frame, LinearRegression())
    return learner.fit_model(seed=1)


def test_the_few_values_of_a_number_are_points_with_bars():
    model = counts(g=np.tile(list("uvw"), 20), ten=np.tile(range(10), 6), more=np.arange(60) % 11)
    one = model.pd("k").plot()
    drawn = layers(one)
    assert list(drawn) == ["geom_linerange", "geom_point"]
    assert drawn["geom_point"]["x"].tolist() == [0, 1, 2]
    (axis,) = (scale for scale in one.scales if "x" in scale.aesthetics)
    assert axis.breaks == [0, 1, 2]
    for plot in (
        pi.plot({"one": model.pd("k"), "two": model.pd("k")}),
        model.pd(["k", "g"]).plot(),
    ):
        several = layers(plot)
        assert list(several) == ["geom_linerange", "geom_point"]
        places = np.sort(several["geom_point"]["x"].unique())
        assert len(places) in (6, 9)
        # Side by side about their value, and nearer to it than to the next one.
        assert np.unique(places.round()).tolist() == [0, 1, 2]
        assert abs(places - places.round()).max() < 0.4
    assert "geom_line" not in layers(model.pd("ten").plot())
    for curve in (model.pd("more"), model.pd("a"), model.pd("k", grid=[0.0, 0.5, 1.0])):
        assert {"geom_line", "geom_ribbon", "geom_rug"} <= set(layers(curve.plot()))


def test_side_by_side_points_of_many_results_stay_with_their_level(fitted):
    plot = pi.plot([fitted.pd("g")] * 9, model_names=[f"learner {k}" for k in range(9)])
    places = layers(plot)["geom_point"]["x"].to_numpy()
    assert abs(places - places.round()).max() <= 0.4


def every_plot(fitted, other):
    """Return the method of every kind of results that draws."""
    what = {"process": ["linear"], "learner": ["lm"], "n": [60]}
    row = {"plan": ["subs"], "cov_type": ["naive"], "estimand": ["pfi"], "refits": [4]}
    numbers = {"relative_width": [0.9], "coverage": [0.9], "coverage_mcse": [0.1]}
    coverage = CoverageResults(*[pd.DataFrame(what | row | numbers)] * 3)
    return {
        "values": fitted.pfi().plot,
        "curve": fitted.pd("a", points=3).plot,
        "curves": fitted.pd(points=3).plot,
        "tiles": fitted.pd(["a", "b"], points=2).plot,
        "several": partial(pi.plot, [fitted.pfi()]),
        "importance": fitted.importance(measures=["pfi", "firm"]).plot,
        "causal": fitted.causal("g").plot,
        "comparison": pi.compare(fitted.pfi(), other.pfi()).plot,
        "uncertainty": fitted.uncertainty().plot,
        "coverage": coverage.plot,
    }


def parts_of(plot):
    return (
        [plot] if isinstance(plot, ggplot) else [part for some in plot for part in parts_of(some)]
    )


def test_every_plot_has_a_white_ground_and_one_caption_of_short_lines(fitted, other):
    for name, draw in every_plot(other, fitted).items():
        parts = parts_of(draw())
        fills = {part.theme.getp(("panel_background", "facecolor")) for part in parts}
        assert fills == {"white"}, name
        (caption,) = filter(None, (part.labels.get("caption", "") for part in parts))
        wide = parts[0].theme.getp("figure_size")[0] if len(parts) > 1 else 4  # of a journal
        assert max(map(len, caption.split("\n"))) <= 16 * wide


def test_the_caption_of_several_results_has_their_learners(fitted, other):
    three = [fitted.pfi(), other.pfi(cov_type="naive"), fit(Ridge()).pfi()]
    words = pi.plot(three).labels.caption.replace("\n", " ")
    assert "Ridge, 5 refits (bootstrap). 95% intervals (corrected or naive). 3 of 12" in words


def test_classes_are_facets_and_layers_can_be_added():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=90), "y": rng.choice(list("uvw"), 90)})
    res = pi.Learner.from_formula("y ~ a", frame, LogisticRegression()).fit(pi.Bootstrap(3), seed=1)
    plot = res.pd("a", kind="c-ice").plot() + theme_minimal()
    layers(plot)
    assert plot.facet.vars == ["class"]


def test_one_sided_intervals_are_drawn_to_the_estimate(fitted):
    importance, curve = fitted.pfi(alternative="greater"), fitted.pd("a", alternative="less")
    bars, lower = layers(importance.plot())["geom_linerange"], importance.conf_int()[0].dropna()
    assert_allclose(sorted(bars["ymin"]), sorted(lower))
    assert_allclose(sorted(bars["ymax"]), sorted(importance.params[lower.index]))
    band = layers(curve.plot())["geom_ribbon"]
    assert_allclose(band["ymin"], curve.params)
    assert_allclose(band["ymax"], curve.conf_int()[1])


class TestRowsOwnCurves:
    def test_curves_have_the_color_of_a_variable(self, fitted):
        result = fitted.pd("a", kind="ice", grid=[-1.0, 0.0, 1.0])
        plot = result.plot(color="b")
        assert layers(plot)["geom_line"] is not None
        rows = plot.layers[0]._data
        values = fitted.analysis.problem.sample.variables["b"].iloc[np.sort(result.rows)]
        drawn = rows.groupby("row")["color"].first()
        some = np.linspace(0, len(values) - 1, len(drawn)).astype(int)
        assert drawn.tolist() == values.iloc[some].tolist()

    def test_levels_and_the_response_are_colors_too(self, fitted):
        result = fitted.pd("g", kind="ice")
        assert result.plot(color="g").draw() is not None
        assert result.plot(color="y").labels.color == "y"

    def test_levels_have_their_colors_in_their_order_and_marks_at_the_axis_too(self, fitted):
        plot = fitted.pd("a", kind="ice", grid=[-1.0, 1.0]).plot(color="g")
        (colors,) = plot.scales
        assert colors.breaks == ["u", "v", "w"]
        data = fitted.analysis.problem.sample.variables
        (rug,) = (layer._data for layer in plot.layers if "rug" in type(layer.geom).__name__)
        inside = data[data["a"].between(-1, 1)]
        assert rug["color"].tolist() == inside["g"].tolist()
        assert layers(plot)["geom_rug"]["color"].nunique() == 3

    def test_what_has_no_curves_refuses_it(self, fitted):
        with pytest.raises(pi.errors.OptionError, match='kind="ice"'):
            fitted.pfi().plot(color="a")
        with pytest.raises(pi.errors.OptionError, match=r"Can't find variable .* of `color`"):
            fitted.pd("a", kind="ice").plot(color="z")
        with pytest.raises(pi.errors.OptionError, match=r"Can't find variable .* of `color`"):
            fitted.pd("a", kind="ice").plot(color={"a"})


class TestResultsSideBySide:
    def test_learners_have_colors_and_one_measure_has_one_panel(self, fitted, other):
        results = [fitted.pfi(), other.pfi("a")]
        plot = pi.plot(results, model_names=["least squares", "ridge"], alpha=0.1)
        assert plot.labels.y == "PFI (squared error) [y²]"
        assert list(plot.data["term"].cat.categories) == (
            results[0].params.sort_values().index.tolist()
        )
        points = plot.data.groupby("measure", observed=True)["estimate"].apply(list)
        assert points["least squares"] == sorted(results[0].params, reverse=True)
        assert points["ridge"] == [results[1].params["a"]]
        limits = layers(plot)["geom_linerange"]
        assert_allclose(limits["ymin"].min(), min(r.conf_int(0.1)[0].min() for r in results))
        assert "LinearRegression" in plot.labels.caption
        assert "BayesianRidge" in plot.labels.caption

    def test_measures_have_panels_and_learners_the_same_color_in_all(self, fitted, other):
        results = [other.pfi(), fitted.pfi(), other.entropy_pfi()]
        plot = pi.plot(results, model_names=["ridge", "plain", "ridge"], sort=False)
        assert list(plot.data["panel"].cat.categories) == [
            "PFI (squared error) [y²]",
            "entropy-PFI [nats]",
        ]
        assert list(plot.data["term"].cat.categories) == ["still", "g", "b", "a"]
        assert list(plot.data["measure"].cat.categories) == ["plain", "ridge"]
        built = deepcopy(plot)  # a plot with panels and levels warns when plotnine draws it twice
        built._build()
        drawn = built.layers[2].data
        assert drawn.groupby("PANEL", observed=True)["color"].nunique().tolist() == [2, 1]

    def test_the_caption_has_the_names_of_the_legend(self, fitted, other):
        caption = pi.plot({"lm": fitted.pfi(), "ridge": other.pfi()}).labels.caption
        assert "lm: LinearRegression, " in caption
        assert "BayesianRidge, " in caption
        plain = pi.plot([fitted.pfi(), other.pfi()]).labels.caption  # the learners' own names
        assert plain.startswith("LinearRegression, ")
        assert pi.plot({"one": fitted.pfi(), "two": fitted.pfi()}).labels.caption.startswith("Lin")

    def test_learners_without_names_are_numbered(self, fitted):
        names = pi.plot([fitted.pfi(), fitted.pfi("a")]).data["measure"].cat.categories
        assert list(names) == ["LinearRegression (2)", "LinearRegression (1)"]
        assert pi.plot(fitted.pfi()).data["measure"].unique().tolist() == ["LinearRegression"]

    def test_more_learners_than_the_palette_has_colors_differ_all_the_same(self, fitted):
        names = [f"learner {k}" for k in range(8)]
        plot = pi.plot([fitted.pfi("a")] * 8, model_names=names)
        assert layers(plot)["geom_point"]["color"].nunique() == 8

    def test_curves_of_several_results_are_in_one_picture(self, fitted, other):
        one, two = fitted.pd("a", points=4), other.pd("a", points=6)
        plot = pi.plot({"plain": one, "ridge": two}, alpha=0.1)
        lines = layers(plot)["geom_line"]
        assert lines.groupby("group")["y"].count().tolist() == [4, 6]
        assert_allclose(lines.loc[lines["group"] == 1, "y"], one.params)
        bands = layers(plot)["geom_ribbon"]
        assert_allclose(bands["ymin"].min(), min(r.conf_int(0.1)[0].min() for r in (one, two)))
        assert list(plot.data["result"].cat.categories) == ["plain", "ridge"]
        assert "plain: LinearRegression" in plot.labels.caption
        levels = layers(pi.plot([fitted.pd("g"), other.pd("g")]))
        assert list(levels) == ["geom_linerange", "geom_point"]
        assert levels["geom_point"]["x"].nunique() == 6

    def test_top_is_of_the_first_result(self, fitted, other):
        first = fitted.pfi().params.sort_values(ascending=False)
        for top in (1, 2):
            plot = pi.plot({"one": fitted.pfi(), "two": other.pfi()}, top=top)
            assert list(plot.data["term"].cat.categories) == first.index[:top][::-1].tolist()
            assert len(plot.data) == 2 * top
            assert plot.labels.caption.endswith(f" {top} of 4 terms.")
        plain = pi.plot([fitted.pfi(), other.pfi()], sort=False, top=1)
        assert plain.data["term"].unique().tolist() == [fitted.pfi().params.index[0]]
        assert "terms." not in pi.plot(fitted.pfi(), top=9).labels.caption

    def test_what_cant_be_drawn_is_refused(self, fitted):
        pfi = fitted.pfi()
        with pytest.raises(pi.errors.OptionError, match="`top` is for plots of one value per"):
            pi.plot([fitted.pd("a"), fitted.pd("a")], top=2)
        with pytest.raises(pi.errors.OptionError, match="`top` must be a whole number"):
            pi.plot(pfi, top=0)
        with pytest.raises(pi.errors.OptionError, match="one value per feature"):
            pi.plot([fitted.pd("a"), pfi])
        with pytest.raises(pi.errors.OptionError, match="is a surface"):
            pi.plot([fitted.pd(["a", "b"], points=3)])
        with pytest.raises(pi.errors.OptionError, match="curves of the same variable"):
            pi.plot({"one": fitted.pd("a"), "other": fitted.pd("b")})
        with pytest.raises(pi.errors.OptionError, match="There must be 2 names"):
            pi.plot([pfi, pfi], model_names=["one"])
        with pytest.raises(pi.errors.OptionError, match="Names must be different"):
            pi.plot([pfi, pfi], model_names=["one", "one"])
        with pytest.raises(pi.errors.OptionError, match="results of an estimand"):
            pi.plot([fitted])


def test_names_of_features_stand_above_and_below(other):
    plot = other.uncertainty().plot()
    texts = [layer for layer in plot.layers if "text" in type(layer.geom).__name__]
    names = [layer._data["term"].tolist() for layer in texts]
    assert sorted(name for some in names for name in some) == ["a", "b", "g", "still"]
    assert list(map(len, names)) == [2, 2]
    assert plot.draw() is not None


def test_nats_are_on_the_axis_of_a_classifiers_likelihood():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "y": rng.choice(list("uv"), 60)})
    res = pi.Learner.from_formula("y ~ a", frame, LogisticRegression()).fit(pi.Holdout(), seed=1)
    assert res.likelihood_pfi().plot().labels.y.endswith("[nats]")
    assert res.likelihood_pfi(relation="ratio").estimand.words.unit == ""


def test_points_without_an_estimate_are_counted_not_drawn():
    _, frame = normal_rows(60, "x z")
    model = LinearRegression().fit(frame, frame["x"] * frame["z"])
    fitted = pi.FittedModel(model, frame)
    whole, absent = fitted.pd("x", points=6).estimand, 2

    def with_gaps(case):
        rows = whole.measure(case)["curve"].rows
        return {"curve": pi.Estimate.of_rows(np.where(np.arange(6) < absent, np.nan, rows))}

    curve = fitted.estimate(replace(whole, key="gaps", measure=with_gaps))
    plot = curve.plot()
    assert len(layers(plot)["geom_line"]) == 6 - absent
    assert f"{absent} of 6 points have no estimate" in plot.labels.caption.replace("\n", " ")
    plot.draw()
