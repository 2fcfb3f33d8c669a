import datetime
import json

import numpy as np
import pandas as pd
import pytest

from dashboard.amputation.scenario import Scenario, TableFacts, base_sentence, base_table
from pmae_core.errors import AmputationError
from pmae_core.table import Schema, load_dataset

COMPLETE = pd.DataFrame(
    np.random.default_rng(0).normal(size=(200, 4)), columns=["a", "b", "c", "d"]
)


def incomplete_table():
    frame = COMPLETE.assign(kind=pd.Categorical(["x", "y"] * 100), id=np.arange(200))
    frame.loc[:39, "a"] = np.nan
    frame.loc[20:59, "kind"] = np.nan
    frame["empty"] = np.nan
    return frame, Schema.infer(frame)


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(),
        Scenario(kind="like-mine", base="completed", seed=3),
        Scenario(pattern="monotone", mechanism="MAR", coupling="independent", columns=("a", "b")),
        Scenario(column_share=0.5, proportions=0.3),
        Scenario(columns=("a", "b"), proportions={"a": 0.2, "b": 0.9}),
    ],
)
def test_a_scenario_comes_back_from_json(scenario):
    assert Scenario.from_dict(scenario.to_dict()) == scenario


@pytest.mark.parametrize(
    "settings",
    [
        {"pattern": "striped"},
        {"mechanism": 3},
        {"coupling": "loose"},
        {"columns": "a"},
        {"seed": -1},
        {"seed": True},
        {"column_share": "much"},
        {"column_share": float("nan")},
        {"proportions": [["a"]]},
        {"proportions": [3]},
        {"proportions": [[["a"], 0.5]]},
        {"proportions": {"a": True}},
        {"columns": [{"decade": 1}]},
    ],
)
def test_settings_that_make_no_sense_are_refused_with_a_sentence(settings):
    with pytest.raises(AmputationError, match="cannot be read"):
        Scenario.from_dict(settings)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"seed": -1}, "seed must be a whole number that is not negative, not -1."),
        ({"column_share": "0.5"}, "column_share must be a number or null, not '0.5'."),
        ({"columns": [{"date": "no"}]}, "columns must be a list of columns or null, not [{"),
        ({"coupling": "loose"}, "coupling must be 'nested', 'independent' or null, not 'loose'."),
    ],
)
def test_the_sentence_names_the_setting_and_what_it_must_be(settings, sentence):
    with pytest.raises(AmputationError) as raised:
        Scenario.from_dict(settings)

    assert f"cannot be read: {sentence}" in str(raised.value)
    assert str(raised.value).endswith("Make the scenario again in the Amputation lab.")


def test_columns_with_names_other_than_text_come_back_from_json():
    day = datetime.date(2024, 2, 29)
    scenario = Scenario(columns=(day, ("a", 1)), proportions={day: 0.5, ("a", 1): 1})

    data = json.loads(json.dumps(scenario.to_dict()))

    assert Scenario.from_dict({**data, "added later": 3}) == scenario


def test_the_same_scenario_removes_the_same_cells():
    schema = Schema.infer(COMPLETE)
    first, second = (Scenario(seed=5).make(COMPLETE, schema) for _ in range(2))

    pd.testing.assert_frame_equal(first.incomplete, second.incomplete)
    other = Scenario(seed=6).make(COMPLETE, schema)
    assert not first.missing.equals(other.missing)


def test_facts_count_columns_with_content_only():
    frame, schema = incomplete_table()

    facts = TableFacts.of(frame, schema)

    assert facts.columns == ("a", "b", "c", "d", "kind")
    assert (facts.n_rows, facts.n_complete, facts.n_missing) == (200, 140, 80)
    assert facts.default_base == "complete-rows"
    assert facts.n_base_rows("complete-rows") == 140
    assert facts.n_base_rows("completed") == 200


def test_few_complete_rows_make_completion_the_default():
    facts = TableFacts(("a",), n_rows=200, n_complete=60, n_missing=140)

    assert facts.default_base == "completed"
    assert TableFacts(("a",), n_rows=3, n_complete=3, n_missing=0).default_base == "complete-rows"


def test_complete_rows_are_those_without_missing_cells_in_columns_with_content():
    frame, schema = incomplete_table()

    truth = base_table(frame, schema, "complete-rows")

    assert truth.index.tolist() == list(range(60, 200))
    assert truth["empty"].isna().all()


def test_completion_imputes_missing_cells_only_and_keeps_dtypes():
    frame, schema = incomplete_table()

    truth = base_table(frame, schema, "completed")

    assert truth.dtypes.equals(frame.dtypes)
    content = ["a", "b", "c", "d", "kind"]
    assert truth[content].notna().all(axis=None)
    seen = frame[content].notna()
    pd.testing.assert_frame_equal(truth[content].where(seen), frame[content].where(seen))
    assert truth["a"].isin(frame["a"].dropna()).all()
    assert truth["empty"].isna().all()


def test_completion_handles_all_kinds_of_columns_of_the_samples():
    clinic = load_dataset("clinic")

    truth = base_table(clinic.frame, clinic.schema, "completed")

    assert truth.notna().all(axis=None)
    assert truth.dtypes.equals(clinic.frame.dtypes)


def test_a_table_without_a_complete_row_says_what_to_do():
    frame = pd.DataFrame({"a": [1.0, None], "b": [None, 2.0]})

    with pytest.raises(AmputationError, match="Use all rows"):
        base_table(frame, Schema.infer(frame), "complete-rows")


def test_of_many_rows_some_are_taken_in_their_order():
    truth = base_table(COMPLETE, Schema.infer(COMPLETE), "completed", most_rows=50)

    assert len(truth) == 50
    assert truth.index.is_monotonic_increasing


def test_a_scenario_like_mine_replays_the_table_s_own_patterns():
    frame, schema = incomplete_table()

    made = Scenario(kind="like-mine", base="completed").make(frame, schema)

    own = frame[["a", "kind"]].isna().value_counts()
    assert made.missing[["a", "kind"]].value_counts().to_dict() == own.to_dict()


def test_no_missing_cells_to_copy_is_a_sentence():
    with pytest.raises(AmputationError, match="no missing cells to copy"):
        Scenario(kind="like-mine").make(COMPLETE, Schema.infer(COMPLETE))


def test_the_base_in_words():
    frame, schema = incomplete_table()
    facts = TableFacts.of(frame, schema)

    assert "140 complete of 200 rows" in base_sentence(facts, "complete-rows")
    assert "80 missing cells were imputed first" in base_sentence(facts, "completed")
    complete = TableFacts.of(COMPLETE, Schema.infer(COMPLETE))
    assert "The table is complete" in base_sentence(complete, "complete-rows")
