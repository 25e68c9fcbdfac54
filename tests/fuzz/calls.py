"""Public callables, each with a valid call and the kinds of its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["CALLS", "Call"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Call:
    """A valid call.

    Attributes
    ----------
    name : str
    callee : str
        Expression of what is called.
    kinds : mapping of str to str
        Arguments in order, and the kind of each.
    base : mapping of str to str
        Expressions of the arguments of the valid call; others have their defaults.
    positional : int
        So many arguments are given by position.
    then : str
        What is asked of the value, such as ``.pfi()``.
    """

    name: str
    callee: str
    kinds: Mapping[str, str]
    base: Mapping[str, str] = field(default_factory=dict)
    positional: int = 0
    then: str = ""

    def source(self, arguments: Mapping[str, str]) -> str:
        """Return the call as a Python expression."""
        first = [name for name in list(self.kinds)[: self.positional] if name in arguments]
        written = [arguments[name] for name in first]
        written += [f"{n}={a}" for n, a in arguments.items() if n not in first]
        return f"{self.callee}({', '.join(written)}){self.then}"


READING = {
    "cov_type": "choice",
    "alternative": "choice",
    "p_adjust": "choice",
    "simultaneous": "flag",
}
# Which rows are asked, by a mask or a query; the first have no groups.
ONLY_ROWS = ("importance", "uncertainty", "redundancy", "causal", "population", "compare_targets")
SUBGROUPS = {"rows": "rows", "by": "groups of rows"}
DRAWN = {"permutations": "permutations", "sampler": "sampler"}
CURVES = {
    "grid": "grid",
    "points": "count",
    "kind": "choice",
    "scale": "choice",
    "which_class": "class",
    "average": "choice",
}
METHODS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "pd": (
        {
            "features": "features",
            "together": "flag",
            "of": "choice",
            "sampler": "sampler",
            **CURVES,
        },
        {"features": "'x'", "points": "4"},
    ),
    **{
        name: (
            {"features": "features", **parts, "scale": "choice", "which_class": "class"},
            {"features": "'x'"},
        )
        for name, parts in {
            "ale": {"grid": "grid", "points": "count"},
            "m_plot": {"grid": "grid", "points": "count", "span": "number"},
            "slopes": {"grid": "grid", "points": "count", "step": "number"},
            "ame": {"step": "number", "relation": "choice"},
        }.items()
    },
    "firm": (
        {"features": "features", "spread": "choice", "ice": "flag", **CURVES},
        {"points": "4"},
    ),
    "vint": ({"pairs": "sets", **CURVES}, {"pairs": "[('x', 'z')]", "points": "3"}),
    "h_statistic": (
        {
            "features": "features",
            "order": "choice",
            "normalize": "flag",
            "squared": "flag",
            "most_rows": "count",
            "eps": "positive",
            "scale": "choice",
            "which_class": "class",
        },
        {"most_rows": "10"},
    ),
    "pfi": (
        {
            "features": "features",
            "loss": "loss",
            "metric": "metric",
            "permutations": "permutations",
            "relation": "choice",
            "sampler": "sampler",
        },
        {},
    ),
    "mvim": ({"features": "features", "permutations": "permutations"}, {}),
    "cvim": ({"features": "features", **DRAWN}, {"features": "'x'"}),
    "amvim": ({"features": "features", "method": "choice", **DRAWN}, {"features": "'x'"}),
    "loco": ({"features": "features", "loss": "loss", "relation": "choice"}, {"features": "'x'"}),
    "population": (
        {"features": "features", "sampler": "sampler", "others": "choice"},
        {"features": "'x'"},
    ),
    "compare_targets": (
        {"features": "features", "sampler": "sampler", "others": "choice"},
        {"features": "'x'"},
    ),
    "native_importance": ({"type": "choice"}, {}),
    "estimate": ({"estimand": "estimand"}, {"estimand": "OWN"}),
    "importance": (
        {"measures": "measures", "features": "features", **DRAWN},
        {"measures": "['pfi', 'cvim']"},
    ),
    "loss": ({"loss": "loss", "relation": "choice"}, {}),
    "metric": ({"metric": "metric asked"}, {"metric": "'rmse'"}),
    "positivity": ({"features": "features", "sampler": "sampler"}, {"features": "'x'"}),
    "likelihood_pfi": (
        {"features": "features", "which_class": "class", "relation": "choice", **DRAWN},
        {"features": "'x'"},
    ),
    "entropy_pfi": (
        {"features": "features", "which_class": "class", "relation": "choice", **DRAWN},
        {"features": "'x'"},
    ),
    "uncertainty": ({"features": "features", "alpha": "alpha", **DRAWN}, {"features": "'x'"}),
    "redundancy": ({"features": "features", "sampler": "sampler"}, {"features": "'x'"}),
    "causal": (
        {"feature": "feature", "grid": "grid", "points": "count", **DRAWN},
        {"feature": "'x'", "points": "3"},
    ),
}
SUMMARY = {
    "alpha": "own alpha",
    "sort": "flag",
    "title": "title",
    "notes": "choice",
    "decimals": "decimals",
    "top": "count",
}
PLAIN = {
    "plot_positivity": (
        {"feature": "feature", "sampler": "sampler", "rows": "rows"},
        {"feature": "'x'"},
    ),
    "summary": (SUMMARY, {}),
}
# They train the learner again.
TRAINING = ("loco", "population", "compare_targets")
# They need class probabilities or another distribution.
DISTRIBUTIONAL = ("likelihood_pfi", "entropy_pfi", "uncertainty")
# What is asked, and of what: learners by several plans, fitted models, classifiers.
ASKED = {
    "res": tuple(name for name in METHODS if name not in DISTRIBUTIONAL),
    "fm": tuple(name for name in METHODS if name not in (*TRAINING, *DISTRIBUTIONAL)),
    "clf": ("pd", "pfi", "loss", "firm", "h_statistic", "mvim", "vint", *DISTRIBUTIONAL),
    "three": ("pd", "pfi", "loss"),
    "boot": ("pfi", "pd"),
    "nested": ("pfi",),
    "hold": ("pfi",),
    "tree": ("pfi", "native_importance"),
    "fclf": ("pd", "pfi", "loss"),
    "ftree": ("pd", "h_statistic"),
}
ALPHA = {"alpha": "alpha"}
OWN_ALPHA = {"alpha": "own alpha"}
TABLE = {
    "conf_int": ALPHA,
    "summary": SUMMARY,
    "to": {"target": "table file", "notes": "choice", "caption": "caption", "label": "latex label"},
    "summary_frame": ALPHA,
    "tidy": OWN_ALPHA,
    "to_r": OWN_ALPHA,
    "plot": ALPHA,
    "t_test": {"hypotheses": "hypotheses"},
    "wald_test": {"hypotheses": "hypotheses together"},
    "f_test": {"hypotheses": "hypotheses together"},
    "flat_test": {},
    "differences": {"reference": "group", "relation": "choice"},
    "equality_test": {},
    "ranks": {"largest_first": "flag"},
    "rope_test": {"rope": "positive"},
    "sample_size": {
        "effect": "positive",
        "width": "positive",
        "power": "fraction",
        "alpha": "alpha",
    },
    "glance": {},
    "variance_parts": {},
    "cov_params": {"r_matrix": "contrasts"},
    "row_frame": {},
    "refit_frame": {},
}
OF_A_FIT = ("conf_int", "summary_frame", "tidy", "plot", "t_test", "wald_test")
TABLES = {
    "res": OF_A_FIT,
    "fm": OF_A_FIT,
    "pf": tuple(
        name
        for name in TABLE
        if name not in ("flat_test", "differences", "equality_test", "rope_test")
    ),
    "pfg": ("differences", "equality_test", "summary", "plot"),
    "pfc": ("rope_test",),
    "pf0": ("conf_int", "summary", "t_test"),
    "pdx": ("conf_int", "plot", "summary_frame", "summary", "row_frame", "flat_test"),
    "pdxg": ("plot", "summary"),
    "imp": ("summary", "plot", "summary_frame"),
    "cau": ("summary", "plot"),
}
CURVE = {
    "grid_resolution": "count",
    "quantiles": "flag",
    "probs": "probs",
    "trim_outliers": "flag",
    "chull": "flag",
    "cats": "categories",
    "check_class": "flag",
    "type": "choice",
    "inv_link": "function",
    "which_class": "which",
    "prob": "flag",
}
BASE = {
    "t_test": {"hypotheses": "'x = z'"},
    "wald_test": {"hypotheses": "'x = z'"},
    "f_test": {"hypotheses": "'x = z'"},
    "rope_test": {"rope": "0.1"},
    "sample_size": {"effect": "0.1"},
    "to": {"target": "'latex'"},
}
WEIGHTS = {
    "weights": "weights",
    "weights_type": "choice",
    "offset": "weights",
    "exposure": "weights",
}
SPECIFICATION = {"groups": "groups", "missing": "choice", "subset": "rows", **WEIGHTS}
ENGINE = {"engine": "choice", "memory_mb": "memory"}
BY = {"strata": "by", "cluster": "by"}
PLANS = {
    "Bootstrap": {"refits": "count", **BY},
    "CrossValidation": {"folds": "count", "repeats": "count", **BY},
    "Holdout": {"fraction": "fraction", **BY},
    "Subsampling": {"refits": "count", "fraction": "fraction", **BY},
    "HalfSampling": {"refits": "natural", "pairs": "count", **BY},
    "NestedBootstrap": {
        "bootstraps": "count",
        "splits": "count",
        "fraction": "fraction",
        "split_by": "choice",
        "cluster": "by",
    },
    "NestedCrossValidation": {"folds": "count", "repeats": "count"},
}
SMALL = {
    "Bootstrap": {"refits": "3"},
    "CrossValidation": {"folds": "3"},
    "Subsampling": {"refits": "3"},
    "HalfSampling": {"refits": "2", "pairs": "5"},
    "NestedBootstrap": {"bootstraps": "50", "splits": "2"},
    "NestedCrossValidation": {"folds": "3", "repeats": "2"},
}


def _asked(who: str, method: str) -> dict[str, str]:
    """Return the arguments of a method; samplers are not learned in 120 nested refits."""
    subgroups = {"rows": "rows"} if method in ONLY_ROWS else SUBGROUPS
    kinds = {**METHODS[method][0], **subgroups, **READING, "progress": "progress"}
    without = {"sampler"} if who == "nested" else set()
    if method == "uncertainty":
        without = {"alternative"}
    return {n: k for n, k in kinds.items() if n not in without}


def _methods() -> list[Call]:
    asked = [
        Call(
            name=f"{who}.{method}",
            callee=f"{who}.{method}",
            kinds=_asked(who, method),
            base=METHODS[method][1],
        )
        for who, methods in ASKED.items()
        for method in methods
    ]
    plain = [
        Call(name=f"{who}.{method}", callee=f"{who}.{method}", kinds=kinds, base=base)
        for who in ("res", "fm")
        for method, (kinds, base) in PLAIN.items()
    ]
    return asked + plain


def _tables() -> list[Call]:
    return [
        Call(
            name=f"{who}.{method}",
            callee=f"{who}.{method}",
            kinds=OWN_ALPHA if (who, method) == ("imp", "summary_frame") else TABLE[method],
            base=BASE.get(method, {}),
            positional=1 if method in BASE and method != "sample_size" else 0,
        )
        for who, methods in TABLES.items()
        for method in methods
    ]


def _learners() -> list[Call]:
    formula = {
        "formula": "formula",
        "data": "frame",
        "estimator": "estimator",
        "design": "choice",
        "design_state": "choice",
        "unseen_levels": "choice",
        "trusted": "flag",
        **SPECIFICATION,
    }
    arrays = {"endog": "response", "exog": "variables", "estimator": "estimator", **SPECIFICATION}
    fitted = {
        "fitted": "fitted",
        "X": "evaluation",
        "y": "responses",
        "groups": "groups",
        "cluster": "by",
        "classes": "classes",
        "missing": "choice",
        **WEIGHTS,
        "seed": "seed",
        **ENGINE,
    }
    of_formula = {"formula": "'y ~ x + z + g'", "data": "d", "estimator": "LR"}
    of_arrays = {"endog": "y", "exog": "X", "estimator": "LR"}
    of_fitted = {"fitted": "lin", "X": "X", "y": "y", "seed": "1"}
    loss = ".fit(pi.Bootstrap(3), seed=1).pfi()"
    return [
        Call(
            name="from_formula",
            callee="LF",
            kinds=formula,
            base=of_formula,
            positional=3,
            then=loss,
        ),
        Call(
            name="from_formula, dot",
            callee="LF",
            kinds=formula,
            base={**of_formula, "formula": "'y ~ .'", "design": "'frame'"}
            | {"estimator": "make_pipeline(OneHotEncoder(handle_unknown='ignore'), Ridge())"},
            positional=3,
            then=".fit_model(seed=1).pd('x', points=3)",
        ),
        Call(
            name="from_formula, PD",
            callee="LF",
            kinds={name: formula[name] for name in ("formula", "data", "estimator", "groups")},
            base=of_formula,
            positional=3,
            then=".fit(PLAN, seed=1).pd('x', points=3)",
        ),
        Call(
            name="from_formula, classifier",
            callee="LF",
            kinds={**formula, "data": "frame of classes", "estimator": "classifier"},
            base={"formula": "'c ~ x + z + g'", "data": "d", "estimator": "LOGIT"},
            positional=3,
            then=loss,
        ),
        Call(
            name="Learner",
            callee="pi.Learner",
            kinds=arrays,
            base=of_arrays,
            positional=3,
            then=loss,
        ),
        Call(
            name="Learner, array",
            callee="pi.Learner",
            kinds={**arrays, "endog": "response beside an array"},
            base={**of_arrays, "exog": "A"},
            positional=3,
            then=".fit_model(seed=1).pd('x1', points=3)",
        ),
        Call(
            name="Learner, classifier",
            callee="pi.Learner",
            kinds={**arrays, "estimator": "classifier"},
            base={"endog": "c", "exog": "X", "estimator": "LOGIT"},
            positional=3,
            then=loss,
        ),
        Call(
            name="FittedModel",
            callee="pi.FittedModel",
            kinds=fitted,
            base=of_fitted,
            positional=3,
            then=".pfi()",
        ),
        Call(
            name="FittedModel, PD",
            callee="pi.FittedModel",
            kinds=fitted,
            base=of_fitted,
            positional=3,
            then=".pd('x', points=3)",
        ),
        Call(
            name="FittedModel, classifier",
            callee="pi.FittedModel",
            kinds={**fitted, "fitted": "fitted classifier"},
            base={"fitted": "logit", "X": "X", "y": "c", "seed": "1"},
            positional=3,
            then=".pfi()",
        ),
        Call(
            name="FittedModel, function of classes",
            callee="pi.FittedModel",
            kinds=fitted,
            base={
                "fitted": "logit.predict_proba",
                "X": "X",
                "y": "c",
                "classes": "['no', 'yes']",
                "seed": "1",
            },
            positional=3,
            then=".pfi()",
        ),
        Call(
            name="fit",
            callee="learner.fit",
            kinds={
                "resampling": "plan",
                "seed": "seed",
                "n_jobs": "jobs",
                "reseed": "flag",
                "on_error": "choice",
                **ENGINE,
                "progress": "progress",
            },
            base={"resampling": "pi.Bootstrap(3)", "seed": "1"},
            positional=1,
            then=".pfi()",
        ),
        Call(
            name="fit_model",
            callee="learner.fit_model",
            kinds={"seed": "seed", "reseed": "flag"},
            base={"seed": "1"},
            then=".pfi()",
        ),
        Call(
            name="variables_of",
            callee="learner.variables_of",
            kinds={"data": "variables asked"},
            base={"data": "d"},
            positional=1,
        ),
        *(
            Call(
                name=f"{who}.predict",
                callee=f"{who}.predict",
                kinds={"data": "newdata"},
                base={"data": "d"},
                positional=1,
            )
            for who in ("res", "clf")  # a tree takes missing values
        ),
        Call(
            name="statsmodels_learner",
            callee="(lambda *a, **k: LF('y ~ x + z', d, pi.statsmodels_learner(*a, **k)))",
            kinds={"model": "model", "fit": "fit options", "weights": "by", "family": "choice"},
            base={"model": "sm.GLM"},
            positional=1,
            then=loss,
        ),
    ]


def _plans() -> list[Call]:
    return [
        Call(
            name=name,
            callee=f"(lambda *a, **k: learner.fit(pi.{name}(*a, **k), seed=1))",
            kinds=kinds,
            base=SMALL.get(name, {}),
            then=".pfi()",
        )
        for name, kinds in PLANS.items()
    ] + [
        Call(
            name="FreshDraws",
            callee="(lambda *a, **k: learner.fit(pi.FreshDraws(*a, **k), seed=1))",
            kinds={"generator": "generator", "refits": "count", "fraction": "fraction"},
            base={"generator": "lambda rng: d.sample(30, random_state=rng)", "refits": "3"},
            then=".pfi()",
        ),
        Call(
            name="Splits",
            callee="(lambda *a, **k: learner.fit(pi.Splits(*a, **k), seed=1))",
            kinds={"splits": "splits", "cluster": "by"},
            base={"splits": "KFold(3)"},
            positional=1,
            then=".pfi()",
        ),
    ]


def _rows_curves() -> list[Call]:
    return [
        Call(
            name="ice.plot",
            callee="fm.pd('x', kind='ice', points=4).plot",
            kinds={
                "alpha": "alpha",
                "sort": "flag",
                "color": "feature",
                "observed": "flag",
                "curves": "count",
            },
        ),
        Call(name="plot of values", callee="pf.plot", kinds={"kind": "choice", "top": "count"}),
    ]


def _several() -> list[Call]:
    names = {
        "names": "labels",
        "loss": "loss",
        "metric": "metric",
        "reference": "choice",
        "pairs": "choice",
        "paired": "flag",
        "rope": "choice",
        **READING,
    }
    return [
        Call(
            name="compare",
            callee="pi.compare",
            kinds={"first": "one", "second": "one", **names},
            base={"first": "res", "second": "tree"},
            positional=2,
        ),
        Call(
            name="compare, PFI",
            callee="pi.compare",
            kinds={"first": "one", "second": "one", **names},
            base={"first": "pf", "second": "tree.pfi()"},
            positional=2,
        ),
        Call(
            name="plot",
            callee="pi.plot",
            kinds={
                "results": "results",
                "model_names": "labels",
                "alpha": "alpha",
                "sort": "flag",
                "top": "count",
            },
            base={"results": "[pf, tree.pfi()]"},
            positional=1,
        ),
        Call(
            name="referee",
            callee="pi.referee",
            kinds={"res": "one", "path": "page file", "features": "features"},
            base={"res": "res"},
            positional=1,
        ),
        Call(
            name="report",
            callee="pi.report",
            kinds={
                "res": "one",
                "path": "page file",
                "title": "title",
                "features": "features",
                "top": "count",
                "alpha": "alpha",
            },
            base={"res": "fm", "path": "new_file()", "features": "'x'"},
            positional=2,
        ),
        Call(
            name="cite",
            callee="(lambda *a, **k: pi.cite(*a, **k))",
            kinds={"first": "one", "second": "one"},
            base={"first": "pf", "second": "fm"},
            positional=2,
        ),
        Call(
            name="summary_col",
            callee="pi.summary_col",
            kinds={
                "results": "results",
                "model_names": "labels",
                "stars": "flag",
                "float_format": "format",
            },
            base={"results": "[pf, tree.pfi()]"},
            positional=1,
        ),
        Call(
            name="compare, three",
            callee="pi.compare",
            kinds={"first": "one", "second": "one", "third": "one", **names},
            base={"first": "res", "second": "tree", "third": "res"},
            positional=3,
        ),
        Call(name="Contrasts.conf_int", callee="pf.t_test('x = z, z = 0').conf_int", kinds=ALPHA),
        Call(name="Contrasts.summary", callee="pf.t_test('x = z, z = 0').summary", kinds=ALPHA),
        Call(
            name="Loss",
            callee="(lambda *a, **k: fm.pfi(loss=pi.Loss(*a, **k)))",
            kinds={
                "name": "text",
                "function": "loss",
                "needs": "choice",
                "constant": "function",
                "unit": "text",
            },
            base={"name": "'a'", "function": "lambda y, p: (y - p) ** 2"},
            positional=2,
        ),
        Call(
            name="mean_over_rows",
            callee="(lambda *a, **k: fm.estimate(pi.mean_over_rows(*a, **k)))",
            kinds={"function": "row function", "label": "text"},
            base={"function": "lambda y, p: y - p", "label": "'a'"},
            positional=2,
        ),
        Call(
            name="RGrid",
            callee="(lambda *a, **k: fm.pd('x', grid=pi.RGrid(*a, **k)))",
            kinds={name: CURVE[name] for name in list(CURVE)[:7]},
        ),
        Call(
            name="Residual",
            callee="(lambda *a, **k: fm.cvim('x', sampler=pi.samplers.Residual(*a, **k)))",
            kinds={"estimator": "own regressor", "within_range": "flag"},
            base={"estimator": "LR"},
        ),
        Call(
            name="Categorical",
            callee="(lambda *a, **k: res.cvim('g', sampler=pi.samplers.Categorical(*a, **k)))",
            kinds={"estimator": "own classifier"},
            base={"estimator": "GaussianNB()"},
        ),
        Call(
            name="Subgroup",
            callee="(lambda *a, **k: fm.cvim('x', sampler=pi.samplers.Subgroup(*a, **k)))",
            kinds={"leaf": "count", "depth": "count"},
            base={"leaf": "10"},
        ),
    ]


def _r_style() -> list[Call]:
    at = {"object": "one"}
    curve = {"grid_resolution": "3"}
    firm = {
        "feature_names": "features",
        "ice": "flag",
        "center": "flag",
        "var_continuous": "choice",
        **CURVE,
    }
    functions = {
        "partial": (
            {
                "pred_var": "features",
                "pred_grid": "grid",
                "ice": "flag",
                "center": "flag",
                "approx": "flag",
                **CURVE,
            },
            {"pred_var": "'x'", **curve},
        ),
        "vi_firm": (firm, curve),
        "vi_permute": (
            {
                "feature_names": "features",
                "metric": "metric",
                "type": "choice",
                "nsim": "count",
                "permutations": "drawn permutations",
            },
            {"metric": "'rmse'"},
        ),
        "vint": ({"feature_names": "features", **CURVE}, {"feature_names": "['x', 'z']", **curve}),
        "hstats": (
            {
                "v": "features",
                "pairwise_m": "natural",
                "threeway_m": "natural",
                "n_max": "count",
                "eps": "positive",
                "normalize": "flag",
                "squared": "flag",
            },
            {"n_max": "10"},
        ),
        "vi": (
            {
                "method": "choice",
                "scale": "flag",
                "rank": "flag",
                **firm,
                "metric": "metric",
                "nsim": "count",
                "permutations": "drawn permutations",
            },
            {"method": "'firm'", **curve},
        ),
    }
    return [
        Call(
            name=f"r_style.{name}, {who}",
            callee=f"pi.r_style.{name}",
            kinds={**at, **kinds},
            base={"object": who, **base},
            positional=1,
        )
        for name, (kinds, base) in functions.items()
        for who in ("fm", "clf")
        if not (who == "clf" and name == "vi_permute")
    ]


def _simulation() -> list[Call]:
    makers: dict[str, dict[str, str]] = {
        "friedman1": {"noise_features": "natural"},
        "khan_regression": {"scenario": "choice", "offset": "number", "noise_features": "natural"},
        "mease_wyner_classification": {"features": "count", "relevant": "count", "noise": "number"},
        "molnar_nonlinear": {"version": "choice"},
        "wood_classification": {"copied": "choice"},
        "wood_regression": {"noise_variance": "number"},
        "ideal": {"refits": "count"},
    }
    drawn = {"n": "count", "seed": "seed"}
    return [
        *(
            Call(
                name=f"simulation.{name}",
                callee=f"pi.simulation.{name}",
                kinds=kinds,
                then="" if name == "ideal" else ".draw(5, seed=1)",
            )
            for name, kinds in makers.items()
        ),
        Call(name="Process.draw", callee="process.draw", kinds=drawn, base={"n": "5", "seed": "1"}),
        Call(
            name="Process.f",
            callee="process.f",
            kinds={"frame": "process frame"},
            base={"frame": "process.draw(5, seed=1)"},
        ),
        Call(
            name="Process.redraw",
            callee="process.redraw",
            kinds={
                "feature": "feature",
                "frame": "process frame",
                "seed": "seed",
                "conditional": "flag",
            },
            base={"feature": "'x1'", "frame": "process.draw(5, seed=1)", "seed": "1"},
        ),
        Call(
            name="Process.pd",
            callee="process.pd",
            kinds={"feature": "feature", "grid": "grid"},
            base={"feature": "'x1'", "grid": "[0.0, 1.0]"},
        ),
        Call(
            name="Process.pfi",
            callee="process.pfi",
            kinds={"feature": "feature"},
            base={"feature": "'x1'"},
        ),
        Call(
            name="dgp_pd",
            callee="pi.simulation.dgp_pd",
            kinds={"process": "process", "feature": "feature", "grid": "grid", **drawn}
            | {"method": "choice"},
            base={"process": "process", "feature": "'x1'", "grid": "[0.0, 1.0]", "n": "50"}
            | {"seed": "1"},
            positional=3,
        ),
        Call(
            name="dgp_pfi",
            callee="pi.simulation.dgp_pfi",
            kinds={
                "process": "process",
                "feature": "feature",
                "loss": "loss",
                "conditional": "flag",
            }
            | {**drawn, "method": "choice"},
            base={"process": "process", "feature": "'x1'", "n": "50", "seed": "1"},
            positional=2,
        ),
        Call(
            name="decompose",
            callee="pi.simulation.decompose",
            kinds={
                "process": "process",
                "learner": "estimator",
                "estimand": "choice",
                "features": "features",
                "grid": "grid",
                "points": "count",
                "loss": "loss",
                "n": "count",
                "evaluation": "count",
                "repetitions": "count",
                "truth_n": "count",
                "seed": "seed",
                "n_jobs": "jobs",
                "progress": "progress",
            },
            base={
                "process": "process",
                "learner": "LR",
                "features": "'x1'",
                "points": "3",
                "n": "20",
                "evaluation": "20",
                "repetitions": "3",
                "truth_n": "100",
                "seed": "1",
            },
            positional=2,
            then=".frame",
        ),
        Call(
            name="Decomposition.plot",
            callee="decomposition.plot",
            kinds={"feature": "term"},
            base={"feature": "'x1'"},
        ),
        Call(
            name="CoverageStudy",
            callee="pi.simulation.CoverageStudy",
            kinds={
                "dgps": "processes",
                "learners": "learners",
                "n": "sizes",
                "estimands": "questions",
                "resamplings": "plans",
                "cov_types": "variances",
                "repetitions": "natural",
                "truth_refits": "count",
                "alpha": "alpha",
                "block": "count",
                "seed": "seed",
            },
            base={
                "dgps": "[process]",
                "learners": "{'ols': LR}",
                "n": "[20]",
                "estimands": "{'pfi': pi.LearnerResults.pfi}",
                "resamplings": "{'boot': pi.Bootstrap(3)}",
                "cov_types": "{'boot': ['naive']}",
                "repetitions": "2",
                "truth_refits": "2",
            },
            then=".run(new_file(), progress=False)",
        ),
        Call(
            name="certify",
            callee="pi.certify",
            kinds={
                "results": "one",
                "estimates": "estimates",
                "null": "features",
                "data_sets": "count",
                "truth_refits": "count",
                "alpha": "alpha",
                "seed": "seed",
                "n_jobs": "jobs",
                "file": "page file",
                "progress": "progress",
            },
            base={"results": "boot", "data_sets": "2", "truth_refits": "2", "progress": "False"},
            positional=2,
        ),
        Call(
            name="ImportanceStudy",
            callee="pi.simulation.ImportanceStudy",
            kinds={
                "dgps": "processes",
                "learners": "learners",
                "n": "sizes",
                "features": "process features",
                "measures": "study measures",
                "repetitions": "natural",
                "block": "count",
                "validation": "count",
                "truth_n": "count",
                "seed": "seed",
            },
            base={
                "dgps": "[process]",
                "learners": "{'ols': LR}",
                "n": "[20]",
                "features": "['x1']",
                "repetitions": "2",
                "block": "2",
                "validation": "20",
                "truth_n": "100",
            },
            then=".run(new_file(), progress=False)",
        ),
        Call(name="load_diabetes", callee="pi.datasets.load_diabetes", kinds={}),
        Call(
            name="datasets.load",
            callee="pi.datasets.load",
            kinds={"name": "choice", "data_home": "path"},
            base={"name": "'diabetes'"},
        ),
        *(
            Call(
                name=f"datasets.{name}",
                callee=f"pi.datasets.{name}",
                kinds=kinds,
                base={"data_home": "'/no such folder'"},
            )
            for name, kinds in {
                "load_wine_quality": {
                    "color": "choice",
                    "data_home": "path of nothing",
                },  # the red ones, which come along
                "load_pima_diabetes": {"zeros": "choice", "data_home": "path"},
                "load_concrete": {"data_home": "path"},
            }.items()
        ),
    ]


CALLS = {
    call.name: call
    for call in [
        *_methods(),
        *_tables(),
        *_learners(),
        *_plans(),
        *_several(),
        *_rows_curves(),
        *_r_style(),
        *_simulation(),
    ]
}
