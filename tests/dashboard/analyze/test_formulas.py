"""Boxes write into the formula, and typing changes the boxes."""

import numpy as np
import pandas as pd
import pytest

from dashboard.analyze import formulas
from pmae_core.expressions import parse_formula
from pmae_core.table import Schema

COLUMNS = ["pay", "age", "sex", "body mass"]


def test_boxes_show_the_columns_of_a_formula():
    shown = formulas.picked("log(pay) ~ age * sex + I(age ** 2)", COLUMNS)

    assert (shown.outcome, shown.predictors) == ("pay", ["age", "sex"])


def test_boxes_are_empty_for_what_is_no_formula():
    assert formulas.picked("pay ~ ~", COLUMNS) == formulas.Picked(None, [])
    assert formulas.picked("__import__('os')", COLUMNS) == formulas.Picked(None, [])


def test_a_dot_is_all_other_columns():
    assert formulas.picked("pay ~ .", COLUMNS).predictors == ["age", "sex", "body mass"]


def test_a_new_predictor_joins_the_terms_that_were_typed():
    text = formulas.with_predictors("log(pay) ~ log(age)", ["age", "body mass"], COLUMNS)

    assert text == "log(pay) ~ log(age) + `body mass`"
    assert parse_formula(text).columns == ("pay", "age", "body mass")


def test_a_predictor_that_leaves_takes_its_interactions_along():
    text = formulas.with_predictors("pay ~ age * sex", ["age"], COLUMNS)

    assert text == "pay ~ age"


def test_no_predictor_leaves_the_mean():
    assert formulas.with_predictors("pay ~ age", [], COLUMNS) == "pay ~ 1"


def test_what_is_no_formula_is_left_to_its_writer():
    assert formulas.with_predictors("pay ~ (", ["age"], COLUMNS) == "pay ~ ("


def test_another_outcome_keeps_the_other_terms():
    assert formulas.with_outcome("log(pay) ~ age + sex", "age") == "age ~ sex"
    assert formulas.with_outcome("nonsense ~", "body mass") == "`body mass` ~ 1"
    assert formulas.with_outcome("pay ~ .", "age") == "age ~ ."


def test_the_first_formula_explains_the_number_with_the_most_missing_values(wages):
    text = formulas.first_formula(wages, Schema.infer(wages))

    assert text == "pay ~ school + sex + town"


@pytest.mark.parametrize("column", [["a", "b", None], pd.Series([None, None, None], dtype=object)])
def test_every_table_has_a_first_formula_or_none(column):
    frame = pd.DataFrame({"x": column})

    assert formulas.first_formula(frame, Schema.infer(frame)) in ("", "x ~ 1")


def test_names_and_dates_are_not_offered():
    frame = pd.DataFrame(
        {
            "id": [f"P{number}" for number in range(300)],
            "day": pd.date_range("2024-01-01", periods=300),
            "x": np.arange(300.0),
        }
    )

    assert formulas.usable_columns(frame, Schema.infer(frame)) == ["x"]


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("pay ~ school", "ols"),
        ("log(pay) ~ school", "ols"),
        ("rich ~ school", "logistic"),
        ("sex ~ school", "logistic"),
        ('town == "Lima" ~ school', "logistic"),
        ("Surv(pay, rich) ~ school", "cox"),
        ("visits ~ school", "poisson"),
        ("unknown ~ school", "ols"),
        ("~", "ols"),
    ],
)
def test_the_family_follows_the_outcome(wages, text, family):
    frame = wages.assign(visits=np.arange(len(wages)) % 5)

    assert formulas.suggested_family(text, frame) == family
