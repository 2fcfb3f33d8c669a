import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from dashboard.components.stage.scene import Bars, Points
from dashboard.learn.exercises.leakage import scores_scene, solution_scene
from dashboard.learn.leakage import (
    CLEAR,
    LESSON,
    N_ROWS,
    N_TRAINING,
    SHARE_MISSING,
    WAYS,
    leak,
    make_rows,
)


@pytest.mark.parametrize("way", WAYS)
def test_only_the_outcome_leaks_clearly(way):
    scores = [leak(way, seed).scores for seed in range(200)]
    differences = np.array([one["before"] - one["as_new"] for one in scores])

    if way == "outcome":
        assert WAYS[way].right == "higher"
        assert (differences > CLEAR).all()
    else:
        assert WAYS[way].right == "same"
        assert (np.abs(differences) < CLEAR).all()
        assert abs(differences.mean()) < 0.005
    repeated = leak(way, 0).repeated
    assert (repeated["before"] - repeated["as_new"]).mean() == pytest.approx(
        differences.mean(), abs=0.02
    )


def test_imputed_after_the_split_the_score_is_honest_and_the_model_better():
    repeated = leak("outcome", 0).repeated

    assert repeated["after"].mean() > repeated["as_new"].mean() + 0.03
    assert repeated["after"].mean() < repeated["before"].mean() - 0.2


def columns(rows, table=0):
    return tuple(values[table] for values in (rows.age, rows.bmi, rows.pressure, rows.observed))


@pytest.mark.parametrize("way", WAYS)
def test_treating_test_rows_as_new_gives_the_score_of_really_new_patients(way):
    """With scikit-learn, and patients who are in no table of the lesson."""
    as_new, really_new = [], []
    new_age, new_bmi, new_pressure, new_observed = columns(make_rows(1, 20_000, 10**6))
    for seed in range(60):
        made = leak(way, seed)
        age, bmi, pressure, observed = columns(made.rows)
        known = {
            "outcome": np.column_stack([age, pressure]),
            "age": age[:, None],
            "mean": np.zeros((N_ROWS, 1)),
        }[way]
        imputer = LinearRegression().fit(known[observed], bmi[observed])
        completed = np.where(observed, bmi, imputer.predict(known))
        train = slice(0, N_TRAINING)
        model = LinearRegression().fit(np.column_stack([age, completed])[train], pressure[train])
        before = model.predict(np.column_stack([age, completed]))
        np.testing.assert_allclose(made.predictions.before[0], before)

        # Nobody knows the blood pressure of new patients.
        known, new_known = (np.zeros_like(v) if way == "mean" else v for v in (age, new_age))
        fitted_to = observed & (np.arange(N_ROWS) < N_TRAINING)
        imputer = LinearRegression().fit(known[fitted_to, None], bmi[fitted_to])
        new_completed = np.where(new_observed, new_bmi, imputer.predict(new_known[:, None]))
        predicted = model.predict(np.column_stack([new_age, new_completed]))
        really_new.append(r2_score(new_pressure, predicted))
        as_new.append(made.scores["as_new"])

    error = np.std(as_new) / len(as_new) ** 0.5
    assert np.mean(as_new) == pytest.approx(np.mean(really_new), abs=3.5 * error)


def test_scores_are_those_of_the_test_rows():
    made = leak("age", 4)
    test = slice(N_TRAINING, None)

    assert made.scores["before"] == pytest.approx(
        r2_score(made.rows.pressure[0, test], made.predictions.before[0, test])
    )


def test_bmi_is_missing_by_chance():
    rows = make_rows(1, 50_000, 1)
    missing = ~rows.observed[0]

    assert missing.mean() == pytest.approx(SHARE_MISSING, abs=0.01)
    assert abs(np.corrcoef(missing, rows.pressure[0])[0, 1]) < 0.02


@pytest.mark.parametrize("way", WAYS)
def test_the_first_table_is_typical(way):
    made = leak(way, LESSON.first_seed)

    for name, repeated in made.repeated.items():
        assert abs(made.scores[name] - repeated.mean()) < 1.5 * repeated.std()


@pytest.mark.parametrize("way", WAYS)
def test_the_sentence_gives_the_scores_and_counts_the_tables(way):
    made = leak(way, 2)

    for name in ("before", "as_new", "after"):
        assert f"**{made.scores[name]:.2f}**" in made.sentence()
    assert "in 200 of 200 other tables" in made.sentence()


def test_predictions_move_and_scores_rise_one_by_one():
    made = leak("outcome", 0)
    scene = solution_scene(made)
    predictions, scores = scene.panels

    points = [layer for layer in predictions.layers if isinstance(layer, Points)]
    assert sum(np.shape(layer.x)[1] for layer in points) == N_ROWS - N_TRAINING
    (bars,) = scores.layers
    assert isinstance(bars, Bars)
    assert np.count_nonzero(bars.height, axis=1).tolist() == [1, 2, 3]
    assert bars.height[2] == [made.scores[name] for name in ("before", "as_new", "after")]
    assert len(scene.first().states) == 1


def test_the_luck_scene_has_all_tables():
    data = scores_scene(leak("mean", 0)).data()["panels"][0]

    test, new, *_ = data["layers"]
    assert sum(test["height"][-1]) == sum(new["height"][-1]) == 200
