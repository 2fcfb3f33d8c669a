import numpy as np
import pytest

from dashboard.learn.slopes import (
    CAUSES,
    STRONGEST,
    USUAL_STRENGTH,
    WEAKEST,
    X,
    Y,
    drop_rows,
    patients_and_complete_rows,
)

SEEDS = range(12)


def change(cause, strength=USUAL_STRENGTH):
    return drop_rows(cause, strength, 0).change()


@pytest.mark.parametrize("strength", [WEAKEST, USUAL_STRENGTH, STRONGEST])
@pytest.mark.parametrize("cause", ["chance", "predictor"])
def test_missing_values_by_chance_or_by_the_predictor_leave_the_slope_alone(cause, strength):
    made = drop_rows(cause, strength, 0)

    # 200 tables scatter by a tenth or two; their mean by a fourteenth of that.
    assert abs(made.change()) < 0.03
    assert 0.35 < (made.repeated_slopes < made.true_slope).mean() < 0.65
    assert made.cause.effect == "same"


@pytest.mark.parametrize("cause", ["outcome", "age"])
def test_missing_values_by_the_outcome_flatten_the_line_in_nearly_all_tables(cause):
    made = drop_rows(cause, USUAL_STRENGTH, 0)

    assert made.change() < -0.2
    assert (made.repeated_slopes < made.true_slope).mean() > 0.98
    assert made.cause.effect == "flatter"


@pytest.mark.parametrize("cause", ["outcome", "age"])
def test_even_a_weak_rule_flattens_the_line_on_average(cause):
    assert change(cause, WEAKEST) < -0.05


def test_a_stricter_rule_flattens_more():
    means = [change("outcome", strength) for strength in (1.0, 3.0, 5.0)]

    assert means[0] > means[1] > means[2]


def test_imputation_corrects_only_missing_ages():
    def error(cause):
        made = [drop_rows(cause, USUAL_STRENGTH, seed) for seed in SEEDS]
        return np.mean([m.imputed_line[0] / m.true_slope - 1 for m in made])

    assert abs(error("age")) < 0.08
    assert error("outcome") < -0.15


@pytest.mark.parametrize("cause", CAUSES)
def test_half_of_the_rows_are_complete_and_the_rule_is_as_stated(cause):
    made = drop_rows(cause, USUAL_STRENGTH, 3)

    assert made.kept.mean() == pytest.approx(0.5, abs=0.08)
    stay, gone = made.truth[made.kept].mean(), made.truth[~made.kept].mean()
    if cause == "predictor":
        assert gone[X] < stay[X] - 5
    if CAUSES[cause].depends_on == Y:
        assert gone[Y] > stay[Y] + 5


def test_the_slopes_are_those_of_least_squares():
    made = drop_rows("outcome", USUAL_STRENGTH, 0)
    stay = made.truth[made.kept]

    assert made.full_line == pytest.approx(np.polyfit(made.truth[X], made.truth[Y], 1))
    assert made.kept_line == pytest.approx(np.polyfit(stay[X], stay[Y], 1))
    assert f"**{made.kept_line[0]:.2f}**" in made.sentence()


@pytest.mark.parametrize("seed", range(5))
def test_chance_of_missing_values_is_independent_of_the_patients(seed):
    made = drop_rows("chance", USUAL_STRENGTH, seed)

    assert abs(np.corrcoef(made.kept, made.truth[X])[0, 1]) < 0.15


@pytest.mark.parametrize("cause", CAUSES)
def test_one_line_is_the_truth_for_all_tables(cause):
    one, other = drop_rows(cause, USUAL_STRENGTH, 1), drop_rows(cause, USUAL_STRENGTH, 2)

    assert one.true_line == other.true_line
    assert one.full_line != other.full_line
    words = one.sentence()
    assert words.startswith(f"The true line rises by **{one.true_slope:.2f}**")
    assert words.count("true") == 1
    assert "truth" not in words


def test_the_answer_holds_in_200_tables():
    """Each table is one of a reader: the mean of their slopes moves, or does not."""
    changes = {cause: [] for cause in CAUSES}
    for seed in range(200):
        for cause, found in changes.items():
            truth, kept = patients_and_complete_rows(cause, USUAL_STRENGTH, seed)
            found.append(np.polyfit(truth[X][kept], truth[Y][kept], 1)[0])
    true_slope = drop_rows("chance", USUAL_STRENGTH, 0).true_slope
    for cause, slopes in changes.items():
        error = np.mean(slopes) - true_slope
        if CAUSES[cause].effect == "flatter":
            assert (np.array(slopes) < true_slope).mean() > 0.98
        else:
            # The mean of 200 slopes scatters by a fourteenth of one.
            assert abs(error) < 4 * np.std(slopes) / np.sqrt(200)
