"""Public callables, each with a valid call; what an argument is follows from its name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile

import specimens

__all__ = ["CALLS", "Call"]

# What arguments of these names are in every call, but for those that `Call.own` lists.
NAMES_OF_KINDS = {
    "choice": "alternative average cov_type design design_state engine kind method missing geom "
    "needs notes of on_error order p_adjust relation scale split_by spread type unseen_levels "
    "var_continuous weights_type",
    "flag": "approx caption center check_class chull conditional ice largest_first normalize "
    "paired prob quantiles rank reseed simultaneous sort squared stars together trim_outliers "
    "within_range",
    "count": "block bootstraps data_sets depth folds grid_resolution leaf most_rows n n_max nsim "
    "points repeats top truth_refits",
    "natural": "pairwise_m repetitions threeway_m",
    "number": "step",
    "positive": "effect eps width",
    "fraction": "fraction power",
    "features": "feature_names features pred_var v",
    "feature": "color feature",
    "one": "first object res second third",
    "weights": "exposure offset weights",
    "by": "cluster strata",
    "rows": "rows subset",
    "grid": "grid pred_grid",
    "labels": "model_names names",
    "function": "inv_link",
    "text": "name unit",
    "title": "title",
    "page file": "file path",
    "jobs": "n_jobs",
    "memory": "memory_mb",
    "path": "data_home",
    "class": "which_class",
    "groups of rows": "by",
    "responses": "y",
    "variables": "exog",
    "response": "endog",
    "evaluation": "X",
    "contrasts": "r_matrix",
    "categories": "cats",
    "format": "float_format",
    "processes": "dgps",
    "variances": "cov_types",
    "questions": "estimands",
    "plans": "resamplings",
    "plan": "resampling",
    "fit options": "fit",
    "newdata": "data",
}
KIND_OF = {name: kind for kind, names in NAMES_OF_KINDS.items() for name in names.split()}
# Folders, and models that are dropped: tests/lasting.
ELSEWHERE = {"checkpoint", "shard", "keep_models", "measure", "max_evaluation_rows"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Call:
    """A valid call.

    Attributes
    ----------
    name : str
    callee : str
        Expression of what is called.
    base : mapping of str to str
        Expressions of the arguments of the valid call; others have their defaults.
    own : mapping of str to str
        Kinds of arguments that elsewhere are of another kind.
    then : str
        What is asked of the value, which stands for ``{}``.
    """

    name: str
    callee: str
    base: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    then: str = "{}"

    @cached_property
    def parameters(self):
        """Names of arguments in order, and whether they may be given by position."""
        callee = eval(self.callee, specimens.names())  # noqa: S307 - our own table of expressions
        open_ended = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        taken = inspect.signature(callee).parameters.values()
        named = {p.name: p.kind is not p.KEYWORD_ONLY for p in taken if p.kind not in open_ended}
        several = set(self.base) - set(named)  # some of any number
        return {**dict.fromkeys(self.base, True), **named} if several else named

    @cached_property
    def kinds(self):
        """Arguments in order, and the kind of each."""
        known = KIND_OF | dict(self.own)
        return {name: known.get(name, name) for name in self.parameters if name not in ELSEWHERE}

    def split(self, arguments):
        """Return the names of arguments that are given by position, and by keyword."""
        given = takewhile(lambda name: name in arguments and self.parameters[name], self.parameters)
        first = list(given)
        return first, [name for name in arguments if name not in first]

    def source(self, arguments):
        """Return the call as a Python expression."""
        first, rest = self.split(arguments)
        written = [arguments[n] for n in first] + [f"{n}={arguments[n]}" for n in rest]
        return self.then.format(f"{self.callee}({', '.join(written)})")


X, FEATURES = {"features": "'x'"}, {"features": "'x'", "points": "4"}
# Questions, with the arguments that keep them short.
METHODS = {
    "pd": FEATURES,
    "ale": X,
    "ame": X,
    "firm": {"points": "4"},
    "vint": {"features": "[('x', 'z')]", "points": "3"},
    "h_statistic": {"most_rows": "10"},
    "pfi": {},
    "mvim": {},
    "cvim": X,
    "amvim": X,
    "loco": X,
    "sage": {},
    "population": X,
    "compare_targets": X,
    "interactions": X,
    "products": {"feature": "'x'"},
    "native_importance": {},
    "estimate": {"estimand": "OWN"},
    "importance": {"measures": "['pfi', 'cvim']"},
    "loss": {},
    "metric": {"metric": "'rmse'"},
    "positivity": X,
    "likelihood_pfi": X,
    "entropy_pfi": X,
    "uncertainty": X,
    "redundancy": X,
    "causal": {"feature": "'x'", "points": "3"},
    "summary": {},
}
# They train the learner again; they need class probabilities or another distribution.
TRAINING = {"loco", "population", "compare_targets", "interactions", "products"}
DISTRIBUTIONAL = {"likelihood_pfi", "entropy_pfi", "uncertainty"}
OF_ONE_MODEL = " ".join(m for m in METHODS if m not in DISTRIBUTIONAL | TRAINING)
# What is asked, and of what: learners by several plans, fitted models, classifiers, tables.
ASKED = {
    "res": f"{OF_ONE_MODEL} {' '.join(sorted(TRAINING))}",
    "fm": OF_ONE_MODEL,
    "clf": f"pd pfi loss firm h_statistic mvim vint {' '.join(sorted(DISTRIBUTIONAL))}",
    "three": "pd pfi loss",
    "boot": "pfi pd",
    "nested": "pfi",
    "hold": "pfi",
    "tree": "pfi native_importance",
    "fclf": "pd pfi loss",
    "ftree": "pd h_statistic",
    "pf": "conf_int summary_frame tidy plot t_test wald_test summary to to_r f_test ranks "
    "sample_size glance variance_parts cov_params row_frame refit_frame",
    "pfg": "differences equality_test summary plot",
    "pf0": "conf_int summary t_test",
    "pdx": "conf_int plot summary_frame summary row_frame flat_test",
    "pdxg": "plot summary",
    "imp": "summary plot summary_frame",
    "cau": "summary plot",
}
OF_TABLES = {
    **{test: {"hypotheses": "'x = z'"} for test in ("t_test", "wald_test", "f_test")},
    "sample_size": {"effect": "0.1"},
    "to": {"target": "'latex'"},
}
OWN_ALPHA = {"alpha": "own alpha"}
OWN = {
    **{test: {"hypotheses": "hypotheses together"} for test in ("wald_test", "f_test")},
    "summary": OWN_ALPHA,
    "tidy": OWN_ALPHA,
    "to_r": OWN_ALPHA,
    "vint": {"features": "sets"},
    "metric": {"metric": "metric asked"},
    "to": {"target": "table file", "label": "latex label", "caption": "caption"},
    "differences": {"reference": "group"},
    "ranks": {"seed": "natural"},
}


def _methods():
    return [
        Call(
            name=f"{who}.{method}",
            callee=f"{who}.{method}",
            base={**METHODS, **OF_TABLES}.get(method, {}),
            own=OWN_ALPHA if (who, method) == ("imp", "summary_frame") else OWN.get(method, {}),
        )
        for who, methods in ASKED.items()
        for method in dict.fromkeys(methods.split())
    ]


LOSS = "{}.fit(pi.Bootstrap(3), seed=1).pfi()"
CURVE = ".pd('x', points=3)"
OF_FORMULA = {"formula": "'y ~ x + z + g'", "data": "d", "estimator": "LR"}
OF_ARRAYS = {"endog": "y", "exog": "X", "estimator": "LR"}
OF_FITTED = {"fitted": "lin", "X": "X", "y": "y", "seed": "1"}
FRAME, CLASSES = {"data": "frame"}, {"estimator": "classifier"}
# By the callable: names of calls, their arguments, kinds, and what is asked of the value.
LEARNERS = {
    "LF": {
        "": (OF_FORMULA, FRAME, LOSS),
        "dot": (
            {
                "formula": "'y ~ .'",
                "data": "d",
                "estimator": "make_pipeline(OneHotEncoder(handle_unknown='ignore'), Ridge())",
                "design": "'frame'",
            },
            FRAME,
            f"{{}}.fit_model(seed=1){CURVE}",
        ),
        "PD": (OF_FORMULA, FRAME, f"{{}}.fit(PLAN, seed=1){CURVE}"),
        "classifier": (
            {"formula": "'c ~ x + z + g'", "data": "d", "estimator": "LOGIT"},
            {"data": "frame of classes", **CLASSES},
            LOSS,
        ),
    },
    "pi.Learner": {
        "": (OF_ARRAYS, {}, LOSS),
        "array": (
            {**OF_ARRAYS, "exog": "A"},
            {"endog": "response beside an array"},
            "{}.fit_model(seed=1).pd('x1', points=3)",
        ),
        "classifier": ({"endog": "c", "exog": "X", "estimator": "LOGIT"}, CLASSES, LOSS),
    },
    "pi.FittedModel": {
        "": (OF_FITTED, {}, "{}.pfi()"),
        "PD": (OF_FITTED, {}, f"{{}}{CURVE}"),
        "classifier": (
            {"fitted": "logit", "X": "X", "y": "c", "seed": "1"},
            {"fitted": "fitted classifier"},
            "{}.pfi()",
        ),
        "function of classes": (
            {"fitted": "logit.predict_proba", "X": "X", "y": "c", "classes": "['no', 'yes']"},
            {},
            "{}.pfi()",
        ),
    },
}


def _learners():
    return [
        Call(
            name=", ".join(filter(None, (callee, name))),
            callee=callee,
            base=base,
            own=own,
            then=then,
        )
        for callee, calls in LEARNERS.items()
        for name, (base, own, then) in calls.items()
    ]


REFITS = {"refits": "3"}
PLANS = {
    "Bootstrap": REFITS,
    "CrossValidation": {"folds": "3"},
    "Holdout": {},
    "Subsampling": REFITS,
    "HalfSampling": {"refits": "2", "pairs": "5"},
    "NestedBootstrap": {"bootstraps": "50", "splits": "2"},
    "FreshDraws": {"generator": "lambda rng: d.sample(30, random_state=rng)", **REFITS},
    "Splits": {"splits": "KFold(3)"},
}
OF_PLANS = {
    "HalfSampling": {"refits": "natural", "pairs": "count"},
    "NestedBootstrap": {"splits": "count"},
}
COMPARED = {"contrasts": "choice", "reference": "choice"}
BOTH = {"results": "[pf, tree.pfi()]"}
# Callables that are no questions, no tables and no learners.
OTHERS = [
    *(
        Call(
            name=plan,
            callee=f"pi.{plan}",
            base=base,
            own=OF_PLANS.get(plan, {}),
            then="learner.fit({}, seed=1).pfi()",
        )
        for plan, base in PLANS.items()
    ),
    Call(
        name="fit",
        callee="learner.fit",
        base={"resampling": "pi.Bootstrap(3)", "seed": "1"},
        then="{}.pfi()",
    ),
    Call(name="fit_model", callee="learner.fit_model", base={"seed": "1"}, then="{}.pfi()"),
    Call(
        name="variables_of",
        callee="learner.variables_of",
        base={"data": "d"},
        own={"data": "variables asked"},
    ),
    *(  # a tree takes missing values
        Call(name=f"{who}.predict", callee=f"{who}.predict", base={"data": "d"})
        for who in ("res", "clf")
    ),
    Call(
        name="statsmodels_learner",
        callee="pi.statsmodels_learner",
        base={"model": "sm.GLM"},
        own={"weights": "by"},
        then=LOSS.format("LF('y ~ x + z', d, {})"),
    ),
    *(
        Call(
            name=f"compare, {', '.join(compared)}",
            callee="pi.compare",
            base=dict(zip(("first", "second", "third"), compared, strict=False)),
            own=COMPARED,
        )
        for compared in (("res", "tree"), ("pf", "tree.pfi()"), ("res", "tree", "res"))
    ),
    Call(name="plot", callee="pi.plot", base=BOTH),
    Call(
        name="report",
        callee="pi.report",
        base={"res": "fm", "path": "new_file()", "features": "'x'"},
    ),
    Call(name="cite", callee="pi.cite", base={"first": "pf", "second": "fm"}),
    Call(
        name="summary_col",
        callee="pi.summary_col",
        own={"keep": "features", "drop": "features"},
        base=BOTH,
    ),
    Call(name="Contrasts.conf_int", callee="pf.t_test('x = z, z = 0').conf_int"),
    Call(
        name="Contrasts.sample_size",
        callee="res.ame().t_test('x = z, z = 0').sample_size",
        base={"width": "1.0"},
    ),
    Call(
        name="Loss",
        callee="pi.Loss",
        base={"name": "'a'", "function": "lambda y, p: (y - p) ** 2"},
        own={"function": "loss", "constant": "constant"},
        then="fm.pfi(loss={})",
    ),
    Call(
        name="mean_over_rows",
        callee="pi.mean_over_rows",
        base={"function": "lambda y, p: y - p", "label": "'a'"},
        own={"function": "row function", "label": "text"},
        then="fm.estimate({})",
    ),
    Call(
        name="Residual",
        callee="pi.samplers.Residual",
        base={"estimator": "LR"},
        own={"estimator": "own regressor"},
        then="fm.cvim('x', sampler={})",
    ),
    Call(
        name="Categorical",
        callee="pi.samplers.Categorical",
        base={"estimator": "GaussianNB()"},
        own={"estimator": "own classifier"},
        then="res.cvim('g', sampler={})",
    ),
    Call(
        name="Subgroup",
        callee="pi.samplers.Subgroup",
        base={"leaf": "10"},
        then="fm.cvim('x', sampler={})",
    ),
    Call(name="RGrid", callee="pi.r_style.RGrid", then="fm.pd('x', grid={})"),
    Call(name="ice.plot", callee="fm.pd('x', kind='ice', points=4).plot"),
]
COARSE = {"grid_resolution": "3"}
R_STYLE = {
    "partial": {"pred_var": "'x'", **COARSE},
    "vi_firm": COARSE,
    "vi_permute": {"metric": "'rmse'"},
    "vint": {"feature_names": "['x', 'z']", **COARSE},
    "hstats": {"n_max": "10"},
    "vi": {"method": "'firm'", **COARSE},
}
OF_R = {"permutations": "drawn permutations", "which_class": "which", "scale": "flag"}


def _r_style():
    return [
        Call(
            name=f"r_style.{name}, {who}",
            callee=f"pi.r_style.{name}",
            base={"object": who, **base},
            own=OF_R,
        )
        for name, base in R_STYLE.items()
        for who in ("fm", "clf")
        if (name, who) != ("vi_permute", "clf")
    ]


OF_A_PROCESS = {"feature": "'x1'", "grid": "[0.0, 1.0]"}
DRAWN = {"n": "50", "seed": "1"}
DRAW = "process.draw(5, seed=1)"
SIMULATED = {
    "process.draw": {"n": "5", "seed": "1"},
    "process.f": {"frame": DRAW},
    "process.redraw": {"feature": "'x1'", "frame": DRAW, "seed": "1"},
    "process.pd": OF_A_PROCESS,
    "process.pfi": {"feature": "'x1'"},
    "pi.simulation.dgp_pd": {"process": "process", **OF_A_PROCESS, **DRAWN},
    "pi.simulation.dgp_pfi": {"process": "process", "feature": "'x1'", **DRAWN},
}


def _simulation():
    return [
        Call(name="ideal", callee="pi.simulation.ideal"),
        *(
            Call(name=callee, callee=callee, base=base, own={"frame": "process frame"})
            for callee, base in SIMULATED.items()
        ),
        Call(
            name="CoverageStudy",
            callee="pi.simulation.CoverageStudy",
            own={"n": "sizes"},
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
            then="{}.run(new_file(), progress=False)",
        ),
        Call(
            name="certify",
            callee="pi.certify",
            own={"results": "one", "null": "categories"},
            base={"results": "boot", "data_sets": "2", "truth_refits": "2", "progress": "False"},
        ),
        Call(name="load_diabetes", callee="pi.datasets.load_diabetes"),
        Call(
            name="datasets.load",
            callee="pi.datasets.load",
            own={"name": "choice", "data_home": "path of nothing"},
            base={"name": "'diabetes'"},
        ),
        *(
            Call(
                name=loader,
                callee=f"pi.datasets.{loader}",
                own=own,
                base={"data_home": "'/no such folder'"},
            )
            for loader, own in {
                # The red ones come along.
                "load_wine_quality": {"color": "choice", "data_home": "path of nothing"},
                "load_pima_diabetes": {"zeros": "choice"},
                "load_concrete": {},
            }.items()
        ),
    ]


CALLS = {
    call.name: call for call in [*_methods(), *_learners(), *OTHERS, *_r_style(), *_simulation()]
}
