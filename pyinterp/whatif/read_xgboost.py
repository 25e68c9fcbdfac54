"""Conversion of XGBoost's models to treelite's, with the categories that they store."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import treelite

__all__ = ["stored_levels", "xgboost_model"]

NO_CATEGORIES: Mapping[str, list[Any]] = {"enc": [], "feature_segments": [], "sorted_idx": []}


def xgboost_model(estimator: Any) -> Any:
    """Return a fitted model as one of treelite; trees compare codes of categories.

    Of early stopping the trees that predict are those up to the best iteration. treelite reads no
    model that stores the levels behind codes: they are taken out.
    """
    booster = estimator.get_booster()
    best = booster.attr("best_iteration")
    if best is not None:
        booster = booster[: int(best) + 1]
    if "c" not in (booster.feature_types or ()):
        return treelite.frontend.from_xgboost(booster)
    content = _content(booster)
    _trees(content)["cats"] = NO_CATEGORIES
    return treelite.frontend.from_xgboost_json(json.dumps(content))


def stored_levels(estimator: Any) -> Mapping[int, Sequence[Any]]:
    """Return the levels behind the codes of categories, by column; none if they are not stored."""
    booster = estimator.get_booster()
    if "c" not in (booster.feature_types or ()):
        return {}
    encodings = _trees(_content(booster)).get("cats", {}).get("enc", [])
    levels = (_levels(encoding) for encoding in encodings)
    return {j: of for j, of in enumerate(levels) if of}


def _content(booster: Any) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(booster.save_raw("json"))
    return content


def _trees(content: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a model that holds its trees; that of `dart` is a level deeper."""
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
