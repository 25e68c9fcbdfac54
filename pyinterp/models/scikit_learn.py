"""What scikit-learn needs: its trees, forests and boosting, and the distributions it implies.

Histogram gradient boosting has an encoder of categories, whose codes the trees compare. A category
that training did not have is missing to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import is_classifier
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.ensemble._forest import BaseForest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.tree import BaseDecisionTree

from pyinterp._typing import FloatArray
from pyinterp.distributions import Normal, NormalMixture
from pyinterp.errors import PredictionError
from pyinterp.models.library import HALF, Aim, Library, Statement
from pyinterp.models.links import exponential, identity, logistic, only_sum, softmax
from pyinterp.models.objectives import LOG_LINKS, aim_by_words
from pyinterp.models.trees import Ensemble, TreeNodes, of_treelite

# What nodes of its trees hold: another field would be another kind of split.
NODE = {"left_child", "right_child", "feature", "threshold", "missing_go_to_left"}
NODE |= {"impurity", "n_node_samples", "weighted_n_node_samples"}
LINKS = {
    "IdentityLink": only_sum,
    "LogLink": exponential,
    "LogitLink": logistic,
    "MultinomialLogit": softmax,
}
BITS = 32  # of a word of the sets of categories that go to the left
# The default `alpha` of GaussianProcessRegressor, which is there for rounding.
JITTER = 1e-10
# Of squared responses: a variance below it is rounding, or has no three digits.
VARIANCE = 1e4 * float(np.finfo(np.float64).eps)
# Learners of no mean that have no other words for it, and transformations that keep means.
NO_MEAN = re.compile(r"\w*SV[CR]|(Huber|TheilSen|RANSAC|AdaBoost)Regressor|Perceptron")
LINEAR = {"NoneType", "StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"}


def _aim(model: Any) -> Aim:
    """Return what a model of scikit-learn, or a subclass, predicts: a mean, a quantile, or other.

    An unknown regressor inside `TransformedTargetRegressor` leaves it unknown.
    """
    names = [kind.__name__ for kind in type(model).__mro__]
    strategy, wraps = getattr(model, "strategy", "mean"), "TransformedTargetRegressor" in names
    words = names[0] if any(map(NO_MEAN.fullmatch, names)) else ""
    if strategy not in ("mean", "prior", "median", "quantile"):  # of DummyRegressor
        words = f"{names[0]}, strategy={strategy!r}"
    elif wraps and (model.func is not None or type(model.transformer).__name__ not in LINEAR):
        words = f"{names[0]}, of a transformed response"
    if words:
        return Aim("other", words)
    if wraps or "CalibratedClassifierCV" in names:
        return Aim() if wraps and model.regressor is not None else Aim("mean", names[0])
    if strategy in ("median", "quantile") or "QuantileRegressor" in names:
        q = HALF if strategy == "median" else model.quantile
        return Aim("quantile", f"{names[0]}, quantile={q:g}", q)
    stems = (name.removesuffix("Regressor").lower() for name in names)
    stem = next((stem for stem in stems if stem in LOG_LINKS), "")
    if not stem:
        return aim_by_words(model)
    link, power = getattr(model, "link", "auto"), float(getattr(model, "power", 1))
    log = link == "log" or (link == "auto" and power > 0)
    return Aim.mean(names[0], stem if log else "", power)


def _categories(model: Any) -> list[int]:
    """Return the positions of the columns that a fitted model takes as categories."""
    mask = getattr(model, "is_categorical_", None)  # of histogram boosting
    return [] if mask is None else np.flatnonzero(mask).tolist()


def _trees(estimator: Any) -> Ensemble | None:
    """Return the trees of a fitted ensemble as arrays; None for another model."""
    if isinstance(estimator, BaseDecisionTree | BaseForest):
        return _of_trees(estimator)
    if isinstance(estimator, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        return _of_histograms(estimator)
    if not isinstance(estimator, GradientBoostingClassifier | GradientBoostingRegressor):
        return None
    import treelite  # noqa: PLC0415 - loads a library of C++

    return of_treelite(treelite.sklearn.import_model(estimator), single=True)


def _of_trees(estimator: Any) -> Ensemble | None:
    """Return the trees of a forest, which are averaged."""
    classifier = is_classifier(estimator)
    every = getattr(estimator, "estimators_", [estimator])
    fitted = [member.tree_ for member in every if hasattr(member, "tree_")]
    if not fitted or fitted[0].value.shape[1] != 1:  # several responses
        return None
    if set(fitted[0].__getstate__()["nodes"].dtype.names) != NODE:
        return None

    def nodes() -> Iterator[TreeNodes]:
        for tree in fitted:
            leaves = np.asarray(tree.value[:, 0, :], np.float64)
            if classifier:  # as shares: older trees have counts
                leaves = leaves / leaves.sum(axis=1, keepdims=True)
            yield TreeNodes(
                left=tree.children_left,
                right=tree.children_right,
                column=tree.feature,
                threshold=tree.threshold,
                missing_left=tree.missing_go_to_left,
                leaves=leaves,
            )

    return Ensemble(
        nodes=nodes(),
        base=np.zeros(fitted[0].value.shape[2]),
        scale=1.0 / len(fitted),
        link=identity if classifier else only_sum,
        single=True,
    )


def _of_histograms(estimator: Any) -> Ensemble | None:
    """Return the trees of histogram boosting; None for an unknown link."""
    base = np.ravel(estimator._baseline_prediction).astype(np.float64)
    link = LINKS.get(type(estimator._loss.link).__name__)
    if link is None:
        return None
    every, columns = _training_categories(estimator), np.arange(estimator.n_features_in_)
    place = np.concatenate([list(every), np.setdiff1d(columns, list(every))]).astype(np.intp)

    def nodes() -> Iterator[TreeNodes]:
        for stage in estimator._predictors:
            for output, tree in enumerate(stage):
                fields, is_leaf = tree.nodes, tree.nodes["is_leaf"].astype(bool)
                leaves = np.zeros((len(fields), len(base)))
                leaves[:, output] = fields["value"]
                categories = {}
                for q in np.flatnonzero(fields["is_categorical"].astype(bool) & ~is_leaf):
                    words = tree.raw_left_cat_bitsets[fields["bitset_idx"][q]]
                    categories[int(q)] = _members(words), True
                yield TreeNodes(
                    left=np.where(is_leaf, -1, fields["left"].astype(np.int64)),
                    right=np.where(is_leaf, -1, fields["right"].astype(np.int64)),
                    # The trees split columns of categories first.
                    column=place[np.where(is_leaf, 0, fields["feature_idx"])],
                    threshold=fields["num_threshold"],
                    missing_left=fields["missing_go_to_left"],
                    leaves=leaves,
                    categories=categories,
                )

    numbers = {j for j, c in every.items() if c.dtype.kind in "biuf"}
    return Ensemble(
        nodes=nodes(),
        base=base,
        link=link,
        levels={j: None if j in numbers else c.tolist() for j, c in every.items()},
        categories={j: every[j].astype(np.float64) for j in numbers},
    )


def _members(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """Return the numbers whose bits are set."""
    bits = (words[:, None] >> np.arange(BITS, dtype=np.uint32)) & 1
    return np.flatnonzero(bits.ravel()).astype(np.int64)


def _training_categories(estimator: Any) -> dict[int, npt.NDArray[Any]]:
    """Return the categories of the training data by column, without the missing one, the last."""
    if estimator.is_categorical_ is None:
        return {}
    encoder = estimator._preprocessor.named_transformers_["encoder"]
    observed = (np.asarray(c)[~pd.isna(np.asarray(c))] for c in encoder.categories_)
    return dict(zip(_categories(estimator), observed, strict=True))


def _distribution(model: Any) -> Statement | None:
    """Return how a model states distributions of predictions; None if it states none."""
    if isinstance(model, GaussianProcessRegressor) and np.any(model.alpha > JITTER):
        return _of_process(model)
    if isinstance(model, RandomForestRegressor | ExtraTreesRegressor):
        return _of_forest(model)
    return None


def _of_process(model: Any) -> Statement:
    """Read a process whose noise is its `alpha`, which `return_std=True` leaves out."""
    if np.ptp(model.alpha) > 0:
        raise PredictionError(
            "The `alpha` of GaussianProcessRegressor is the noise of each training row, and that "
            "of a new row is not known; use one number for all rows, or a WhiteKernel."
        )
    # `normalize_y` divides the response by its standard deviation, and the noise too.
    scale = float(np.mean(model._y_train_std))
    return Normal(), partial(with_sd, model, noise=scale * np.sqrt(np.max(model.alpha)))


def with_sd(model: Any, inputs: Any, noise: float = 0.0) -> FloatArray:
    """Return the mean and standard deviation that a model predicts, noise added."""
    mean, sd = model.predict(inputs, return_std=True)
    return np.column_stack([mean, np.hypot(sd, noise) if noise else sd])


def _of_forest(model: Any) -> Statement | None:
    """Read a forest as the mixture of its leaves."""
    if model.criterion not in ("squared_error", "friedman_mse"):
        return None
    if any(_is_certain(tree.tree_) for tree in model.estimators_):
        least = model.min_samples_leaf
        more = "`min_samples_leaf=5` or more" if least in (1, 2, 3, 4) else "larger leaves"
        raise PredictionError(
            "A forest is read as the mixture of its leaves' Normal distributions, but some leaf "
            f"of this {type(model).__name__} has responses that are all the same but for rounding, "
            f"so variance 0; use {more} (`min_samples_leaf` is {least}), and subtract a constant "
            "from responses that are far from 0."
        )
    return NormalMixture(len(model.estimators_)), partial(_of_leaves, model)


def _of_leaves(forest: Any, inputs: Any) -> FloatArray:
    """Return every tree's Normal: mean and deviation of the training responses in the leaf."""
    leaves = forest.apply(inputs)
    trees = [tree.tree_ for tree in forest.estimators_]
    means = [tree.value[leaves[:, t], 0, 0] for t, tree in enumerate(trees)]
    sds = [np.sqrt(tree.impurity[leaves[:, t]]) for t, tree in enumerate(trees)]
    return np.column_stack(means + sds)


