"""What parameters may be, and the sentences that refuse anything else."""

import numpy as np
import pytest

from pmae_core.errors import ImputationError
from pmae_core.imputers import BaseImputer, make_imputer
from pmae_core.imputers.parameters import (
    BOOLEAN,
    STRING,
    Integer,
    Number,
    OneOf,
    SomeOf,
    check_parameters,
    plain_params,
)


@pytest.mark.parametrize(
    ("constraint", "accepted", "refused"),
    [
        (Integer(least=1), [1, np.int64(5)], [0, 1.0, True, np.bool_(True), "1", None]),
        (Number(), [0, -1.5, np.float32(2), np.int8(3)], [True, np.nan, np.inf, "1", None]),
        (Number(above=0, below=1), [0.5, np.float64(0.1)], [0, 1, -1, np.nan]),
        (Number(least=0, most=1), [0, 1, 0.5], [-0.1, 1.1]),
        (OneOf("a", "b"), ["a", np.str_("b")], ["c", ["a"], 1, None]),
        (
            SomeOf("a", "b"),
            [["a"], ("b", "a"), np.array(["a"])],
            ["a", [], ["a", "a"], ["c"], [1], 3],
        ),
        (BOOLEAN, [True, np.bool_(False)], [0, 1, "yes", None]),
        (STRING, ["x"], [1, None]),
    ],
)
def test_constraints_accept_what_they_describe(constraint, accepted, refused):
    assert [value for value in accepted if not constraint.accepts(value)] == []
    assert [value for value in refused if constraint.accepts(value)] == []


class Example(BaseImputer):
    def __init__(self, *, value=None, schema=None, random_state=None):
        self.value = value
        self.schema = schema
        self.random_state = random_state


@pytest.mark.parametrize(
    ("alternatives", "value", "sentence"),
    [
        ([Integer(least=1)], 0, "value must be at least 1, not 0."),
        ([Integer(least=1)], np.int64(0), "value must be at least 1, not 0."),
        ([Integer(least=1)], 2.5, "value must be an integer of at least 1, not 2.5."),
        ([Integer(), None], "many", "value must be an integer or None, not 'many'."),
        ([Number(above=0)], -1, "value must be positive, not -1."),
        ([Number(above=0)], np.inf, "value must be a positive number, not inf."),
        ([Number(above=0, most=1)], 2, "value must be above 0 and at most 1, not 2."),
        ([Number(above=0, most=1)], "x", "value must be a number above 0 and at most 1, not 'x'."),
        (
            [OneOf("a", "b"), Integer(least=1), None],
            "c",
            "value must be one of 'a', 'b', an integer of at least 1 or None, not 'c'.",
        ),
        (
            [SomeOf("a", "b")],
            [],
            "value must be a list of one or more of 'a', 'b', without repetition, not [].",
        ),
        ([BOOLEAN], 1, "value must be True or False, not 1."),
    ],
)
def test_the_sentence_says_what_is_allowed_and_what_was_given(
    monkeypatch, alternatives, value, sentence
):
    monkeypatch.setattr(Example, "_parameter_constraints", {"value": alternatives})
    with pytest.raises(ImputationError) as caught:
        check_parameters(Example(value=value))
    assert str(caught.value) == sentence


def test_parameters_are_checked_before_the_table_is_read():
    with pytest.raises(ImputationError, match="n_neighbors must be at least 1"):
        make_imputer("knn", n_neighbors=0).fit("no table at all")


def test_plain_params_have_numbers_of_python():
    params = plain_params(Example(value=np.int64(3), random_state=np.int64(1)))
    assert params == {"value": 3, "schema": None, "random_state": 1}
    assert type(params["value"]) is int
