"""Models that R has fitted already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.data.frames import as_frame
from pyinterp.errors import OptionError
from pyinterp.models.library import Aim
from r_bridge.arguments import check_code, check_no_rows
from r_bridge.conversion import RCode, level_texts
from r_bridge.fits import Fit, Reporting, align, state
from r_bridge.names import columns_by_name
from r_bridge.session import SESSION

__all__ = ["RModel"]


class RModel(Reporting):
    """A model that R has fitted, as a fitted estimator, for `pyinterp.FittedModel`.

    Parameters
    ----------
    fit : str, Path or rpy2 object
        The name of an object in R's global environment, the path of a file written by ``saveRDS``
        (a ``Path``, or a string that ends in ".rds"), or rpy2's view of a model. A function of R is
        called with new rows, and returns what a model predicts.
    classes : sequence, optional
        The classes whose probabilities it predicts, as `y` has them. Those that R knows by the same
        names are taken by name; others are in R's order. By default R's, where the class of model
        is known: strings for a factor, 0 and 1 for numbers.
    feature_names : sequence of str, optional
        The variables; by default the columns of the data that the model's formula names, without
        values from elsewhere, such as `pi`.
    predict_args : mapping, optional
        Arguments of R's `predict`; they replace known ones of the same names for the class of
        the fit; see the table of functions in the documentation.

    Attributes
    ----------
    classes_ : ndarray
        Of a classifier.
    event_first : bool
        Whether R's pdp counts the second of two classes, the event, as its first: where R predicts
        one probability, as ``glm`` does.
    feature_names_in_ : ndarray of str
    n_features_in_ : int
    params : ndarray
        Coefficients of ``lm`` and ``glm``, by which effects take the delta method.
    """

    one_thread = True
    selects_columns = True  # a formula takes its variables from frames that have others too

    def __init__(
        self,
        fit: Any,
        *,
        classes: Sequence[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        predict_args: Mapping[str, Any] | None = None,
    ) -> None:
        self.fit_ = Fit(_resolve(fit))
        self.predict_args = predict_args
        about = self.fit_.describe()
        self.learner_name = str(about["class"])
        self._levels = about["levels"]
        self._r_classes = about["classes"]
        known = self._classes_of_y(classes)
        self.classifier = known is not None
        if known is not None:
            self._r_classes = self._r_classes or level_texts(known)
            self.classes_ = np.array(known)
        self.ordered_ = self.learner_name == "polr"
        text, *named = about["transformed"]
        self.transformed_ = dict.fromkeys(() if known else named, text)
        two = known is not None and len(known) == 2
        self.event_first = two and self.fit_.counts_event_first()
        if about["stated"]:
            state(self, *about["stated"])
        names = list(feature_names) if feature_names is not None else about["variables"]
        if not names:
            raise OptionError(
                f"The variables of a model of class {self.learner_name} can't be found out; pass "
                "`feature_names`."
            )
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        self._words = [str(name) for name in names]

    @property
    def aim(self) -> Aim:
        """What is known of predictions: R's family of a model with a logarithmic link."""
        family = "" if "type" in (self.predict_args or {}) else self.fit_.log_family()
        return Aim.mean("family", family) if family else Aim()

    def _classes_of_y(self, classes: Sequence[Any] | None) -> list[Any] | None:
        """Return the classes as `y` has them, in R's order."""
        if classes is None or self._r_classes is None:
            return _as_numbers(self._r_classes) if classes is None else list(classes)
        given = dict(zip(level_texts(classes), classes, strict=True))
        if given.keys() == set(self._r_classes):
            return [given[name] for name in self._r_classes]
        if len(given) != len(self._r_classes) or given.keys() & set(self._r_classes):
            raise OptionError(
                f"`classes` must be {len(self._r_classes)}, R's {self._r_classes}; got "
                f"{list(classes)}."
            )
        return list(classes)

    def _rows(self, X: pd.DataFrame | npt.ArrayLike) -> pd.DataFrame:
        """Return rows of the model's variables, with its levels."""
        check_no_rows(self.predict_args or {}, None)
        names = self._words
        frame = columns_by_name(X, as_frame(X, "X"), names, "X")
        check_code(self.predict_args or {}, len(frame))
        return align(frame, {n: v for n, v in self._levels.items() if n in names})


def _resolve(fit: Any) -> Any:
    if isinstance(fit, Path) or (isinstance(fit, str) and fit.lower().endswith(".rds")):
        if not Path(fit).is_file():
            raise OptionError(f"`fit` names the file {str(fit)!r}, which does not exist.")
        return SESSION.call("readRDS", str(fit))
    if isinstance(fit, RCode):
        return SESSION.evaluate(fit.text)
    if isinstance(fit, str):
        return SESSION.call("base::get", fit, envir=RCode("globalenv()"))
    if isinstance(fit, SESSION.r.interface.sexp.Sexp):
        return fit
    raise OptionError(
        "`fit` must be the name of an object in R, the path of an .rds file or an rpy2 object, not "
        f"{type(fit).__name__}."
    )


def _as_numbers(classes: list[str] | None) -> list[Any] | None:
    """Return 0 and 1, or False and True, where R's classes were these."""
    if classes == ["0", "1"]:
        return [0, 1]
    return [False, True] if classes == ["FALSE", "TRUE"] else classes
