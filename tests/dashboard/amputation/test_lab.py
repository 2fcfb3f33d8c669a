import numpy as np
import pandas as pd
import pytest

from dashboard.amputation.lab import (
    COUPLING_WORDS,
    MECHANISM_WORDS,
    PATTERN_WORDS,
    TrueValues,
    most_missing_first,
    pattern_sentence,
    result_sentence,
    scenario_words,
    short_number,
    true_values,
    values_sentence,
    with_advice_of_page,
)
from dashboard.amputation.scenario import Scenario
from pmae_core.amputation import ampute
from pmae_core.amputation.patterns import COUPLINGS, MECHANISMS, PATTERNS
from pmae_core.errors import AmputationError
from pmae_core.table import Role, Schema, load_dataset

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.normal(size=(500, 4)), columns=list("abcd"))


def column(values, missing, scale="number"):
    return TrueValues("x", scale, np.asarray(values), np.asarray(missing))


def test_every_choice_of_the_library_has_words():
    assert tuple(PATTERN_WORDS) == PATTERNS
    assert tuple(MECHANISM_WORDS) == MECHANISMS
    assert tuple(COUPLING_WORDS) == COUPLINGS


def test_the_result_in_words():
    made = ampute(TABLE, "monotone", "MCAR", columns=["a", "b"], seed=1)
    n_removed = int(made.missing.to_numpy().sum())

    sentence = result_sentence(made, made.missing.columns, 500)

    assert f"{n_removed:,} of 2,000 cells" in sentence
    assert "2 of 4 columns" in sentence
    assert "dropped" not in sentence


def test_dropped_rows_are_counted():
    made = ampute(TABLE, "general", "MCAR", proportions={"a": 0.7}, seed=1)

    sentence = result_sentence(made, made.missing.columns, 500)

    assert f"{500 - len(made.truth)} rows lost every value and were dropped" in sentence


@pytest.mark.parametrize("columns", [["a"], ["a", "b"]])
def test_missing_values_that_were_all_dropped_with_their_rows_are_explained(columns):
    made = ampute(TABLE[columns], "general", "MCAR", proportions=0.5, seed=1)

    sentence = result_sentence(made, made.missing.columns, 500)

    assert "rows lost every value and were dropped, so no missing values remain" in sentence
    assert "Keep one column complete" in sentence


def test_no_removed_value_at_all_is_said():
    made = ampute(TABLE, "general", "MCAR", proportions=1.0)

    assert "No values were removed" in result_sentence(made, made.missing.columns, 500)
    assert pattern_sentence(made, Scenario()) == ""


def pattern_words(pattern, coupling, columns=None, **options):
    scenario = Scenario(
        pattern=pattern, mechanism="MCAR", coupling=coupling, columns=columns, **options
    )
    return pattern_sentence(scenario.make(TABLE, Schema.infer(TABLE)), scenario)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_pattern_named_is_the_one_that_came_out(pattern):
    nested = pattern_words(pattern, "nested")
    independent = pattern_words(pattern, "independent", proportions=0.5)

    assert "The pattern is **monotone**" in nested
    assert ("nested missing values always are" in nested) == (pattern != "monotone")
    assert "The pattern is **general**" in independent
    requested = f"not {pattern} as requested: independent missing values"
    assert (requested in independent) == (pattern != "general")


def test_a_single_column_is_always_monotone():
    assert pattern_words("general", "independent", ("a",)) == (
        "The pattern is **monotone**, not general as requested: with missing values in one column "
        "only, every pattern is."
    )


def test_few_rows_that_break_the_order_leave_it_nearly_monotone():
    words = pattern_words(
        "general", "independent", ("a", "b"), proportions={"a": 0.5, "b": 0.96}, seed=2
    )

    assert "**quasi-monotone**, not general as requested: with these shares" in words


def test_copied_missing_values_were_not_asked_for_by_pattern():
    frame = TABLE.mask(RNG.random(TABLE.shape) < 0.3)
    scenario = Scenario(kind="like-mine", base="completed", pattern="monotone")

    words = pattern_sentence(scenario.make(frame, Schema.infer(frame)), scenario)

    assert words == "The pattern is **general**: a row may miss any columns."


