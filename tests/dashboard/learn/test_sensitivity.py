import numpy as np
import pytest

from dashboard.components.stage.scene import Intervals, Mark, Points
from dashboard.learn.exercises.sensitivity import question_scene, repeated_scene, solution_scene
from dashboard.learn.sensitivity import (
    EFFECT,
    LESSON,
    N_ROWS,
    SHARES_MISSING,
    STEPS_TO_TIPPING_POINT,
    find_tipping_point,
)
from pmae_core.inference.pooling import pool_estimates


@pytest.mark.parametrize("share", SHARES_MISSING)
def test_the_tipping_point_is_at_least_twice_the_distance(share):
    made = [find_tipping_point(share, seed) for seed in range(200)]

    assert all(one.distance > 0 for one in made), "there would be no conclusion to change"
    assert all(one.multiple >= 2 for one in made)
    # The interval widens as its values part: somewhat less than the distance over the share.
    assert all(0.75 / share < one.multiple <= 1 / share for one in made)
    multiples = made[0].repeated_tipping_points / made[0].repeated_distances
    assert np.mean([one.multiple for one in made]) == pytest.approx(multiples.mean(), rel=0.03)


@pytest.mark.parametrize("share", SHARES_MISSING)
def test_the_interval_reaches_0_at_the_tipping_point_and_not_before(share):
    tipped = find_tipping_point(share, 5)
    low = tipped.differences.low

    assert low[STEPS_TO_TIPPING_POINT] == pytest.approx(0, abs=1e-3)
    assert (low[:STEPS_TO_TIPPING_POINT] > 0).all()
    assert (low[STEPS_TO_TIPPING_POINT:] <= 0).all()
    assert tipped.deltas[0] == 0


@pytest.mark.parametrize("share", SHARES_MISSING)
def test_only_the_missing_share_moves(share):
    tipped = find_tipping_point(share, 2)
    center = tipped.differences.center

    assert tipped.share_missing == pytest.approx(share)
    assert center == pytest.approx(center[0] - share * tipped.deltas)


def test_the_difference_is_pooled_as_the_library_does():
    tipped = find_tipping_point(0.4, 0)
    trial, delta = tipped.trial, tipped.deltas[7]
    drug = trial.drug[0] - delta * trial.missing[0]
    placebo = trial.placebo[0]

    pooled = pool_estimates(
        drug.mean(axis=1) - placebo.mean(),
        (drug.var(axis=1, ddof=1) + placebo.var(ddof=1)) / N_ROWS,
        df_complete=2 * N_ROWS - 2,
    )

    assert tipped.differences.center[7] == pytest.approx(pooled.estimate)


def test_under_mar_the_difference_is_right_on_average():
    found = [find_tipping_point(0.4, seed).differences for seed in range(200)]
    centers = np.array([one.center[0] for one in found])

    assert centers.mean() == pytest.approx(EFFECT, abs=4 * centers.std() / 200**0.5)
    covered = np.mean([one.low[0] <= EFFECT <= one.high[0] for one in found])
    assert 0.90 <= covered <= 0.99


@pytest.mark.parametrize("share", SHARES_MISSING)
def test_the_first_trial_is_typical(share):
    tipped = find_tipping_point(share, LESSON.first_seed)

    for own, repeated in (
        (tipped.distance, tipped.repeated_distances),
        (tipped.tipping_point, tipped.repeated_tipping_points),
    ):
        assert abs(own - repeated.mean()) < 1.5 * repeated.std()


def test_the_sentence_gives_the_numbers():
    tipped = find_tipping_point(0.25, 1)

    assert f"**{tipped.tipping_point:.1f}** mmHg worse" in tipped.sentence()
    assert "25% of the group's values" in tipped.sentence()
    assert f"95% interval {tipped.distance:.1f} to" in tipped.sentence()


@pytest.mark.parametrize("share", SHARES_MISSING)
def test_the_question_shows_the_interval_and_not_the_tipping_point(share):
    tipped = find_tipping_point(share, 0)
    scene = question_scene(tipped)

    (interval,) = (layer for layer in scene.panels[1].layers if isinstance(layer, Intervals))
    assert len(interval.low) == 1
    marks = [layer for layer in scene.panels[1].layers if isinstance(layer, Mark)]
    words = " ".join([*scene.captions, *(str(mark.words) for mark in marks)])
    assert f"{tipped.tipping_point:.1f}" not in words
    assert f"begins at {tipped.distance:.1f}" in words
    assert scene.slider is None
    assert len(scene.states) == 1


@pytest.mark.parametrize("share", SHARES_MISSING)
def test_the_slider_moves_imputed_points_and_the_interval(share):
    tipped = find_tipping_point(share, 0)
    scene = solution_scene(tipped)
    patients, differences = scene.panels

    *_, imputed = (layer for layer in patients.layers if isinstance(layer, Points))
    assert len(imputed.x) == round(share * N_ROWS)
    fall = np.asarray(imputed.y)[0] - np.asarray(imputed.y)
    np.testing.assert_allclose(fall, np.broadcast_to(tipped.deltas[:, None], fall.shape))
    (dot,) = (layer for layer in differences.layers if isinstance(layer, Points))
    np.testing.assert_array_equal(np.ravel(dot.x), tipped.differences.center)
    assert scene.slider.values == tipped.deltas.tolist()
    assert scene.slider.start == round(tipped.tipping_point, 1)
    (zero, mark) = (layer for layer in differences.layers if isinstance(layer, Mark))
    assert (zero.value, zero.axis) == (0, "x")
    assert mark.words == f"tipping point {tipped.tipping_point:.1f}"


def test_captions_say_whether_the_interval_excludes_0():
    captions = solution_scene(find_tipping_point(0.4, 0)).captions
    tip = STEPS_TO_TIPPING_POINT

    assert all(caption.endswith("excludes 0.") for caption in captions[:tip])
    assert captions[tip].endswith("from 0.0 to 5.9 reaches 0: this is the tipping point.")
    assert all(caption.endswith("includes 0.") for caption in captions[tip + 1 :])
    assert not any("-" in caption or "−0.0 " in caption for caption in captions)


def test_the_luck_scene_has_all_trials():
    data = repeated_scene(find_tipping_point(0.4, 0)).data()["panels"][0]

    distances, tipping_points, *_ = data["layers"]
    assert sum(distances["height"][-1]) == sum(tipping_points["height"][-1]) == 200
