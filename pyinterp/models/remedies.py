"""What to do about errors of other libraries, where their words do not tell."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from pyinterp.errors import reason
from pyinterp.models.libraries import LIBRARIES, library_of

# By words of a message.
REMEDIES = {words: text for one in LIBRARIES for words, text in one.remedies.items()}


def explanation(error: BaseException, model: Any = None) -> str:
    """Return a library's words, with a remedy where they name none.

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
    if library_of(model).results:
        remedies.append("if it needs more than rows, pass `lambda Z: results.predict(Z, ...)`.")
    return "; ".join([reason(error).rstrip("."), *remedies]) if remedies else reason(error)


def _is_unfitted(model: Any) -> bool:
    """Whether an estimator says that it is not fitted."""
    if callable(getattr(model, "is_fitted", None)):
        return not bool(model.is_fitted())
    try:
        check_is_fitted(model)
    except NotFittedError:
        return True
    except TypeError:  # no estimator
        return False
    return False