def test_self_masked_values_are_said_to_differ():
    made = ampute(TABLE, "general", "self-masking", columns=["a"], proportions=0.5, seed=0)

    looked_at = true_values(made, "a", Role.NUMERICAL)
    sentence = values_sentence(looked_at)

    direction = "higher" if looked_at.removed.mean() > looked_at.observed.mean() else "lower"
    assert direction in sentence
    assert "the true mean is" in sentence


def test_values_removed_by_chance_are_said_to_be_similar():
    made = ampute(TABLE, "general", "MCAR", columns=["a"], proportions=0.5, seed=0)

    looked_at = true_values(made, "a", Role.NUMERICAL)

    assert "a difference within chance" in values_sentence(looked_at)


@pytest.mark.parametrize(
    ("values", "missing", "words"),
    [
        ([1.0, 2.0], [False, False], "No values of `x` were removed"),
        ([1.0, 2.0], [True, True], "All values of `x` were removed"),
        ([3.0, 3.0], [True, False], "All values of `x` are equal"),
    ],
)
def test_columns_with_nothing_to_compare(values, missing, words):
    assert words in values_sentence(column(values, missing))


def test_categories_that_are_removed_more_often_are_named():
    values = np.array(["rich"] * 100 + ["poor"] * 100, dtype=object)
    missing = np.arange(200) < 80

    sentence = values_sentence(column(values, missing, "category"))

    assert sentence == (
        "`rich` makes up 100% of the removed values of `x` but 16.7% of the observed ones."
    )


def test_categories_removed_equally_often():
    values = np.array(["a", "b"] * 100, dtype=object)

    assert "the same categories" in values_sentence(
        column(values, np.arange(200) < 100, "category")
    )


def test_dates_are_later_or_earlier():
    days = np.arange(1000.0)

    assert "far later" in values_sentence(column(days, days > 500, "time"))


def test_every_column_of_the_samples_can_be_looked_at():
    clinic = load_dataset("clinic")
    made = Scenario(base="completed").make(clinic.frame, clinic.schema)
    scales = {}

    for name in clinic.frame.columns:
        looked_at = true_values(made, name, clinic.schema.role(name))
        scales[name] = looked_at.scale
        assert len(looked_at.values) == len(made.truth)
        assert values_sentence(looked_at)

    assert scales["visit_date"] == "time"
    assert scales["bmi"] == "number"
    assert scales["region"] == "category"


def test_durations_and_text_numbers_are_numbers():
    frame = pd.DataFrame(
        {"wait": pd.to_timedelta(np.arange(40), unit="h"), "size": [f"{i}.5" for i in range(40)]}
    )
    schema = Schema.infer(frame, {"size": Role.NUMERICAL})
    made = ampute(frame, "general", "MCAR", schema=schema, proportions=0.5)

    assert true_values(made, "wait", Role.NUMERICAL).scale == "number"
    assert true_values(made, "size", Role.NUMERICAL).values.min() >= 0.5


def test_columns_with_the_most_missing_values_come_first():
    made = ampute(TABLE, columns=["a", "b"], proportions={"a": 0.9, "b": 0.2})

    assert most_missing_first(made, ["a", "b", "c"]) == ["b", "a", "c"]


def test_columns_that_cannot_lose_values_do_not_count():
    made = ampute(TABLE.assign(empty=np.nan), "monotone", "MCAR", columns=["a"])

    sentence = result_sentence(made, list("abcd"), 500)

    assert "of 2,000 cells" in sentence
    assert "from 1 of 4 columns" in sentence


def test_a_scenario_in_a_few_words():
    scenario = Scenario(coupling="nested", columns=("a",), column_share=0.5, proportions=0.25)

    assert scenario_words(scenario) == (
        "general, MNAR, nested, in `a`, 50% of columns, 25% observed, seed 0"
    )
    assert scenario_words(Scenario(kind="like-mine", seed=7)) == (
        "missing values like the table's own, seed 7"
    )


def test_errors_use_the_words_of_the_page():
    with pytest.raises(AmputationError) as caught:
        ampute(TABLE, mechanism="MAR", column_share=1.0)

    sentence = str(with_advice_of_page(caught.value))

    assert "column_share" not in sentence
    assert "the share of columns with missing values" in sentence


def test_numbers_have_the_digits_that_their_spread_justifies():
    assert short_number(1234.5678, 300) == "1,235"
    assert short_number(26.38, 4.4) == "26.38"
    assert short_number(5.0, 0.0) == "5"
