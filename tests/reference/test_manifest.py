"""Every number of data/manifest.json, computed by the real R packages, from the same models.

A case is the R call as it was recorded: its arguments are read from the call and given to
`pyinterp.r_style`. Files whose call has R code in it are spelled out.
"""

import json
import re
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
import r_models as models
import statsmodels.api as sm
import statsmodels.formula.api as smf
from r_models import DATA, M, V, read
from scipy import special

import pyinterp as pi
from pyinterp import r_style
from pyinterp.estimands.importance.native import garson, olden

MANIFEST = json.loads((DATA / "manifest.json").read_text())["files"]
CALLS = {entry["file"]: entry for entry in MANIFEST}
TOLERANCE = 1e-10
ROUNDING = 1e-12
# R takes standard errors from the weights of the last iterate but one.
TOLERANCES = {"models/glm_pois.csv": 1e-8}

UNSUPPORTED = {
    "vip/model_rpart.csv": "rpart's importance is stored by R at fitting and is not in its rules"
}
NAMES = {
    "V": V,
    "V5": V[:5],
    "M": M,
    "names(mx)": M,
    'paste0("x", 1:10)': V,
    "stats::mad": "mad",
    "plogis": special.expit,
    "TRUE": True,
    "FALSE": False,
}
FORMULAS = {
    "lm_friedman": "y ~ x1*x2 + x3 + I(x3**2) + x4 + x5 + I(x1**2) + x6 + x7 + x8 + x9 + x10",
    "lm_mixed": "yreg ~ z1 + I(z1**2) + z2*f1 + z3 + z4 + f2 + z1:z3",
    "glm_mixed": "ybin ~ z1 + I(z1**2) + z2*f1 + z3 + z4 + f2",
    "glm_pois": "z4 ~ z1 + z2 + f2",
}


@cache
def rows(name):
    data = {"friedman1": models.friedman, "mixed": models.mixed}
    if name in data:
        return data[name]()
    if name == "mx100":
        return rows("mixed").iloc[:100]
    if name == "mxna":  # its row without z1 has no z2 either: pdp leaves it out as we do
        frame = rows("mixed").copy()
        frame.loc[:19, "z2"] = np.nan
        frame.loc[2, "z1"] = np.nan
        return frame
    assert name == "mx", name
    return rows("mixed")


@cache
def glm(name):
    family = sm.families.Binomial() if name == "glm_mixed" else sm.families.Poisson()
    model = smf.glm(FORMULAS[name], rows("mixed"), family=family)
    return model.fit(tol=1e-14, maxiter=100)


@cache
def fitted(model, train):
    """Return the model on the rows that R calls ``train``."""
    data = rows(train)
    if model == "glm_mixed":
        return pi.FittedModel(glm(model), data[[*M, "ybin"]], "ybin")
    y = {"lm_friedman": "y", "nnet_friedman": "y", "lm_mixed": "yreg", "rpart_mixed": "yreg"}
    x = V if train == "friedman1" else M
    predict, classes = {
        "lm_friedman": (models.linear("lm_friedman"), None),
        "lm_mixed": (models.linear("lm_mixed"), None),
        "glm_pois": (models.linear("glm_pois"), None),
        "multinom_mixed": (models.multinomial, ("a", "b", "c")),
        "rpart_mixed": (models.tree("rpart_mixed", ["value"]), None),
        "rpart_class": (models.tree("rpart_class", ["prob_no", "prob_yes"]), ("no", "yes")),
        "nnet_friedman": (models.network, None),
    }[model]
    return pi.FittedModel(
        predict, data[x], None if model not in y else data[y[model]], classes=classes
    )


def arguments(call):
    """Return the function of an R call and its arguments, those that R code makes left out."""
    call = re.sub(r"^set\.seed\(\d+\); ", "", call)
    function, _, inside = call.partition("(")
    inside = re.sub(r"\) for v in .*$", ")", inside)[:-1]
    found, depth, start = [], 0, 0
    for k, sign in enumerate(inside + ","):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            found.append(inside[start:k].strip())
            start = k + 1
    named = dict(re.split(r"\s*=\s*", part, maxsplit=1) for part in found[1:])
    return function, {name.replace(".", "_"): value(text) for name, text in named.items()}


def value(text):
    if text in NAMES:
        return NAMES[text]
    listed = re.fullmatch(r"c\((.*)\)", text)
    frame = re.fullmatch(r"data\.frame\((\w+) = (c\(.*\))\)", text)
    if listed:
        return json.loads(f"[{listed[1]}]")
    if frame:
        return pd.DataFrame({frame[1]: value(frame[2])})
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def curve(entry, **changed):
    _, given = arguments(entry["call"])
    given |= changed
    object_ = fitted(entry["model"], given.pop("train"))
    given.pop("pred_fun", None)
    return r_style.partial(object_, **given)


