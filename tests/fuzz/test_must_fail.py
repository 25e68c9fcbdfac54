"""What must be refused is refused, in the package's own words.

Values that are wrong by the kind of their argument are in `oddities` and `data_oddities`; here are
those that are wrong beside other arguments, or for what is asked.
"""

from __future__ import annotations

import pytest
from verdict import judge_source

# Expression, and what a referee would say if a table came out.
MUST_FAIL = {
    "pi.FittedModel(KMeans(2).fit(X), X, y).pfi()": "cluster numbers are no predictions",
    "pi.FittedModel(KMeans(2, n_init=1).fit(X), X).pd('x')": "nor are they without a response",
    "pi.FittedModel(lin, d[['k', 'z', 'x']].rename(columns={'x': 'w'}), y).pfi()": "other names",
    "pi.FittedModel(lin, X, y[::-1]).pfi()": "rows in another order",
    "pi.FittedModel(lin, X, y, cluster=d['s'][::-1])": "rows in another order",
    "pi.FittedModel(lin, X, y.set_axis(range(5, 5 + N))).pfi()": "rows of another index",
    "pi.FittedModel(lin, X).pfi()": "a loss without a response",
    "pi.FittedModel(lin, X, y, cluster='s').pfi()": "no such column",
    "pi.FittedModel(lin, X, y, cluster=np.zeros(N)).pfi()": "one cluster has no variance",
    "pi.FittedModel(logit, X, d['g']).pfi()": "other classes than the model's",
    "pi.FittedModel(logit.predict_proba, X, c, classes=['no']).pfi()": "one class",
    "pi.FittedModel(logit.predict_proba, X, c, classes=['no', 'no']).pfi()": "twice one class",
    "pi.FittedModel(lambda X: 3 * logit.predict_proba(X), X, c, classes=['no', 'yes']).pfi()": "3",
    "pi.FittedModel(lin, X, y, classes=['a', 'b']).pfi()": "classes of a regression",
    "pi.FittedModel(lin, X, y, engine='trees').pfi()": "no trees",
    "pi.FittedModel(ols, X, y).pfi()": "the constant is missing",
    "pi.FittedModel(smf.glm('k ~ x', d, family=sm.families.Poisson(), offset=d.z).fit(), d, 'k')"
    ".pfi()": "the model's offset is left out",
    "fm.loco()": "nothing to train again",
    "res.pd('y')": "the response is no feature",
    "res.pd(['x', 'z', 'g', 'x'])": "three at most",
    "res.pd(['x', 'x'])": "twice one axis",
    "res.pd('g', grid=['d'])": "at a level that is not there",
    "res.pd('x', grid={'z': [0.0]})": "another variable's grid",
    "res.pd('x', scale='logit')": "the logit of a mean",
    "res.pd('x', which_class='yes')": "a class of a regression",
    "clf.pd('x', which_class='maybe')": "no such class",
    "res.pfi(loss='log')": "log loss of a regression",
    "clf.pfi(loss='squared')": "squared error of words",
    "res.pfi(metric='accuracy')": "accuracy of a regression",
    "res.pfi(loss='squared', metric='mae')": "which of the two?",
    "res.cvim(sampler='marginal')": "CVIM is conditional",
    "res.cvim('g', sampler='residual')": "residuals of letters",
    "res.pfi(cov_type='nested-cv')": "the plan has no nested folds",
    "boot.pfi(cov_type='half-sample')": "the plan has no halves",
    "res.vint('x')": "a pair of one",
    "res.h_statistic(['x', 3], order='pairwise')": "a number among features",
    "res.native_importance('impurity')": "a linear model has none",
    "res.importance(measures=['pfi', 3])": "a number as measure",
    "res.loss(relation='ratio')": "no such relation of a loss",
    "res.causal(['x', 'z'])": "two features",
    "res.firm('x', grid=[0.0])": "one point does not vary",
    "res.firm('x', grid=[0.0, 0.0])": "nor does it twice",
    "res.firm(['x', 'z'], grid={'x': [0.0]})": "nor beside another feature",
    "res.vint(['x', 'z'], grid={'x': [0.0]})": "nor in a pair",
    "res.pfi(sampler={})": "an empty mapping must not make it conditional",
    "res.cvim(sampler={})": "no sampler is named",
    "res.causal('x', points=1)": "an effect needs two values",
    "res.causal('x', grid=[0.0])": "an effect needs two values",
    "res.plot_positivity(['x', 'z'])": "two features",
    "pf.conf_int(95)": "95 percent is 0.05",
    "pf.t_test([1, 0])": "two weights for three terms",
    "pf.t_test([0, 0, 0])": "nothing is tested",
    "pf.t_test([1, 0, np.nan])": "a missing weight",
    "pf.t_test([1, 0, np.inf])": "an infinite weight",
    "pi.compare(pf)": "one is no comparison",
    "pi.compare(pf, res)": "importance against loss",
    "pi.compare(pf, pdx)": "importance against partial dependence",
    "pi.compare(res, clf)": "two responses",
    "pi.compare(res, boot)": "two resampling plans",
    "pi.compare(res, fm)": "a learner and a model",
    "pi.plot([res.pd('x'), pf])": "a curve and values",
    "pi.plot([res.pd('x'), res.pd('z')])": "curves of two variables",
    "pi.plot([res.pd(['x', 'z'], points=3)])": "a surface",
    "pi.plot({'a': pf}, model_names=['b'])": "two names for one",
    "pi.plot([pf], model_names=['a', 'b'])": "two names for one",
    "pi.summary_col([pf], model_names=['a', 'b'])": "two names for one",
    "pf.plot(kind='curves')": "values are no curves",
    "res.pd('x').plot(top=3)": "a curve has no first terms",
    "pi.CrossValidation(1)": "one fold trains on nothing",
    "learner.fit(pi.Bootstrap(3, cluster=np.zeros(N)))": "one cluster",
    "learner.fit(pi.Bootstrap(3, cluster=d['s'].set_axis(range(5, 5 + N))))": "other rows",
    "learner.fit(pi.Bootstrap(3, cluster=d['s'][::-1]))": "rows in another order",
    "learner.fit(pi.Bootstrap(3, strata=d['g'][::-1]))": "rows in another order",
    "pi.r_style.vint(fm, ['x'])": "a pair of one",
    "pi.simulation.khan_regression(offset=-5)": "logarithms of negative numbers",
    "pi.simulation.mease_wyner_classification(features=2, relevant=4)": "4 of 2 features",
    "pi.simulation.mease_wyner_classification(noise=2)": "a probability of 2",
    "pi.simulation.wood_regression(-1)": "a negative variance",
}


@pytest.mark.parametrize("source", MUST_FAIL)
def test_refused(source: str) -> None:
    verdict = judge_source(source)
    assert verdict.kind == "refusal", f"{MUST_FAIL[source]}: {verdict}"
