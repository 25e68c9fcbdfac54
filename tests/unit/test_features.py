"""Which features there are: variables, groups of them, and names that stand for neither."""

import numpy as np
import pytest

from pyinterp.data.features import check_names, features_of, names_of
from pyinterp.errors import OptionError
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference import COV_TYPES, RefitEstimate, Replicates
from pyinterp.inference.cov_types import default
from pyinterp.resampling import Group

VARIABLES = ("a", "b", "c")


def test_variables_in_no_group_are_features_of_their_own():
    assert features_of(VARIABLES, None) == {"a": ("a",), "b": ("b",), "c": ("c",)}
    assert features_of(VARIABLES, {}) == features_of(VARIABLES, None)
    found = features_of(VARIABLES, {"two": ["c", "a"]})
    assert list(found.items()) == [("two", ("c", "a")), ("b", ("b",))]


def test_a_group_may_have_the_name_of_a_variable_in_it_alone():
    assert features_of(VARIABLES, {"a": ["a", "b"]}) == {"a": ("a", "b"), "c": ("c",)}
    with pytest.raises(OptionError, match="Group 'a' has the name of a variable"):
        features_of(VARIABLES, {"a": ["b", "c"]})
    with pytest.raises(OptionError, match="Group 'a' has the name of a variable"):
        features_of(VARIABLES, {"a": ["b"], "d": ["a", "c"]})


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "b"], "`groups` must map names to lists"),
        ({1: ["a"]}, "name of a group must be a text"),
        ({"d": "a"}, "must be a list of variables"),
        ({"d": []}, "must be a list of variables"),
        ({"d": ["a", "e"]}, "Can't find variable 'e'"),
        ({"d": ["a"], "e": ["b", "a"]}, "in one group only"),
    ],
)
def test_groups_that_are_none(groups, message):
    with pytest.raises(OptionError, match=message):
        features_of(VARIABLES, groups)


def test_names_are_one_or_several_known_strings():
    assert names_of("a") == ["a"]
    assert names_of(("a", "b")) == ["a", "b"]
    for wrong in (3, ["a", 3], None):
        with pytest.raises(OptionError, match="must be a name or a list of names"):
            names_of(wrong)
    check_names(["a", "c"], VARIABLES)
    with pytest.raises(OptionError, match="Can't find feature 'd'"):
        check_names(["a", "d"], VARIABLES)
    with pytest.raises(OptionError, match="at least one pair"):
        check_names([], VARIABLES, kind="pair")


def test_the_default_variance_is_the_best_that_refits_can_serve():
    one = Estimate.of_rows(np.ones((2, 1)))
    rows = np.arange(2)
    expected = {
        "half-sample": ([None, None, Group("pair", 0), Group("pair", 0)], 0.5),
        "bootstrap": ([Group("bootstrap", k) for k in range(2)], 0.5),
        "corrected": ([None, None], 0.5),
        "naive": ([None, None], 0.0),
        "ustat": ([None], 0.0),
    }
    for cov_type, (groups, correction) in expected.items():
        refits = tuple(RefitEstimate(one, rows, group) for group in groups)
        assert default(Replicates.of(refits, correction=correction)) == cov_type
    assert set(expected) <= set(COV_TYPES)
