"""Labels of R's models are those of R's `predict`, where it says some."""

import numpy as np
import pandas as pd
import pytest
from shared import normal_rows

import pyinterp as pi
from r_bridge import RCode, RLearner, RModel
from r_bridge.session import SESSION

TOLERANCE = 1e-12
N = 80


@pytest.fixture(scope="module")
def data():
    rng, frame = normal_rows(N, "a b", 3)
    return frame.assign(y=np.where(frame.a + 1.5 * rng.normal(size=N) > 1, "yes", "no"))


# By class of fit: R code that fits to `d`, and the code of its labels.
FITS = {
    "randomForest": (
        "randomForest::randomForest(z ~ a + b, d, ntree = 25, cutoff = c(.85, .15))",
        "predict(fit, d)",
    ),
    "rpart": (
        "rpart::rpart(z ~ a + b, d, parms = list(loss = matrix(c(0, 5, 1, 0), 2)))",
        "predict(fit, d, type = 'class')",
    ),
    "nnet": (
        "nnet::nnet(z ~ a + b, d, size = 2, trace = FALSE)",
        "predict(fit, d, type = 'class')",
    ),
    "MASS": ("MASS::lda(z ~ a + b, d)", "predict(fit, d)$class"),
    "e1071": ("e1071::svm(z ~ a + b, d, probability = TRUE)", "predict(fit, d)"),
    "stats": (
        "stats::glm(z ~ a + b, 'binomial', d)",
        "levels(d$z)[1 + (predict(fit, type = 'response') > .5)]",
    ),
}


@pytest.mark.parametrize("package", FITS)
def test_labels_are_those_of_predict_in_r(package, data, r, installed):
    installed(package)
    fit, labels = FITS[package]
    SESSION.call("assign", "d", data.assign(z=pd.Categorical(data.y)), envir=RCode("globalenv()"))
    r(f"evalq({{set.seed(1); fit <- {fit}; 1}}, globalenv())")
    said = np.array([str(v) for v in r(f"evalq(as.character({labels}), globalenv())")])
    model = pi.FittedModel(RModel("fit"), data[["a", "b"]], data.y)
    accuracy = model.metric("accuracy").params.iloc[0]
    assert accuracy == pytest.approx(float((said == data.y).mean()), abs=TOLERANCE)


def test_a_learner_of_r_says_the_labels_of_its_cutoff(data, installed):
    installed("randomForest")
    forest = RLearner(
        "randomForest::randomForest", classifier=True, ntree=25, cutoff=[0.85, 0.15], random_state=1
    ).fit(data[["a", "b"]], data.y)
    p = forest.predict_proba(data[["a", "b"]])
    expected = np.where(p[:, 1] / 0.15 > p[:, 0] / 0.85, "yes", "no")
    assert list(forest.predict(data[["a", "b"]])) == list(expected)
