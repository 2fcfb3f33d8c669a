import numpy as np
import pandas as pd
import pytest

from dashboard.learn.exercises.indicator import effect_scene, repeated_scene
from dashboard.learn.gaussian import gaussian_of
from dashboard.learn.indicator import (
    LEAST_MISSING,
    LESSON,
    MOST_MISSING,
    N_REPETITIONS,
    TREATED_WORDS,
    TRUE_EFFECT,
    USUAL_MISSING,
    treat_patients,
)

SHARES = (LEAST_MISSING, USUAL_MISSING, MOST_MISSING)
INDICATOR, COMPLETE, IMPUTED = "missing indicator", "complete rows", "imputed"


def effects(who, percent_missing, n_seeds=200):
    made = [treat_patients(who, percent_missing, seed).effects for seed in range(n_seeds)]
    return pd.DataFrame(made)


@pytest.mark.parametrize("percent_missing", SHARES)
@pytest.mark.parametrize(("who", "side"), [("severe", -1), ("mild", 1)])
def test_the_indicator_is_biased_although_values_are_missing_by_chance(who, side, percent_missing):
    found = effects(who, percent_missing)

    assert (side * (found[INDICATOR] - TRUE_EFFECT) > 0).mean() >= 0.98
    for name in (COMPLETE, IMPUTED):
        # Four standard errors of the mean.
        assert found[name].mean() == pytest.approx(
            TRUE_EFFECT, abs=4 * found[name].std() / 200**0.5
        )
    made = treat_patients(who, percent_missing, 0)
    assert made.answer == ("small" if side < 0 else "large")
    n_agree = int((side * (made.repeated[INDICATOR] - TRUE_EFFECT) > 0).sum())
    assert f"too {made.answer} in {n_agree} of them" in made.sentence()


@pytest.mark.parametrize("percent_missing", SHARES)
def test_in_a_randomized_trial_the_indicator_does_no_harm(percent_missing):
    found = effects("chance", percent_missing)[INDICATOR]

    assert found.mean() == pytest.approx(TRUE_EFFECT, abs=4 * found.std() / 200**0.5)
    assert 0.38 < (found < TRUE_EFFECT).mean() < 0.62
    assert treat_patients("chance", percent_missing, 0).answer == "right"


def test_more_missing_values_mean_more_bias():
    means = [treat_patients("severe", share, 0).repeated[INDICATOR].mean() for share in SHARES]

    assert means[0] > means[1] > means[2]


def test_imputation_is_more_precise_than_complete_rows():
    repeated = treat_patients("severe", USUAL_MISSING, 0).repeated

    assert repeated[IMPUTED].std() < repeated[COMPLETE].std()


def test_the_constant_does_not_matter_and_missing_severities_stay_unknown():
    patients = treat_patients("severe", USUAL_MISSING, 3).patients
    hidden = patients.severity.copy()
    hidden[patients.missing] = 1e3
    other = type(patients)(patients.treated, hidden, patients.pain, patients.missing)

    assert other.with_indicator() == pytest.approx(patients.with_indicator())
    assert other.of_complete_rows() == pytest.approx(patients.of_complete_rows())
    assert other.imputed() == pytest.approx(patients.imputed())


def test_imputation_ends_where_em_does():
    patients = treat_patients("mild", USUAL_MISSING, 5).patients
    severity = np.where(patients.missing, np.nan, patients.severity)
    frame = pd.DataFrame({"t": patients.treated, "s": severity, "pain": patients.pain})
    covariance = gaussian_of(frame).covariance
    by_em = np.linalg.solve(covariance[:2, :2], covariance[:2, 2])

    assert patients.imputed()[1:] == pytest.approx(by_em, rel=1e-3)


@pytest.mark.parametrize("percent_missing", range(LEAST_MISSING, MOST_MISSING + 1, 10))
@pytest.mark.parametrize("who", TREATED_WORDS)
def test_the_first_table_is_typical(who, percent_missing):
    made = treat_patients(who, percent_missing, LESSON.first_seed)

    for name, effect in made.effects.items():
        repeated = made.repeated[name]
        assert abs(effect - repeated.mean()) < 1.5 * repeated.std()


def test_the_picture_of_the_question_has_points_alone_and_that_of_the_solution_ends_at_the_truth():
    made = treat_patients("severe", USUAL_MISSING, LESSON.first_seed)
    scene = effect_scene(made)
    *_, gap = scene.panels[0].layers
    lengths = [float(-np.diff(heights)[0]) for heights in gap.y]

    assert gap.opacity[0] == 0
    assert f"{made.effects[INDICATOR]:.1f}" not in scene.captions[0]
    assert lengths[1] == pytest.approx(made.effects[INDICATOR])
    assert lengths[2] == pytest.approx(TRUE_EFFECT, abs=2)
    assert scene.first().data()["states"] == ["Set to 0"]
    assert len(repeated_scene(made).panels[0].layers[0].height[1]) > 0
    assert all(len(values) == N_REPETITIONS for values in made.repeated.values())
