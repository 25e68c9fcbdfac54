"""What to do about errors of other libraries, where their words do not tell."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from pyinterp.errors import reason

CATEGORY = "give texts the type category, `X.astype({'g': 'category'})`"
RANKING = (
    "a learner has no groups of rows to rank within: fit the model yourself, and explain it by "
    "`pi.FittedModel`."
)
STOPPING = (
    "a learner has no rows to stop by: leave early stopping out of its parameters, and pass it as "
    "`pi.EarlyStopping(estimator)`, which takes some of the training rows."
)
# By words of a message.
REMEDIES = {
    # scikit-learn
    "could not convert string to float": (
        'it reads no texts: use `design="matrix"`, encode them in a pipeline, or give them the '
        "type category for learners that read it."
    ),
    "Cannot clone object": (
        "scikit-learn copies no estimator that changes its parameters: pass lists among them as "
        "tuples, such as `cat_features=('g',)`."
    ),
    "only supported for dataframes": 'a formula passes them with `design="frame"`.',
    "two dimensions for multi-output": "a learner has one response: pass the estimator inside.",
    # XGBoost and LightGBM
    "DataFrame.dtypes for data must be": f"{CATEGORY}, and pass `enable_categorical=True`.",
    "pandas dtypes must be int, float or bool": f"{CATEGORY}.",
    "validation dataset for early stopping": STOPPING,
    "dataset and eval metric is required": STOPPING,
    "Should set group for ranking": RANKING,
    "or `qid` is required": RANKING,
    # CatBoost
    "Bad value for num_feature": "name columns of texts in `cat_features` or `text_features`.",
    "it means no categorical features": (
        "an array of numbers has no categories: pass a data frame in which they are texts or whole "
        'numbers, and with a formula `design="frame"`.'
    ),
    "Invalid type for cat_feature": (
        "categories must be texts or whole numbers, none of them missing: fill and convert them, "
        "`X['g'].fillna('missing').astype(str)`."
    ),
    "require nontrivial groups": RANKING,
    # skorch
    "target data shouldn't be 1-dimensional": (
        "write a class of your own, whose `fit` passes `np.asarray(y, 'float32').reshape(-1, 1)`."
    ),
}


def explanation(error: BaseException, model: Any = None) -> str:
    """Return what a library says, and what to do where its words do not tell.

    Parameters
    ----------
    error : BaseException
    model : object, optional
        What was asked for predictions, if that failed: it may not be fitted.
    """
    model = getattr(model, "inside", model)  # of a fitted model with an offset
    remedies = [remedy for words, remedy in REMEDIES.items() if words in str(error)]
    if model is not None and _is_unfitted(model):
        remedies.append("it must be fitted: call `fit` first, or give it to `pi.Learner`.")
    if hasattr(model, "cov_params"):  # results of statsmodels
        remedies.append("if it needs more than rows, pass `lambda Z: results.predict(Z, ...)`.")
    return "; ".join([reason(error).rstrip("."), *remedies]) if remedies else reason(error)


def _is_unfitted(model: Any) -> bool:
    """Whether an estimator says that it is not fitted."""
    if callable(getattr(model, "is_fitted", None)):  # CatBoost
        return not bool(model.is_fitted())
    try:
        check_is_fitted(model)
    except NotFittedError:
        return True
    except TypeError:  # no estimator
        return False
    return False
