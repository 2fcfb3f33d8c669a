import numpy as np
import pytest

from dashboard.learn.exercises.outcome import imputed_scene, repeated_scene
from dashboard.learn.least_squares import slope
from dashboard.learn.outcome import (
    LEAST_MISSING,
    LESSON,
    MODELS,
    MOST_MISSING,
    TRUE_SLOPE,
    USUAL_MISSING,
    Students,
    impute_hours,
)

SHARES = (LEAST_MISSING, USUAL_MISSING, MOST_MISSING)


@pytest.mark.parametrize("percent_missing", SHARES)
def test_what_each_model_does_to_the_slope(percent_missing):
    made = [impute_hours("with", percent_missing, seed) for seed in range(200)]
    found = {model: np.array([one.slopes[model] for one in made]) for model in MODELS}

    assert (found["without"] < TRUE_SLOPE).all()
    assert (found["guess"] > TRUE_SLOPE).mean() >= 0.99
    error = 4 * found["with"].std() / 200**0.5
    assert found["with"].mean() == pytest.approx(TRUE_SLOPE, abs=error)
    assert 0.38 < (found["with"] < TRUE_SLOPE).mean() < 0.62
    # The repetitions that the sentence counts show the same.
    for model in MODELS:
        repeated = made[0].repeated[model]
        assert repeated.mean() == pytest.approx(found[model].mean(), abs=0.08)


@pytest.mark.parametrize(
    ("model", "answer"), [("without", "flatter"), ("with", "same"), ("guess", "steeper")]
)
def test_the_sentence_counts_the_repetitions_of_the_answer(model, answer):
    made = impute_hours(model, USUAL_MISSING, 0)
    repeated = made.repeated[model]
    n_flatter = int((repeated < TRUE_SLOPE).sum())

    assert made.answer == answer
    assert f"**{made.slopes[model]:.2f}**" in made.sentence()
    if answer == "steeper":
        assert f"steeper than the truth in {200 - n_flatter} of them" in made.sentence()
    else:
        assert f"flatter than the truth in {n_flatter} of them" in made.sentence()


def test_without_the_outcome_half_missing_halves_the_slope():
    repeated = impute_hours("without", 50, 0).repeated["without"]

    assert repeated.mean() == pytest.approx(TRUE_SLOPE / 2, abs=0.05)
    assert "by half" in LESSON.points[0]


def test_the_mean_as_best_guess_leaves_the_slope_but_not_the_correlation():
    """What the lesson says that it leaves out."""
    students = impute_hours("without", USUAL_MISSING, 0).students
    observed = ~students.missing
    mean_imputed = np.where(observed, students.hours, students.hours[observed].mean())

    assert slope(mean_imputed, students.score) == pytest.approx(students.complete_slope())
    before = np.corrcoef(students.hours[observed], students.score[observed])[0, 1]
    assert np.corrcoef(mean_imputed, students.score)[0, 1] < 0.85 * before


def test_the_spread_of_drawn_hours_is_that_of_the_observed_ones():
    students = impute_hours("with", USUAL_MISSING, 0).students
    scatter = np.random.default_rng(0).standard_normal((50, len(students.hours)))
    spreads = {
        model: np.mean([students.impute(model, one)[students.missing].std() for one in scatter])
        for model in MODELS
    }
    observed = students.hours[~students.missing].std()

    assert spreads["with"] == pytest.approx(observed, rel=0.1)
    assert spreads["without"] == pytest.approx(observed, rel=0.1)
    assert spreads["guess"] < 0.75 * observed


def test_missing_hours_are_not_used():
    made = impute_hours("with", USUAL_MISSING, 2)
    students = made.students
    unknown = np.where(students.missing, 1e3, students.hours)
    other = Students(unknown, students.score, students.missing)

    for model in MODELS:
        assert other.impute(model, made.scatter) == pytest.approx(
            students.impute(model, made.scatter)
        )


@pytest.mark.parametrize("percent_missing", range(LEAST_MISSING, MOST_MISSING + 1, 10))
def test_the_first_table_is_typical(percent_missing):
    made = impute_hours("with", percent_missing, LESSON.first_seed)

    for model in MODELS:
        repeated = made.repeated[model]
        assert abs(made.slopes[model] - repeated.mean()) < 1.5 * repeated.std()


@pytest.mark.parametrize("model", MODELS)
def test_the_picture_ends_with_the_chosen_model(model):
    made = impute_hours(model, USUAL_MISSING, LESSON.first_seed)
    scene = imputed_scene(made)
    line = scene.panels[0].layers[-1]
    rise = np.diff(line.y[-1])[0] / np.diff(line.x)[0]

    assert rise == pytest.approx(made.slopes[model])
    assert line.opacity[0] == 0
    assert f"{TRUE_SLOPE:.2f}" not in scene.captions[0]
    assert f"{made.slopes[model]:.2f}" in scene.captions[-1]
    assert scene.first().data()["states"] == ["Hours missing"]
    assert repeated_scene(made).data()["panels"]