def all_curves(entry):
    return pd.concat(
        curve(entry, pred_var=v).rename(columns={v: "x"}).assign(variable=v) for v in V
    )


def classes(entry):
    object_ = fitted("multinom_mixed", "mx")
    parts = [
        r_style.partial(
            object_, "z1", which_class=k + 1, prob=scale == "prob", grid_resolution=11
        ).assign(**{"class": label, "scale": scale})
        for k, label in enumerate("abc")
        for scale in ("logit", "prob")
    ]
    return pd.concat(parts)


def firm(entry):
    function, given = arguments(entry["call"])
    object_ = fitted(entry["model"], given.pop("train"))
    return {"vi_firm": r_style.vi_firm, "vi": r_style.vi}[function](object_, **given)


def vint(entry):
    _, given = arguments(entry["call"])
    return r_style.vint(fitted(entry["model"], given.pop("train")), **given)


def vint_parts(entry):
    """The two terms of the statistic, from the surface itself."""
    object_, table = fitted("nnet_friedman", "friedman1"), read(entry["file"])
    found = []
    for pair in table["pair"]:
        a, b = pair.split("*")
        surface = r_style.partial(object_, [a, b], grid_resolution=11)["yhat"].to_numpy()
        surface = surface.reshape(11, 11)  # rows: b
        first = surface.std(axis=0, ddof=1).std(ddof=1)
        second = surface.std(axis=1, ddof=1).std(ddof=1)
        found.append((pair, first, second, (first + second) / 2))
    return pd.DataFrame(found, columns=list(table.columns))


@cache
def permutations(name):
    table = read(f"vip/{name}.csv").sort_values("sim", kind="stable")
    index = [c for c in table if re.fullmatch(r"i\d+", c)]
    return {f: part[index].to_numpy().T for f, part in table.groupby("feature")}


def permute(entry):
    """With R's permutations: their mean and spread, and each of them alone."""
    _, given = arguments(entry["call"])
    metric = given["metric"]
    if "function" in metric:
        metric = "brier" if entry["model"] == "glm_mixed" else "mse"
    drawn = permutations("perm_friedman" if given["train"] == "friedman1" else "perm_mixed")
    names = list(read(entry["file"])["Variable"])
    ask = partial(
        r_style.vi_permute,
        fitted(entry["model"], given["train"]),
        names,
        metric=metric,
        type=given.get("type", "difference"),
    )
    frame = ask(permutations=drawn)
    for k in range(next(iter(drawn.values())).shape[1]):
        one = ask(permutations={name: drawn[name][:, [k]] for name in names})
        frame[f"permutation_{k + 1}"] = one["Importance"]
    return frame


def coefficients(entry):
    """The models' own tables, refitted by statsmodels."""
    name = entry["file"].removeprefix("models/").removesuffix(".csv")
    found = (
        smf.ols(FORMULAS[name], rows("friedman1" if "friedman" in name else "mixed")).fit()
        if name.startswith("lm")
        else glm(name)
    )
    names = [
        re.sub(r"\[T\.(\w+)\]", r"\1", term)
        .replace("Intercept", "(Intercept)")
        .replace(" ** ", "^")
        for term in found.params.index
    ]
    return pd.DataFrame(
        {
            "term": names,
            "estimate": found.params.to_numpy(),
            "std_error": found.bse.to_numpy(),
            "statistic": found.tvalues.to_numpy(),
            "p_value": found.pvalues.to_numpy(),
        }
    )


def predictions(entry):
    f, m = rows("friedman1").iloc[:60], rows("mixed").iloc[:60]
    p = models.multinomial(m)
    link = models.linear("glm_mixed")(m)
    return pd.DataFrame(
        {
            "lm_friedman": models.linear("lm_friedman")(f),
            "lm_mixed": models.linear("lm_mixed")(m),
            "glm_mixed_link": link,
            "glm_mixed_prob": special.expit(link),
            "rpart_mixed": models.tree("rpart_mixed", ["value"])(m),
            "rpart_class_yes": models.tree("rpart_class", ["prob_yes"])(m),
            "nnet_friedman": models.network(f),
            "multinom_a": p[:, 0],
            "multinom_b": p[:, 1],
            "multinom_c": p[:, 2],
            "glm_pois_mean": np.exp(models.linear("glm_pois")(m)),
        }
    )


def network_weights(function):
    w_in, w_out, *_ = models.weights()
    return pd.DataFrame({"Variable": V, "Importance": function(w_in, w_out).ravel()})


