import re

import numpy as np
import pandas as pd
import pytest

from dashboard.learn import worlds
from dashboard.learn.worlds import (
    SPREAD,
    USUAL_SHIFT,
    VALUE,
    diagnose,
    make_worlds,
    probability_to_report,
    repeated_errors,
    shift_words,
    solution,
)


def by_mechanism(shift, seed):
    pair = make_worlds(shift, seed)
    return {world.mechanism: world for world in pair}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("shift", [0.5, USUAL_SHIFT, 2.5])
def test_the_observed_cells_are_identical_and_the_truths_differ(shift, seed):
    one, two = make_worlds(shift, seed)

    pd.testing.assert_frame_equal(one.incomplete, two.incomplete, check_exact=True)
    for world in (one, two):
        seen = world.incomplete.notna()
        assert world.truth.where(seen).equals(world.incomplete)
    found = by_mechanism(shift, seed)
    missing = found["MAR"].missing
    assert (found["MNAR"].truth[VALUE] - found["MAR"].truth[VALUE])[missing].to_numpy() == (
        pytest.approx(shift * SPREAD)
    )


@pytest.mark.parametrize("seed", range(3))
def test_every_diagnostic_agrees(seed):
    one, two = (diagnose(world.incomplete) for world in make_worlds(USUAL_SHIFT, seed))

    assert one.table() == two.table()
    assert one.little == two.little
    assert one.imputed_mean == two.imputed_mean
    assert one.share_missing == two.share_missing
    pd.testing.assert_frame_equal(one.differences, two.differences, check_exact=True)
    assert (one.tree.skill, one.tree.rules) == (two.tree.skill, two.tree.rules)


def test_the_same_imputation_is_right_in_one_world_and_wrong_in_the_other():
    errors = {"MAR": [], "MNAR": []}
    for seed in range(12):
        for name, world in by_mechanism(USUAL_SHIFT, seed).items():
            imputed = worlds.gaussian_of(world.incomplete).mean[2]
            errors[name].append(imputed - world.true_mean)

    assert abs(np.mean(errors["MAR"])) < 0.5
    assert max(errors["MNAR"]) < -2.5


def test_the_seed_decides_which_world_is_which():
    first = {make_worlds(USUAL_SHIFT, seed)[0].mechanism for seed in range(10)}

    assert first == {"MAR", "MNAR"}


@pytest.mark.parametrize(("mechanism", "shift"), [("MAR", 0.0), ("MNAR", USUAL_SHIFT)])
def test_the_probability_to_report_is_that_of_the_world(monkeypatch, mechanism, shift):
    """In many people, those of similar probability report as often as it says."""
    monkeypatch.setattr(worlds, "N_ROWS", 200_000)
    world = by_mechanism(USUAL_SHIFT, 0)[mechanism]
    age, school, income = (world.truth[name].to_numpy() for name in ("age", "school", VALUE))
    reported = ~world.missing

    for group in (income < 35, (income > 35) & (income < 45), income > 50):
        promised = probability_to_report(income, age, school, shift)[group]
        assert reported[group].mean() == pytest.approx(promised.mean(), abs=0.01)
    # Given age and school, the income matters in the MNAR world alone.
    above = income - worlds.expected_income(age, school) > 0
    alike = np.abs(age - 45) < 2
    difference = reported[alike & above].mean() - reported[alike & ~above].mean()
    assert (difference < -0.2) if mechanism == "MNAR" else (abs(difference) < 0.03)


def test_without_a_shift_the_worlds_are_one():
    one, two = make_worlds(0.0, 0)

    assert one.truth.equals(two.truth)
    assert shift_words((one, two), 0.0) == (
        "Without a shift nothing differs: both worlds are MAR, and their truth is the same."
    )


@pytest.mark.parametrize("shift", [0.25, USUAL_SHIFT, 2.5])
def test_high_incomes_are_reported_less_often_in_the_mnar_world(shift):
    pair = make_worlds(shift, 0)
    words = shift_words(pair, shift)

    usual, high = map(float, re.findall(r"([\d.]+)%", words))
    assert usual > high
    assert pair[int(re.search(r"World (\d)", words)[1]) - 1].mechanism == "MNAR"


def test_the_observed_cells_are_identical_in_200_pairs_and_one_truth_is_missed():
    for seed in range(200):
        pair = make_worlds(USUAL_SHIFT, seed)
        assert pair[0].incomplete.equals(pair[1].incomplete)
        found = {world.mechanism: world for world in pair}
        assert found["MNAR"].true_mean - found["MAR"].true_mean > 2.5


def test_the_error_in_many_worlds_is_that_of_em():
    errors = repeated_errors(USUAL_SHIFT)
    by_em = {"MAR": [], "MNAR": []}
    for seed in range(20):
        for name, world in by_mechanism(USUAL_SHIFT, seed).items():
            by_em[name].append(worlds.gaussian_of(world.incomplete).mean[2] - world.true_mean)

    for name, found in errors.items():
        assert found.mean() == pytest.approx(np.mean(by_em[name]), abs=4 * found.std() / 4)
    assert (errors["MNAR"] < -3).all()
    assert abs(errors["MAR"].mean()) < 0.1


def test_the_solution_names_both_truths():
    pair = make_worlds(USUAL_SHIFT, 0)
    words = solution(pair, diagnose(pair[0].incomplete))

    assert all(f"**{world.true_mean:.1f}**" in words for world in pair)
    place = [world.mechanism for world in pair].index("MNAR") + 1
    assert f"World {place} is MNAR" in words