def _is_certain(tree: Any) -> bool:
    """Whether some leaf has no variance: trees keep mean square minus squared mean."""
    leaves = tree.children_left < 0
    mean = tree.value[leaves, 0, 0]
    return not bool((tree.impurity[leaves] > VARIANCE * np.square(mean)).all())


SCIKIT_LEARN = Library(
    package="sklearn",
    families={
        "single trees": r".*\.(DecisionTree|ExtraTree)(Regressor|Classifier)",
        "forests": r".*\.(RandomForest|ExtraTrees)(Regressor|Classifier)",
        "boosting": r".*\.(Hist)?GradientBoosting\w+",
        "lassos": (
            r".*\.((MultiTask)?(Lasso|ElasticNet)|(Lasso|LassoLars|ElasticNet)CV|LassoLars(IC)?)"
        ),
        "linear models": r"sklearn\.linear_model\..*",
        "nearest neighbors": r"sklearn\.neighbors\..*",
        "kernel ridge": r"sklearn\.kernel_ridge\..*",
        "support vectors": r"sklearn\.svm\.(?!.*Linear).*",
    },
    missing="tags",
    aim=_aim,
    categories=_categories,
    trees=_trees,
    distribution=_distribution,
    remedies={
        "could not convert string to float": (
            'it reads no texts: use `design="matrix"`, encode them in a pipeline, or give them the '
            "type category for learners that read it."
        ),
        "Cannot clone object": (
            "scikit-learn copies no estimator that changes its parameters: pass lists among them "
            "as tuples, such as `cat_features=('g',)`."
        ),
        "Found unknown categories": (
            'merge rare levels, or let the encoder say `handle_unknown="ignore"`.'
        ),
        "only supported for dataframes": 'a formula passes them with `design="frame"`.',
        "two dimensions for multi-output": (
            "a learner has one response: pass the estimator inside."
        ),
    },
)
