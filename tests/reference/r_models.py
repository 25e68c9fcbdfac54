"""The models behind the numbers of R's packages, from their coefficients, rules and weights."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

DATA = Path(__file__).parent / "data"
V = [f"x{j}" for j in range(1, 11)]
M = ["z1", "z2", "z3", "z4", "f1", "f2"]

Predict = Callable[[pd.DataFrame], np.ndarray]


def read(name):
    return pd.read_csv(DATA / name)


def friedman():
    return read("inputs/friedman1.csv")


def mixed():
    data = read("inputs/mixed.csv")
    levels = json.loads((DATA / "inputs/mixed_levels.json").read_text())
    return data.assign(**{f: pd.Categorical(data[f], levels[f]) for f in ("f1", "f2", "ycls")})


def linear(name):
    """Return the linear predictor of a table of coefficients."""
    table = read(f"models/{name}.csv").set_index("term")["estimate"]

    def predict(data):
        return sum(b * column(term, data) for term, b in table.items())

    return predict


def column(term, data):
    """Return a column of R's design matrix with treatment contrasts."""
    if term == "(Intercept)":
        return 1.0
    if ":" in term:
        return np.prod([column(part, data) for part in term.split(":")], axis=0)
    if term.startswith("I("):
        return data[term[2 : term.index("^")]].to_numpy(float) ** 2
    if term in data:
        return data[term].to_numpy(float)
    factor = next(f for f in ("f1", "f2") if term.startswith(f))
    return (data[factor] == term.removeprefix(factor)).to_numpy(float)


def multinomial(data):
    table = read("models/multinom_mixed.csv")
    scores = [np.zeros(len(data))]
    for label in ("b", "c"):
        own = table[table["class"] == label].set_index("term")["estimate"]
        scores.append(sum(b * column(term, data) for term, b in own.items()))
    return special.softmax(np.column_stack(scores), axis=1)


def tree(name, values):
    """Return the predictions of rpart's rules; a level that no rule names stops at its node."""
    nodes = read(f"models/{name}.csv").set_index("node")
    ends = {node: row[values].to_numpy(float) for node, row in nodes.iterrows()}

    def predict(data):
        found = np.empty((len(data), len(values)))
        waiting = [(1, np.arange(len(data)))]
        while waiting:
            node, rows = waiting.pop()
            rule = nodes.loc[node]
            left, right = sides(rule, data, rows)
            found[rows] = ends[node]
            for child, go in (("left", left), ("right", right)):
                if go.any():
                    waiting.append((int(rule[child]), rows[go]))
        return found[:, 0] if len(values) == 1 else found

    return predict


def sides(rule, data, rows):
    none = np.zeros(len(rows), bool)
    if not isinstance(rule["var"], str) or rule["var"] == "<leaf>" or pd.isna(rule["left"]):
        return none, none
    x = data[rule["var"]].to_numpy()[rows]
    if rule["op"] == "levels":
        return tuple(np.isin(x, rule[f"levels_{s}"].split("|")) for s in ("left", "right"))
    below = x.astype(float) < rule["cut"]
    return (below, ~below) if "x < cut goes left" in rule["op"] else (~below, below)


def weights():
    """Return the network's weights into the hidden units and out of them, and both biases."""
    table = read("models/nnet_friedman.csv").set_index(["from", "to"])["weight"]
    hidden = [f"h{k}" for k in range(1, 5)]
    out = next(to for _, to in table.index if to not in hidden)
    w_in = np.array([[table[x, h] for h in hidden] for x in V])
    w_out = np.array([table[h, out] for h in hidden])
    return w_in, w_out, np.array([table["b", h] for h in hidden]), table["b", out]


def network(data):
    w_in, w_out, b_in, b_out = weights()
    a = data[V].to_numpy(float) @ w_in + b_in
    hidden = np.where(np.abs(a) > 15, np.where(a > 0, 1.0, 0.0), special.expit(a))
    return hidden @ w_out + b_out
