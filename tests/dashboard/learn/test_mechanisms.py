import numpy as np
import pytest

from dashboard.learn.mechanisms import N_ROWS, lose_pressures

SEEDS = range(12)


def bias(lost):
    return lost.redrawn_means - lost.true_mean


@pytest.mark.parametrize("mechanism", ["MAR", "MNAR"])
def test_the_bias_has_the_told_direction_in_nearly_all_repetitions(mechanism):
    for seed in SEEDS:
        lost = lose_pressures(mechanism, seed)
        sign = {"low": -1, "high": 1}[lost.direction]
        assert (np.sign(bias(lost)) == sign).mean() > 0.95


def test_mcar_has_no_direction():
    for seed in SEEDS:
        lost = lose_pressures("MCAR", seed)
        assert lost.direction == "right"
        # The mean of 400 repetitions scatters by a twentieth of one.
        assert abs(bias(lost).mean()) < 4 * bias(lost).std() / 20


@pytest.mark.parametrize("mechanism", ["MAR", "MNAR"])
def test_both_directions_occur(mechanism):
    assert {lose_pressures(mechanism, seed).direction for seed in SEEDS} == {"low", "high"}


def test_filling_repairs_mar_and_not_mnar():
    left = {}
    for mechanism in ("MAR", "MNAR"):
        worlds = [lose_pressures(mechanism, seed) for seed in SEEDS]
        before = np.mean([abs(world.observed_mean - world.true_mean) for world in worlds])
        after = np.mean([abs(world.filled_mean - world.true_mean) for world in worlds])
        left[mechanism] = after / before
    assert left["MAR"] < 0.35
    assert left["MNAR"] > 0.6


@pytest.mark.parametrize("seed", SEEDS)
def test_the_rule_tells_the_direction(seed):
    mar, mnar = lose_pressures("MAR", seed), lose_pressures("MNAR", seed)

    assert "rises with age" in mar.rule()
    assert mar.rule().startswith("Young") == (mar.direction == "high")
    assert mnar.rule().startswith("Low") == (mnar.direction == "high")


def test_half_of_the_pressures_and_no_age_get_lost():
    for mechanism in ("MCAR", "MAR", "MNAR"):
        incomplete = lose_pressures(mechanism, 0).holes.incomplete
        assert len(incomplete) == N_ROWS
        assert incomplete["age"].notna().all()
        assert incomplete["blood_pressure"].notna().mean() == pytest.approx(0.5, abs=0.08)


def test_a_seed_gives_the_same_again():
    one, two = lose_pressures("MAR", 7), lose_pressures("MAR", 7)

    assert one.holes.incomplete.equals(two.holes.incomplete)
    assert one.sentence() == two.sentence()


def test_the_sentence_has_the_numbers():
    lost = lose_pressures("MNAR", 1)

    assert f"**{lost.true_mean:.1f}**" in lost.sentence()
    assert f"too {lost.direction}" in lost.sentence()
    assert "without a direction" in lose_pressures("MCAR", 1).sentence()


@pytest.mark.parametrize("seed", range(5))
def test_the_luck_of_the_holes_has_nothing_to_do_with_the_patients(seed):
    incomplete = lose_pressures("MCAR", seed).holes.incomplete

    left = incomplete["blood_pressure"].notna()
    assert abs(np.corrcoef(left, incomplete["age"])[0, 1]) < 0.15
