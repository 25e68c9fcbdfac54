"""Whether a user's class predicts as the class of the library that it extends."""

from __future__ import annotations

import re

from pyinterp.models.libraries import LIBRARIES

# Packages whose models predict other rows by the same rule as the rows that are checked.
PACKAGES = {library.package for library in LIBRARIES if library.regular} | {"pyinterp"}
# What a prediction begins with, in classes that extend no library's.
PREDICTING = {"predict", "predict_proba", "decision_function", "transform"}
PREDICTING |= {"__getattribute__", "__getattr__"}
# What a class may have of its own without that its predictions change; scikit-learn adds some.
HARMLESS = re.compile(
    r"__(?!getattr).*|_abc_.*|_sklearn_.*|_parameter_constraints|set_.*|get_params|(partial_)?fit|"
    "score|learner_name"
)


def overrides_prediction(kind: type) -> bool:
    """Whether a class has, before the first class of a library, what may be a part of predictions.

    That is an attribute that the library's class has too, or one of fitted models, ``coef_`` say.
    Names alone count, which a class keeps when it travels to another process; a class that extends
    no library is left to the comparison of its predictions.
    """
    own = set[str]()
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] in PACKAGES:
            break
        if base is not object:
            own |= vars(base).keys()
    else:
        return not own.isdisjoint(PREDICTING)
    for name in own:
        if not HARMLESS.fullmatch(name) and (hasattr(base, name) or name.endswith("_")):
            return True
    return False
