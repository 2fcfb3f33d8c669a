"""Warnings where an analysis uses what the imputation did not know."""

import pytest

from pmae_core.inference import check_congeniality
from pmae_core.table import NotLearned, Schema


@pytest.fixture
def schema(frame) -> Schema:
    return Schema.infer(frame)


def test_a_plain_formula_is_congenial(schema):
    assert check_congeniality("y ~ x + C(kind) + smoker", schema) == []
    assert check_congeniality('kind == "a" ~ x', schema) == []


@pytest.mark.parametrize("role", ["ignored", "identifier"])
def test_a_column_by_its_role(schema, role):
    (sentence,) = check_congeniality("y ~ x + n", schema.with_roles({"n": role}))

    assert sentence.startswith("n was not used by the imputation (it")


def test_a_column_that_was_not_learned(schema):
    (sentence,) = check_congeniality("y ~ x", schema, {"x": NotLearned.NOT_FINITE})
    assert "none of its observed cells is a finite number" in sentence

    (sentence,) = check_congeniality("y ~ x", schema, ["x"])
    assert sentence.startswith("x was not used by the imputation:")


def test_interactions_and_curves(schema):
    interaction, curve = check_congeniality("log(y) ~ x * kind + I(n ** 2)", schema)

    assert "the interaction x:kind." in interaction
    assert "log(y) and I(n ** 2)" in curve


def test_a_dot_stands_for_learned_columns(schema):
    assert check_congeniality("y ~ .", schema.with_roles({"n": "ignored"})) == []
