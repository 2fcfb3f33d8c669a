"""Roles that are suggested for columns that look like codes."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.table import Role, Schema, load_dataset, suggest_roles


def suggested(name, cells, role=None, dtype=None):
    """Return role and reason that are suggested for a column; None if nothing is."""
    frame = pd.DataFrame({name: pd.Series(list(cells), dtype=dtype)})
    schema = Schema.infer(frame, {name: role} if role else None)
    found = suggest_roles(frame, schema)
    assert all(one.column == name and one.current is schema.role(name) for one in found)
    return next(((one.suggested, one.reason) for one in found), None)


def cells_with(counts):
    return np.repeat(list(counts), list(counts.values()))


@pytest.mark.parametrize("dtype", ["int64", "Int64", "float64", object])
def test_two_numbers_are_a_category(dtype):
    cells = [1, 2, 2, 1, 1, 2, *[None] * (dtype != "int64")]
    assert suggested("trt", cells, dtype=dtype) == (
        Role.CATEGORICAL,
        "`trt` has two values, 1 and 2.",
    )


def test_few_cells_do_not_show_that_there_are_only_two_numbers():
    assert suggested("rooms", [1, 2, 2, 1, 1]) is None


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        ([0, 1] * 5, "0 and 1"),
        (["no", "yes"] * 5, "no and yes"),
        (["Y", "N", None] * 5, "N and Y"),
        (["TRUE", "FALSE"] * 5, "FALSE and TRUE"),
    ],
)
def test_yes_and_no_are_boolean(cells, values):
    role = Role.NUMERICAL if cells[0] == 0 else None
    assert suggested("smoker", cells, role) == (
        Role.BOOLEAN,
        f"`smoker` has two values, {values}.",
    )


def test_two_other_words_are_not_boolean():
    assert suggested("sex", ["female", "male"] * 5) is None


@pytest.mark.parametrize("name", ["zip", "blood_type", "storeId", "Region", "ZIP code", "icd10"])
def test_whole_numbers_with_the_name_of_a_code(name):
    cells = [*range(10_000, 10_030)] * 4
    role, reason = suggested(name, cells)
    assert role is Role.CATEGORICAL
    assert reason.startswith(f'`{name}` holds whole numbers, and its name ends with "')


@pytest.mark.parametrize("name", ["class_size", "typed_words", "paid", "width", "n_types"])
def test_other_names_say_nothing(name):
    assert suggested(name, [*range(10, 40)] * 4) is None


def test_numbers_that_do_not_repeat_are_not_codes_for_their_name():
    assert suggested("state", [3, 17, 5, 91, 44, 60] * 2) is None
    assert suggested("type", [0.5, 1.5, 2.5] * 20) is None


def test_codes_without_gaps_in_a_numerical_column():
    cells = cells_with({1: 50, 2: 20, 3: 60})
    assert suggested("status", cells, Role.NUMERICAL) == (
        Role.CATEGORICAL,
        "`status` has 3 different values, 1, 2 and 3.",
    )


def test_codes_with_gaps():
    cells = cells_with({1: 80, 2: 20, 5: 70, 9: 30})
    assert suggested("answer", cells) == (
        Role.CATEGORICAL,
        "`answer` has 4 different values, 1, 2, 5 and 9.",
    )


@pytest.mark.parametrize(
    "counts",
    [
        {0: 120, 1: 50, 2: 20, 3: 10},
        {0: 120, 1: 50, 2: 20, 3: 10, 5: 3},
        {1: 5, 2: 20, 3: 60, 4: 50, 5: 12},
        {-2: 30, -1: 60, 0: 160, 2: 30, 3: 10},
        {10: 50, 20: 20, 40: 15},
        {10: 40, 20: 20, 30: 45},
        {2007: 40, 2009: 20, 2011: 45},
    ],
    ids=["children", "children with a gap", "rating", "delay", "dose", "even doses", "years"],
)
def test_counts_ratings_and_doses_are_left_alone(counts):
    assert suggested("amount", cells_with(counts)) is None


def test_columns_that_cannot_be_codes():
    durations = pd.to_timedelta([1, 2] * 20, unit="D")
    dates = pd.to_datetime(["2020-01-01", "2020-01-02"] * 20)
    lists = pd.Series([[1], [2]] * 20)
    empty = pd.Series([np.nan] * 40)
    infinite = pd.Series([np.inf] * 40)
    frame = pd.DataFrame(
        {"duration": durations, "date": dates, "list": lists, "id": empty, "type": infinite}
    )
    assert suggest_roles(frame) == []


def test_what_somebody_decided_is_not_asked_again():
    frame = pd.DataFrame({"trt": [1, 2] * 5, "arm": [1, 2] * 5})
    schema = Schema.infer(frame, dict.fromkeys(frame, "numerical"))
    assert [one.column for one in suggest_roles(frame, schema)] == ["trt", "arm"]
    assert [one.column for one in suggest_roles(frame, schema, decided={"trt"})] == ["arm"]


def test_derived_columns_and_other_roles_are_not_asked():
    frame = pd.DataFrame({"a": [1, 2] * 5, "twice": [2, 4] * 5})
    schema = Schema.infer(frame, {"a": "ignored"}, {"twice": {"derived": "2 * a"}})
    assert suggest_roles(frame, schema) == []


def test_following_a_suggestion_ends_it():
    frame = pd.DataFrame(
        {"trt": [1, 2] * 5, "ill": ["no", "yes"] * 5, "zip": [1, 5, 7, 11, 13] * 2}
    )
    schema = Schema.infer(frame, {"trt": "numerical"})
    chosen = {one.column: one.suggested for one in suggest_roles(frame, schema)}
    assert chosen == {"trt": Role.CATEGORICAL, "ill": Role.BOOLEAN}
    assert suggest_roles(frame, Schema.infer(frame, chosen)) == []


@pytest.mark.parametrize("name", ["cirrhosis", "diabetes", "penguins", "clinic"])
def test_samples_raise_no_questions(name):
    dataset = load_dataset(name)
    assert suggest_roles(dataset.frame, dataset.schema) == []


def test_words_of_one_scale_are_suggested_to_be_ordinal():
    frame = pd.DataFrame(
        {"pain": ["mild", "severe", "none", None] * 3, "town": ["a", "b", "c", "d"] * 3}
    )
    (suggestion,) = suggest_roles(frame)
    assert (suggestion.column, suggestion.suggested) == ("pain", Role.ORDINAL)
    assert suggestion.reason == "`pain` has the ordered levels none, mild and severe."
    assert suggest_roles(frame, Schema.infer(frame, {"pain": "ordinal"})) == []


def test_two_words_of_a_scale_may_be_categories():
    assert suggest_roles(pd.DataFrame({"risk": ["low", "high"] * 6})) == []
