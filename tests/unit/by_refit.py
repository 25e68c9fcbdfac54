"""Estimates of every refit with the contributions of its rows, which no results keep."""

from sklearn.linear_model import LinearRegression

from pyinterp.inference import RefitEstimate, Replicates


def refits_of(fit, asked):
    """Measure the estimand of some results again, on every refit of the fit: first no halves."""
    estimand = getattr(asked, "estimand", asked)
    return [
        RefitEstimate(
            estimand.read(estimand.measure(case)),
            case.evaluation.rows,
            refit.group,
            case.evaluation.clusters,
            case.evaluation.weights,
        )
        for case, refit in zip(fit.analysis.cases, fit.analysis.refits, strict=True)
    ]


def estimates_of(fit, asked):
    """Return the estimates of the refits whose mean is reported, with their rows."""
    every = refits_of(fit, asked)
    return [every[k].estimate for k in Replicates.of(every).evaluations.estimating]


def pairs_of(refits):
    """Return the refits on complementary halves, side by side."""
    pairs = {}
    for one in refits:
        if one.group is not None and one.group.kind == "pair":
            pairs.setdefault(one.group.number, []).append(one)
    return list(pairs.values())


def separate_of(refits):
    """Return the refits whose mean is reported: all, if there are only halves."""
    return [one for one in refits if one.group is None or one.group.kind != "pair"] or refits


def failing(numbers):
    """Return a least-squares learner of which the refits with these numbers fail."""

    class Fails(LinearRegression):
        count = -1

        def fit(self, X, y):
            type(self).count += 1
            if type(self).count in numbers:
                raise ValueError("no")
            return super().fit(X, y)

    return Fails()
