"""What LightGBM needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from pyinterp.models.library import RANKING, STOPPING, Booster, Library, Offset
from pyinterp.models.objectives import aim_by_parameters, aim_by_words
from pyinterp.models.trees import Ensemble, of_treelite


def _stops(_: Any, rounds: int) -> Mapping[str, Any]:
    """Return options of `fit` that stop training after so many rounds without gain."""
    from lightgbm import early_stopping  # noqa: PLC0415 - an extra

    return {"callbacks": [early_stopping(rounds, verbose=False)]}


def _categories(model: Any) -> set[int]:
    """Return the positions of the columns that a fitted model takes as categories."""
    booster = getattr(model, "booster_", model)
    infos = booster.dump_model(num_iteration=1)["feature_infos"]
    names = booster.feature_name()
    return {j for j, name in enumerate(names) if infos.get(name, {}).get("values")}


def _native(booster: Any) -> Booster | None:
    """Return a native booster with its columns and classes; None for another model."""
    if type(booster).__name__ != "Booster":
        return None
    text, names = booster.model_to_string(num_iteration=1), booster.feature_name()
    objective = re.search(r"^objective=(\S+)", text, re.MULTILINE)
    k = re.search(r"^num_class=(\d+)", text, re.MULTILINE)
    numbered = names == [LIGHTGBM.default_name.format(j) for j in range(len(names))]
    return Booster(
        booster,
        booster.predict,
        objective[1] if objective else "",
        int(k[1]) if k else 1,
        None if numbered else names,
        booster.num_feature(),
        aim_by_parameters(booster.params, q=0.9),
    )


def _trees(estimator: Any) -> Ensemble | None:
    """Return the trees of a fitted model as arrays."""
    import treelite  # noqa: PLC0415 - loads a library of C++

    if estimator.get_params().get("zero_as_missing"):
        return None
    model = treelite.frontend.from_lightgbm(estimator.booster_)
    # Levels are those of category columns, in order.
    return of_treelite(model, levels=estimator.booster_.pandas_categorical or ())


LIGHTGBM = Library(
    package="lightgbm",
    families={"boosting": r"lightgbm\..*"},
    threads=-1,
    missing="tags",
    offset=lambda model: (
        None if hasattr(model, "predict_proba") else Offset("init_score", linear="raw_score")
    ),
    aim=partial(aim_by_words, q=0.9),
    validation={"sample_weight": "eval_sample_weight", "init_score": "eval_init_score"},
    stops=_stops,
    default_name="Column_{}",
    spelling=lambda name: name.replace(" ", "_"),
    categories=_categories,
    native=_native,
    estimator="LGBM",
    trees=_trees,
    remedies={
        "pandas dtypes must be int, float or bool": (
            "give texts the type category, `X.astype({'g': 'category'})`."
        ),
        "dataset and eval metric is required": STOPPING,
        "Should set group for ranking": RANKING,
    },
)