def terms_of(entry):
    name = entry["model"]
    if name.startswith("lm"):
        data = rows("friedman1" if name == "lm_friedman" else "mixed")
        results, x = smf.ols(FORMULAS[name], data).fit(), V if name == "lm_friedman" else M
        object_ = pi.FittedModel(results, data[x])
    else:
        object_ = fitted(name, "mx")
    kind = "raw" if '"raw"' in entry["call"] else "stat"
    found = object_.native_importance(kind).params
    names = [
        re.sub(r"\[T\.(\w+)\]", r"\1", term).replace(" ** ", "^").replace("**", "^")
        for term in found.index
    ]
    return pd.DataFrame(
        {
            "Variable": names,
            "Importance": found.abs().to_numpy(),
            "Sign": np.where(found > 0, "POS", "NEG"),
        }
    )


def statistics(entry):
    data = rows("friedman1").iloc[:200]
    predict = {"nnet_friedman": models.network, "lm_friedman": models.linear("lm_friedman")}
    object_ = pi.FittedModel(predict[entry["model"]], data[V])
    three = 5 if entry["model"] == "nnet_friedman" else 0
    asked = {"pairwise_m": 10, "eps": 0.0}
    found = r_style.hstats(object_, threeway_m=three, **asked)
    raw = r_style.hstats(object_, normalize=False, squared=False, **asked)
    raw = raw[raw["statistic"].isin(["h2_overall", "h2_pairwise"])]
    return pd.concat([found, raw.assign(statistic=raw["statistic"] + "_raw")])


SPELLED_OUT = {
    "pdp/nnet_all_default.csv": all_curves,
    "pdp/multinom_z1.csv": classes,
    "vip/vint_nnet_res11_parts.csv": vint_parts,
    "vip/model_nnet_olden.csv": lambda _: network_weights(olden),
    "vip/model_nnet_garson.csv": lambda _: network_weights(garson),
    "models/predictions_first60.csv": predictions,
}
FAMILIES = {
    r"pdp/": curve,
    r"vip/(vi_)?firm_": firm,
    r"vip/vint_": vint,
    r"vip/permute_": permute,
    r"vip/model_(lm|glm)": terms_of,
    r"hstats/": statistics,
    r"models/(lm|glm)": coefficients,
}
# Models whose predictions are compared, and what R drew, are not numbers of ours.
GIVEN = {
    "models/multinom_mixed.csv",
    "models/rpart_mixed.csv",
    "models/rpart_class.csv",
    "models/nnet_friedman.csv",
    "vip/perm_friedman.csv",
    "vip/perm_mixed.csv",
}
CASES = [
    pytest.param(
        entry,
        id=entry["file"],
        marks=[pytest.mark.xfail(strict=True, reason=UNSUPPORTED[entry["file"]])]
        if entry["file"] in UNSUPPORTED
        else [],
    )
    for entry in MANIFEST
    if entry["file"] not in GIVEN
]


def test_the_manifest_is_whole():
    """No file without an entry, no entry without a file, no case that is quietly left out."""
    files = {str(p.relative_to(DATA)) for p in DATA.rglob("*.csv")} - {
        "inputs/friedman1.csv",
        "inputs/mixed.csv",
    }
    assert files == set(CALLS)
    assert len(CASES) + len(GIVEN) == len(MANIFEST) == len(CALLS)
    assert len(UNSUPPORTED) <= 5
    assert set(UNSUPPORTED) <= set(CALLS)


@pytest.mark.parametrize("name", ["perm_friedman", "perm_mixed"])
def test_recorded_permutations_are_permutations(name):
    for drawn in permutations(name).values():
        assert (np.sort(drawn, axis=0) == np.arange(len(drawn))[:, None]).all()


@pytest.mark.parametrize("entry", CASES)
def test_numbers_of_r(entry):
    file = entry["file"]
    compute = SPELLED_OUT.get(file) or next(
        (function for pattern, function in FAMILIES.items() if re.match(pattern, file)), None
    )
    assert compute is not None, f"no way to compute {file}"
    expected = read(file)
    agree(compute(entry), expected, TOLERANCES.get(file, TOLERANCE))


def agree(found, expected, tolerance):
    """Compare all columns, rows joined by what names them where their order is arbitrary.

    Numbers agree to a share of their own size, those that are 0 in exact arithmetic absolutely.
    """
    assert len(found) == len(expected)
    assert set(expected) <= set(found)
    keys = [
        c
        for c in ("Variable", "Variables", "statistic", "term")
        if c in expected and not (pd.api.types.is_numeric_dtype(expected[c]))
    ]
    if keys:
        found, expected = (
            frame.fillna(dict.fromkeys(keys, "")).sort_values(keys, ignore_index=True)
            for frame in (found, expected)
        )
    for name in expected:
        a, b = found[name].to_numpy(), expected[name].to_numpy()
        if expected[name].dtype.kind in "fiu":
            a, b = a.astype(float), b.astype(float)
            allowed = np.where(np.abs(b) < ROUNDING, ROUNDING, tolerance * np.abs(b))
            assert (np.abs(a - b) <= allowed).all(), f"{name}: {np.abs(a - b).max():.2g}"
        else:
            assert list(map(str, a)) == list(map(str, b)), name
