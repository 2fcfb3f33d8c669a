import numpy as np
import pytest

from dashboard.learn.mechanisms import N_ROWS, remove_pressures

SEEDS = range(12)
TABLES = range(200)


def test_the_answer_holds_in_200_tables():
    """In each table the rule moves the mean as stated; MCAR moves it by chance alone."""
    for mechanism in ("MAR", "MNAR"):
        made = [remove_pressures(mechanism, seed) for seed in TABLES]
        moved = [np.sign(one.observed_mean - one.true_mean) for one in made]
        stated = [{"low": -1, "high": 1}[one.direction] for one in made]
        assert np.mean(np.equal(moved, stated)) > 0.98
    by_chance = [remove_pressures("MCAR", seed) for seed in TABLES]
    errors = np.array([one.observed_mean - one.true_mean for one in by_chance])
    assert abs(errors.mean()) < 4 * errors.std() / np.sqrt(len(TABLES))


def bias(lost):
    return lost.repeated_means - lost.true_mean


@pytest.mark.parametrize("mechanism", ["MAR", "MNAR"])
def test_the_bias_has_the_stated_direction_in_nearly_all_repetitions(mechanism):
    for seed in SEEDS:
        lost = remove_pressures(mechanism, seed)
        sign = {"low": -1, "high": 1}[lost.direction]
        assert (np.sign(bias(lost)) == sign).mean() > 0.95


def test_mcar_has_no_direction():
    for seed in SEEDS:
        lost = remove_pressures("MCAR", seed)
        assert lost.direction == "right"
        # The mean of 400 repetitions scatters by a twentieth of one.
        assert abs(bias(lost).mean()) < 4 * bias(lost).std() / 20


@pytest.mark.parametrize("mechanism", ["MAR", "MNAR"])
def test_both_directions_occur(mechanism):
    assert {remove_pressures(mechanism, seed).direction for seed in SEEDS} == {"low", "high"}


def test_imputation_corrects_mar_and_not_mnar():
    left = {}
    for mechanism in ("MAR", "MNAR"):
        worlds = [remove_pressures(mechanism, seed) for seed in SEEDS]
        before = np.mean([abs(world.observed_mean - world.true_mean) for world in worlds])
        after = np.mean([abs(world.imputed_mean - world.true_mean) for world in worlds])
        left[mechanism] = after / before
    assert left["MAR"] < 0.35
    assert left["MNAR"] > 0.6


@pytest.mark.parametrize("seed", SEEDS)
def test_the_rule_gives_the_direction(seed):
    mar, mnar = remove_pressures("MAR", seed), remove_pressures("MNAR", seed)

    assert "rises with age" in mar.rule()
    assert mar.rule().startswith("Young") == (mar.direction == "high")
    assert mnar.rule().startswith("Low") == (mnar.direction == "high")


def test_half_of_the_pressures_and_no_age_get_lost():
    for mechanism in ("MCAR", "MAR", "MNAR"):
        incomplete = remove_pressures(mechanism, 0).amputation.incomplete
        assert len(incomplete) == N_ROWS
        assert incomplete["age"].notna().all()
        assert incomplete["blood_pressure"].notna().mean() == pytest.approx(0.5, abs=0.08)


def test_a_seed_gives_the_same_again():
    one, two = remove_pressures("MAR", 7), remove_pressures("MAR", 7)

    assert one.amputation.incomplete.equals(two.amputation.incomplete)
    assert one.sentence() == two.sentence()


def test_the_sentence_has_the_numbers():
    lost = remove_pressures("MNAR", 1)

    assert f"**{lost.true_mean:.1f}**" in lost.sentence()
    assert f"too {lost.direction}" in lost.sentence()
    assert "without a direction" in remove_pressures("MCAR", 1).sentence()


@pytest.mark.parametrize("seed", range(5))
def test_chance_of_missing_values_is_independent_of_the_patients(seed):
    incomplete = remove_pressures("MCAR", seed).amputation.incomplete

    left = incomplete["blood_pressure"].notna()
    assert abs(np.corrcoef(left, incomplete["age"])[0, 1]) < 0.15
