import numpy as np
import pandas as pd
import pytest

from dashboard.learn import own
from dashboard.learn.exercises.own import dropped_scene, exercise_on
from dashboard.learn.own import (
    CLEAR,
    LESSON,
    RULES,
    drop_own_rows,
    rule_words,
)
from dashboard.learn.own_table import own_columns
from pmae_core.table import load_dataset
from pmae_core.table.samples.clinic import make_clinic


def clinic_rows():
    return make_clinic(600, 0).truth[["age", "blood_pressure"]].astype(float)


def made_rows(how, n=600, noise=0.3):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 2, n)
    return pd.DataFrame({"x": x, "y": how(x) + noise * rng.normal(size=n)})


TABLES = {
    "clinic": clinic_rows(),
    "falling": made_rows(lambda x: -x),
    "curved": made_rows(lambda x: x**2),
    "saturated": made_rows(np.sqrt, noise=0.1),
    "unrelated": made_rows(lambda x: 0 * x),
}
RIGHT = {
    ("clinic", "chance"): "same",
    ("clinic", "predictor"): "same",
    ("clinic", "outcome"): "flatter",
    ("falling", "outcome"): "flatter",
    ("falling", "predictor"): "same",
    ("curved", "predictor"): "steeper",
    ("curved", "outcome"): "flatter",
    ("saturated", "predictor"): "flatter",
    ("unrelated", "outcome"): None,
    ("unrelated", "chance"): "same",
}


@pytest.mark.parametrize(("name", "rule"), RIGHT)
def test_the_answer_is_what_200_seeds_show(monkeypatch, name, rule):
    rows = TABLES[name]
    right = drop_own_rows(rows, rule, 0).answer
    monkeypatch.setattr(own, "N_REPETITIONS", 2)  # other seeds repeat them by themselves
    slopes = np.array([drop_own_rows(rows, rule, seed).kept_line[0] for seed in range(200)])
    true_slope = drop_own_rows(rows, rule, 0).true_line[0]
    flatter = (np.sign(true_slope) * (slopes - true_slope) < 0).mean()

    assert RIGHT[name, rule] in (None, right)
    if right == "same":
        assert 1 - CLEAR - 0.06 < flatter < CLEAR + 0.06
    else:
        assert (flatter if right == "flatter" else 1 - flatter) > CLEAR - 0.06


def test_the_answer_does_not_depend_on_the_seed():
    rows = TABLES["unrelated"]

    for rule in RULES:
        assert len({drop_own_rows(rows, rule, seed).answer for seed in range(10)}) == 1


@pytest.mark.parametrize("rule", RULES)
def test_the_first_table_of_a_newcomer_is_typical(rule):
    dataset = load_dataset("cirrhosis")
    columns = own_columns(dataset.frame, dataset.schema)
    outcome = columns.first_outcome()
    rows = columns.rows(columns.first_predictor(outcome), outcome)
    made = drop_own_rows(rows, rule, LESSON.first_seed)

    error = made.kept_line[0] - made.repeated_slopes.mean()
    assert abs(error) < 1.5 * made.repeated_slopes.std()


@pytest.mark.parametrize("rule", RULES)
def test_half_of_the_rows_remain_and_the_rule_is_as_stated(rule):
    made = drop_own_rows(TABLES["clinic"], rule, 3)
    stay, gone = made.rows[made.kept].mean(), made.rows[~made.kept].mean()

    assert made.kept.mean() == pytest.approx(0.5, abs=0.08)
    words = rule_words(rule, "age", "blood_pressure")
    if rule == "predictor":
        assert gone["age"] < stay["age"] - 5
        assert "low `age`" in words
    if rule == "outcome":
        assert gone["blood_pressure"] > stay["blood_pressure"] + 5
        assert "high `blood_pressure`" in words


def test_lines_are_those_of_least_squares_far_from_zero_too():
    rows = TABLES["clinic"] + [1e7, 0]
    made = drop_own_rows(rows, "outcome", 0)
    around = TABLES["clinic"]

    assert made.true_line[0] == pytest.approx(np.polyfit(*around.to_numpy().T, 1)[0])
    stay = around[made.kept]
    assert made.kept_line[0] == pytest.approx(np.polyfit(*stay.to_numpy().T, 1)[0])


def test_the_sentence_says_shares_and_warns_of_a_weak_relation():
    clear, weak = (drop_own_rows(TABLES[name], "outcome", 0) for name in ("clinic", "unrelated"))

    assert "flatter in 100% and steeper in 0% of them" in clear.sentence()
    assert "hardly related" not in clear.sentence()
    assert "hardly related" in weak.sentence()


def test_names_of_columns_stay_text():
    rows = TABLES["clinic"].rename(columns={"age": "**age**", "blood_pressure": "<b>bp</b>"})
    made = exercise_on(rows, "outcome", 0)

    assert "`**age**`" in rule_words("predictor", *rows.columns)
    assert made.solution.panels[0].x.label == "**age**"


def test_an_exercise_on_given_rows_is_complete():
    """A teacher's two columns reach a class this way."""
    made = exercise_on(TABLES["clinic"], "outcome", 0)

    assert made.right == "flatter"
    assert made.right in LESSON.answers
    assert made.settings == {"outcome": "blood_pressure", "predictor": "age", "rule": "outcome"}
    assert made.question.data()["states"] == ["All rows"]
    assert made.luck is not None


def test_of_many_rows_only_some_are_drawn_and_the_caption_says_so():
    rows = made_rows(lambda x: x, n=2_000)
    scene = dropped_scene(drop_own_rows(rows, "chance", 0))
    dots = [layer for layer in scene.panels[0].layers if layer.kind == "points"]

    assert len(dots[0].x) + len(dots[1].x) == 600
    assert "600 of them are drawn" in scene.captions[0]
