import numpy as np
import pandas as pd
import pytest

from dashboard.amputation.rule import (
    MOST_IN_MATRIX,
    kind_of,
    matrix_sentence,
    rule_matrix,
    rule_sentence,
    weights_table,
)
from dashboard.amputation.scenario import Scenario
from pmae_core.amputation import ampute
from pmae_core.table import Schema

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.normal(size=(400, 4)), columns=list("abcd")).assign(
    town=RNG.choice(["Ulm", "Bonn"], 400),
    day=pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 900, 400), unit="D"),
)
SCHEMA = Schema.infer(TABLE)
WIDE = pd.DataFrame(RNG.normal(size=(200, 90)), columns=[f"q{j:02d}" for j in range(90)])


def sentence(column, *args, **options):
    return rule_sentence(ampute(TABLE, *args, **options), column, SCHEMA)


def driven_by(driver, seed=0):
    """Return an amputation of `a` by a single other column."""
    return ampute(TABLE[["a", driver]], "monotone", "MAR", columns=["a"], seed=seed)


def direction(driver, seed):
    return rule_sentence(driven_by(driver, seed), "a", SCHEMA)


def test_the_driver_is_named_with_the_side_on_which_values_are_missing():
    made = driven_by("b")
    in_sample = made.missing["a"]
    is_high = made.truth.loc[in_sample, "b"].mean() > made.truth.loc[~in_sample, "b"].mean()

    weight = "1.00" if is_high else "−1.00"
    assert rule_sentence(made, "a", SCHEMA) == (
        f"`a` is missing more often where `b` is {'high' if is_high else 'low'} (weight {weight})."
    )


def test_dates_are_late_or_early_and_categories_are_named():
    dates = {direction("day", seed) for seed in range(6)}
    assert dates == {
        "`a` is missing more often where `day` is late (weight 1.00).",
        "`a` is missing more often where `day` is early (weight −1.00).",
    }

    made = driven_by("town")
    share = made.missing["a"].groupby(made.truth["town"]).mean()
    assert f"where `town` is `{share.idxmax()}` (weight 1.00)" in direction("town", 0)


def test_the_strongest_drivers_come_first_and_the_others_are_counted():
    made = ampute(TABLE, "monotone", "MNAR", columns=list("abcd"), seed=1)
    strength = made.rule.weights["a"].abs().sort_values(ascending=False)

    words = rule_sentence(made, "a", SCHEMA)

    places = [
        words.index("its own value" if name == "a" else f"`{name}` is")
        for name in strength.index[:3]
    ]
    assert places == sorted(places)
    assert words.endswith("1 other column counts less.")


def test_chance_alone():
    words = sentence("a", "monotone", "MCAR", columns=["a"])

    assert words == "Chance alone decides: every row has the same 50% chance of missing `a`."


def test_a_complete_column_says_what_it_drives():
    options = {"columns": ["a", "b"], "seed": 1}

    assert "No values of `c` are removed. It drives the missing values of 2 columns, such as" in (
        sentence("c", "monotone", "MAR", **options)
    )
    assert "It does not decide which other values are missing" in (
        sentence("c", "monotone", "MCAR", **options)
    )


def test_a_column_whose_missing_values_were_dropped_with_their_rows():
    made = ampute(TABLE[["a", "b"]], "general", "MCAR", proportions={"a": 0.5, "b": 0.8})

    assert "No missing values of `b` remain: every row that lost `b`" in (
        rule_sentence(made, "b", SCHEMA)
    )


def test_copied_missing_values_have_no_rule():
    frame = TABLE.mask(RNG.random(TABLE.shape) < 0.2)
    made = Scenario(kind="like-mine", base="completed").make(frame, Schema.infer(frame))

    assert "of a random row" in rule_sentence(made, "a", SCHEMA)


@pytest.mark.parametrize("mechanism", ["MCAR", "MAR", "MNAR", "self-masking"])
def test_the_mechanism_is_told_by_the_weights(mechanism):
    rule = ampute(TABLE, "general", mechanism).rule

    assert {kind_of(rule, column) for column in rule.scores} == {mechanism}


def test_the_matrix_of_a_small_table_has_all_columns_in_their_order():
    made = ampute(TABLE, "general", "MNAR", "independent")
    matrix = rule_matrix(made, [*"dcba", "town", "day"], "c")

    pd.testing.assert_frame_equal(
        matrix.weights, made.rule.weights, check_index_type=False, check_column_type=False
    )
    assert matrix.own.tolist() == np.eye(6, dtype=bool).tolist()
    assert matrix.has_direction.tolist() == [True] * 4 + [False, True]
    assert matrix.highlighted == "c"
    assert matrix_sentence(matrix) == ""


def test_columns_that_drive_nothing_have_no_weight():
    made = ampute(TABLE, "general", "MAR", "independent", columns=["a", "b"])
    matrix = rule_matrix(made, list(TABLE), "a")

    assert list(matrix.weights.index) == list(TABLE)
    assert (matrix.weights.loc[["a", "b"]] == 0).all(axis=None)
    assert (matrix.weights.loc[["c", "d", "town", "day"]] != 0).all(axis=None)
    assert not matrix.own.any()


def test_one_rule_for_all_columns_is_one_column_with_the_largest_weight_first():
    made = ampute(TABLE, "general", "MNAR", "nested")
    matrix = rule_matrix(made, list(TABLE), "c")

    assert list(matrix.weights.columns) == ["all 6 columns"]
    sizes = matrix.weights.iloc[:, 0].abs().tolist()
    assert sizes == sorted(sizes, reverse=True)
    assert matrix.own.sum() == 1
    assert list(matrix.weights.index)[int(np.flatnonzero(matrix.own)[0])] == "c"


def test_chance_has_a_matrix_without_weights():
    matrix = rule_matrix(ampute(WIDE, "general", "MCAR"), list(WIDE), "q03")

    assert (matrix.weights == 0).all(axis=None)
    assert len(matrix.weights) == MOST_IN_MATRIX
    assert matrix_sentence(matrix) == ""


@pytest.mark.parametrize("mechanism", ["MAR", "MNAR", "self-masking"])
def test_of_ninety_columns_the_strongest_drivers_of_the_highlighted_one_are_shown(mechanism):
    made = ampute(WIDE, "general", mechanism, "independent")
    column = made.rule.weights.columns[-1]
    matrix = rule_matrix(made, list(WIDE), column)

    assert matrix.weights.shape == (MOST_IN_MATRIX, MOST_IN_MATRIX)
    assert matrix.highlighted == column
    assert "All weights" in matrix_sentence(matrix)
    strongest = made.rule.weights[column].abs().nlargest(5)
    assert set(strongest[strongest > 0].index) <= set(matrix.weights.index)
    if mechanism != "MAR":
        assert column in matrix.weights.index


def test_all_weights_with_the_strongest_driver_first():
    made = ampute(TABLE, "general", "MNAR", "independent")
    table = weights_table(made)

    assert table.columns[0] == "Driven by"
    assert len(table) == 6
    largest = table.iloc[:, 1:].abs().max(axis=1)
    assert largest.is_monotonic_decreasing
    assert weights_table(ampute(TABLE, "general", "MCAR")).empty
