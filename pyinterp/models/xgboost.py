"""What XGBoost needs."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pyinterp.errors import OptionError
from pyinterp.models.library import RANKING, STOPPING, Aim, Booster, Library, Offset
from pyinterp.models.objectives import aim_by_parameters
from pyinterp.models.trees import Ensemble, Levels, of_treelite

NO_CATEGORIES: Mapping[str, list[Any]] = {"enc": [], "feature_segments": [], "sorted_idx": []}


def _stops(model: Any, rounds: int) -> Mapping[str, Any]:
    """Return options of `fit` that stop training after so many rounds without gain."""
    model.set_params(early_stopping_rounds=rounds)
    return {"verbose": False}


def _categories(model: Any) -> set[int]:
    """Return the positions of the columns that a fitted model takes as categories."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    return {j for j, kind in enumerate(booster.feature_types or ()) if kind == "c"}


def _native(booster: Any) -> Booster | None:
    """Return a native booster with its columns and classes; None for another model."""
    if type(booster).__name__ != "Booster":
        return None
    from xgboost import DMatrix  # noqa: PLC0415 - not a dependency

    learner = json.loads(booster.save_config())["learner"]
    parameters = _parameters(booster)
    objective = parameters["objective"]
    if objective == "multi:softmax":
        raise OptionError(
            "A native booster must predict numbers or probabilities, but with the objective "
            'multi:softmax it predicts labels; train it with "multi:softprob".'
        )
    return Booster(
        booster,
        lambda X: booster.predict(DMatrix(X, enable_categorical=True)),
        objective,
        int(learner["learner_model_param"]["num_class"]),
        booster.feature_names,
        booster.num_features(),
        aim_by_parameters(parameters),
        code="model.predict(xgboost.DMatrix(X))",
    )


def _parameters(booster: Any) -> dict[str, Any]:
    """Return the objective of a native booster, with its own options."""
    parts = json.loads(booster.save_config())["learner"]["objective"]
    found = {"objective": parts.pop("name")}
    for part in parts.values():
        found |= {name: _value(text) for name, text in part.items()}
    return found


def _value(text: str) -> Any:
    """Return the value of a text in a booster's configuration: numbers, or a name."""
    with suppress(ValueError):
        return json.loads(text)
    return text


def _aim(model: Any) -> Aim:
    """Return the aim of a model; one that was read from a file lacks options of its own."""
    given = {name: value for name, value in model.get_params().items() if value is not None}
    stored = _parameters(model.get_booster()) if model.__sklearn_is_fitted__() else {}
    return aim_by_parameters(stored | given)


def _trees(estimator: Any) -> Ensemble | None:
    """Return the trees of a fitted model as arrays; None of a linear one."""
    import treelite  # noqa: PLC0415 - loads a library of C++

    if estimator.booster == "gblinear":
        return None
    model, levels = _model(estimator, treelite.frontend)
    missing = float(estimator.missing)
    return of_treelite(model, levels=levels, single=True, single_sums=True, missing=missing)


def _model(estimator: Any, frontend: Any) -> tuple[Any, Levels]:
    """Return a fitted model as one of treelite, and the levels behind codes by column, if stored.

    Of early stopping the trees that predict are those up to the best iteration. treelite reads no
    model that stores the levels: they are taken out, and trees compare codes.
    """
    booster = whole = estimator.get_booster()
    best = booster.attr("best_iteration")
    if best is not None:
        booster = booster[: int(best) + 1]
    if "c" not in (booster.feature_types or ()):
        return frontend.from_xgboost(booster), {}
    content, stored = json.loads(booster.save_raw("json")), json.loads(whole.save_raw("json"))
    _part_of_trees(content)["cats"] = NO_CATEGORIES
    # A part of the trees comes without the levels.
    levels = map(_levels, _part_of_trees(stored).get("cats", NO_CATEGORIES)["enc"])
    model = frontend.from_xgboost_json(json.dumps(content))
    return model, {j: of for j, of in enumerate(levels) if of}


def _part_of_trees(content: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a model that holds its trees; in `dart` it is a level deeper."""
    booster = content["learner"]["gradient_booster"]
    trees: dict[str, Any] = booster.get("gbtree", booster)["model"]
    return trees


def _levels(encoding: Mapping[str, Any]) -> list[Any]:
    """Return levels in the order of their codes: numbers, or texts that are stored in a row."""
    values = encoding["values"]
    if "offsets" not in encoding:
        return list(values)
    text, ends = bytes(v % 256 for v in values), encoding["offsets"]
    return [text[a:b].decode() for a, b in itertools.pairwise(ends)]


XGBOOST = Library(
    package="xgboost",
    families={"boosting": r"xgboost\..*"},
    wants_codes=True,
    missing="tags",
    offset=lambda model: (
        None
        if hasattr(model, "predict_proba")
        else Offset("base_margin", linear="output_margin", base="base_score")
    ),
    aim=_aim,
    validation={"sample_weight": "sample_weight_eval_set", "base_margin": "base_margin_eval_set"},
    stops=_stops,
    categories=_categories,
    native=_native,
    estimator="XGB",
    trees=_trees,
    remedies={
        "DataFrame.dtypes for data must be": (
            "give texts the type category, `X.astype({'g': 'category'})`, and pass "
            "`enable_categorical=True`."
        ),
        "validation dataset for early stopping": STOPPING,
        "or `qid` is required": RANKING,
    },
)
