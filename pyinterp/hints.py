"""What to write here for names that other packages have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# What is written here, by the names of vip, pdp, iml, DALEX, statsmodels, scikit-learn,
# marginaleffects and shap. `res` is a fit.
WORDS = {
    "`res.pfi()`, permutation importance with standard errors; `res.importance()` puts several "
    "importances side by side": (
        "vi vip vi_permute varimp permutation_importance feature_importance feature_importances "
        "feature_importances_ variable_importance importances model_parts"
    ),
    '`res.pd("x")`, the mean prediction at values of x with a band; `.plot()` draws it': (
        "partial partial_dependence plot_partial_dependence pdp plot_predictions avg_predictions "
        "model_profile"
    ),
    '`res.pd("x", kind="ice")`, the curves of single rows': "ice d_ice c_ice",
    "`res.ame()`, average effects with standard errors, as a learner need not have coefficients; "
    '`res.pd("x")` has the curve': (
        "coef coef_ coefs coefficients params avg_slopes get_margeff margeff avg_comparisons"
    ),
    '`res.pfi()` for the whole analysis, or `res.pd("x", kind="ice")` for single rows: SHAP values '
    "have no standard errors of a learner": "shap shap_values explain shapley sage lime",
    '`res.pfi().wald_test("x = 0, z = 0")`, or `pi.compare(res, smaller)` for the loss of a fit '
    "with fewer variables": "anova anova_lm lr_test compare_f_test",
    '`res.loss()`, the loss on rows that did not train, or `res.metric("r2")`': (
        "score aic bic llf rsquared rsquared_adj deviance"
    ),
    "`res.h_statistic()`": "interaction interactions interact hstats h2",
    '`res.pfi(sampler="conditional")`': "cfi conditional_importance conditional_pfi",
}
BY_NAME = {name: words for words, names in WORDS.items() for name in names.split()}


def sentence(name: str) -> str:
    """Return what to write instead of another package's name; empty for any other name."""
    if name not in BY_NAME:
        return ""
    return (
        f"Instead of `{name}` write {BY_NAME[name]}. `res` is a fit, as of `learner.fit(seed=1)`."
    )


class Hints:
    """Says what to write for names of other packages, where it has no such attribute."""

    if not TYPE_CHECKING:  # a type checker would accept any name

        def __getattr__(self, name: str) -> Any:
            if words := self._hint(name):
                raise AttributeError(words)
            return object.__getattribute__(self, name)  # the usual error, or that of a property

    def _hint(self, name: str) -> str:
        return sentence(name)
