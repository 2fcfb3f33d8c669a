import numpy as np
import pandas as pd
import pytest

from dashboard.learn.auxiliary import (
    CORRELATIONS,
    HARDLY_ANY,
    LESSON,
    N_ROWS,
    NEARLY_ALL,
    P_OBS,
    RULES,
    Survey,
    run_survey,
)
from dashboard.learn.exercises.auxiliary import imputed_scene, repeated_scene

RIGHT = {
    "overtime": dict.fromkeys(CORRELATIONS, "all"),
    "stress": {0.2: "little", 0.4: "little", 0.6: "part", 0.8: "part", 0.9: "part"},
}


def removed(rule, correlation):
    errors = pd.DataFrame([run_survey(rule, correlation, seed).errors() for seed in range(200)])
    return 1 - errors["imputed"].mean() / errors["observed"].mean()


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("rule", RULES)
def test_the_share_of_the_bias_that_is_removed_is_that_of_the_answer(rule, correlation):
    made = run_survey(rule, correlation, 0)

    assert made.answer == RIGHT[rule][correlation]
    share = removed(rule, correlation)
    if made.answer == "all":
        assert NEARLY_ALL < share < 2 - NEARLY_ALL
    elif made.answer == "part":
        assert HARDLY_ANY < share < NEARLY_ALL
    else:
        assert 0 <= share < HARDLY_ANY
    # The sentence says what other tables show too.
    assert made.removed == pytest.approx(share, abs=0.08)


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("rule", RULES)
def test_the_observed_mean_is_too_low(rule, correlation):
    """With a weak correlation, overtime decides little about stress: too low on average only."""
    made = run_survey(rule, correlation, 0)
    too_low = (made.repeated_errors["observed"] < 0).mean()

    assert too_low > (0.99 if rule == "stress" or correlation >= 0.4 else 0.95)


def test_the_points_say_what_overtime_removes_if_stress_decides():
    shares = [run_survey("stress", correlation, 0).removed for correlation in (0.8, 0.4)]

    assert shares == pytest.approx([0.57, 0.12], abs=0.02)
    assert "57% at a correlation of 0.8 and 12% at 0.4" in " ".join(LESSON.points)


@pytest.mark.parametrize(("correlation", "narrower"), [(0.9, 0.18), (0.4, 0.03)])
def test_the_points_say_how_much_narrower_the_interval_is_if_chance_decides(correlation, narrower):
    rng = np.random.default_rng(0)
    overtime, unrelated = rng.standard_normal((2, 5_000, N_ROWS))
    stress = correlation * overtime + np.sqrt(1 - correlation**2) * unrelated
    survey = Survey(overtime, stress, rng.random(stress.shape) < P_OBS)

    ratio = survey.imputed_mean().std() / survey.observed_mean().std()

    assert ratio == pytest.approx(1 - narrower, abs=0.015)
    assert f"{100 * narrower:.0f}%" in LESSON.points[-1]


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("rule", RULES)
def test_the_first_table_is_typical(rule, correlation):
    made = run_survey(rule, correlation, LESSON.first_seed)

    for name, error in made.errors().items():
        repeated = made.repeated_errors[name]
        assert abs(error - repeated.mean()) < 1.5 * repeated.std()


@pytest.mark.parametrize("rule", RULES)
def test_40_percent_do_not_answer_and_the_correlation_is_as_set(rule):
    surveys = [run_survey(rule, 0.6, seed).survey for seed in range(20)]

    assert np.mean([survey.answered.mean() for survey in surveys]) == pytest.approx(0.6, abs=0.02)
    found = [np.corrcoef(survey.overtime, survey.stress)[0, 1] for survey in surveys]
    assert np.mean(found) == pytest.approx(0.6, abs=0.03)


def test_missing_answers_are_not_used():
    survey = run_survey("stress", 0.8, 1).survey
    other = Survey(survey.overtime, np.where(survey.answered, survey.stress, 1e3), survey.answered)

    assert other.imputed_mean() == pytest.approx(survey.imputed_mean())
    scatter = np.zeros(N_ROWS)
    assert other.impute(scatter) == pytest.approx(survey.impute(scatter))


def test_the_sentence_has_the_means():
    made = run_survey("stress", 0.2, 4)
    means = (
        made.survey.true_mean(),
        made.survey.observed_mean(),
        made.survey.imputed_mean(),
    )

    assert all(f"**{mean:.1f}**" in made.sentence() for mean in means)
    assert "imputing removed 3% of this bias" in made.sentence()


def test_the_picture_of_the_question_hides_the_true_and_the_imputed_mean():
    made = run_survey("overtime", 0.8, LESSON.first_seed)
    scene = imputed_scene(made)
    *_, truth, imputed = scene.panels[0].layers

    assert (truth.label, truth.opacity) == ("true mean", [0, 1])
    assert (imputed.label, imputed.opacity) == ("imputed mean", [0, 1])
    assert imputed.y[1] == [pytest.approx(float(made.survey.imputed_mean()))] * 2
    assert f"{made.survey.true_mean():.1f}" not in scene.captions[0]
    assert scene.first().data()["states"] == ["Missing"]
    assert repeated_scene(made).data()["panels"]
