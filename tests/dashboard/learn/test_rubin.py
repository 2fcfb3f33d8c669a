from itertools import product

import numpy as np
import pytest

from dashboard.components.stage.scene import Intervals, Mark
from dashboard.learn import rubin
from dashboard.learn.exercises.rubin import coverage_scene, solution_scene
from dashboard.learn.lesson import independent_numbers
from dashboard.learn.patients import MEAN_AGE, SPREAD_OF_AGES, fit_lines, make_patients
from dashboard.learn.rubin import (
    LESSON,
    N_ROWS,
    NUMBERS_OF_IMPUTATIONS,
    SHARES_MISSING,
    TRUTH,
    make_hundred,
)
from pmae_core.amputation.propensity import observed_probability

SETTINGS = list(product(SHARES_MISSING, NUMBERS_OF_IMPUTATIONS))


def hits_of_seeds(share, m, seeds=range(200)):
    hits = [make_hundred(share, m, seed).studies.hits() for seed in seeds]
    single, pooled = np.array(hits)[..., 0].T
    return single, pooled


@pytest.mark.parametrize(("share", "m"), SETTINGS)
def test_the_answer_is_how_often_single_imputation_covers(share, m):
    single, pooled = hits_of_seeds(share, m)
    right = float(make_hundred(share, m, 0).answer)

    assert single.mean() == pytest.approx(right, abs=1.5)
    nearest = [min(map(float, LESSON.answers), key=lambda n: abs(n - hits)) for hits in single]
    assert np.mean(np.array(nearest) == right) > 0.93
    assert (pooled > single).all()
    # Two imputations say too little of their variance; more of them keep the promise.
    assert pooled.mean() == pytest.approx(95, abs=1.5) if m > 2 else 88 < pooled.mean() < 94.5


def test_every_answer_below_95_is_right_with_some_share():
    assert {make_hundred(share, 5, 0).answer for share in SHARES_MISSING} == {"80", "60"}


@pytest.mark.parametrize("share", SHARES_MISSING)
def test_more_imputations_make_narrower_intervals(share):
    widths = [
        np.median(make_hundred(share, m, 0).repeated.pooled.width) for m in NUMBERS_OF_IMPUTATIONS
    ]
    single = np.median(make_hundred(share, 5, 0).repeated.single.width)

    assert widths[0] > widths[1] > widths[2] > 1.25 * single


@pytest.mark.parametrize("share", SHARES_MISSING)
def test_the_estimate_of_one_imputation_is_not_biased(share):
    centers = make_hundred(share, 5, 0).repeated.single.center

    assert centers.mean() == pytest.approx(TRUTH, abs=4 * centers.std() / len(centers) ** 0.5)


def imputed_one_by_one(share, n_studies, seed):
    """Impute every missing value itself, from the same posterior."""
    rng = independent_numbers(seed)
    patients = make_patients(n_studies, N_ROWS, np.random.default_rng(seed))
    score = -(patients.age - MEAN_AGE).ravel() / SPREAD_OF_AGES
    p_observed = observed_probability(score, 1 - share).reshape(patients.age.shape)
    observed = rng.random(patients.age.shape) < p_observed
    line = fit_lines(patients.age, patients.pressure, observed)
    spread = np.sqrt(line.residual_squares / rng.chisquare(line.n_rows - 2))
    slope = line.slope + spread * rng.normal(size=spread.shape) / np.sqrt(line.squares_x)
    height = line.mean_y + spread * rng.normal(size=spread.shape) / np.sqrt(line.n_rows)
    imputed = rng.normal(height + slope * (patients.age - line.mean_x), spread)
    completed = np.where(observed, patients.pressure, imputed)
    return completed.mean(axis=1), completed.var(axis=1, ddof=1) / N_ROWS


def test_sums_of_the_scatter_stand_for_the_imputed_values():
    n_studies = 20_000
    means, variances = (part[:, 0] for part in rubin._imputed_means(0.65, n_studies, 1))
    means_one_by_one, variances_one_by_one = imputed_one_by_one(0.65, n_studies, 1)

    assert means.mean() == pytest.approx(means_one_by_one.mean(), abs=0.1)
    assert means.std() == pytest.approx(means_one_by_one.std(), rel=0.03)
    for share in (0.1, 0.5, 0.9):
        assert np.quantile(variances, share) == pytest.approx(
            np.quantile(variances_one_by_one, share), rel=0.03
        )
    together = np.corrcoef(np.abs(means - TRUTH), variances)[0, 1]
    assert together == pytest.approx(
        np.corrcoef(np.abs(means_one_by_one - TRUTH), variances_one_by_one)[0, 1], abs=0.03
    )


@pytest.mark.parametrize(("share", "m"), SETTINGS)
def test_the_first_hundred_is_typical(share, m):
    hundred = make_hundred(share, m, LESSON.first_seed)

    for (own,), repeated in zip(hundred.studies.hits(), hundred.repeated.hits(), strict=True):
        assert abs(own - repeated.mean()) < 1.5 * repeated.std()


def test_the_sentence_counts_the_intervals():
    hundred = make_hundred(0.4, 5, 3)
    (single,), (pooled,) = hundred.studies.hits()

    assert f"**{single}** of the 100" in hundred.sentence()
    assert f"**{pooled}** do" in hundred.sentence()
    assert int(
        ((hundred.studies.single.low < 130) & (hundred.studies.single.high > 130)).sum()
    ) == (single)


def layers(scene, kind):
    return [layer for layer in scene.panels[0].layers if isinstance(layer, kind)]


def test_the_question_shows_neither_the_truth_nor_the_hits():
    hundred = make_hundred(0.4, 5, 0)
    question = solution_scene(hundred).first().data()

    *intervals, mark = question["panels"][0]["layers"]
    assert [np.max(layer["opacity"]) for layer in intervals] == [1, 0, 0]
    assert mark["opacity"] == [0]
    assert mark["words"] == [""]


@pytest.mark.parametrize(("share", "m"), SETTINGS)
def test_the_picture_marks_the_intervals_that_miss(share, m):
    hundred = make_hundred(share, m, 0)
    scene = solution_scene(hundred)
    (single,), (pooled,) = hundred.studies.hits()

    _, hits, misses = layers(scene, Intervals)
    assert np.sum(hits.opacity, axis=1).tolist() == [0, single, pooled]
    assert np.sum(misses.opacity, axis=1).tolist() == [0, 100 - single, 100 - pooled]
    (mark,) = layers(scene, Mark)
    assert mark.words[1:] == [f"{single} of 100 contain the truth", f"{pooled} of 100 contain it"]
    np.testing.assert_array_equal(hits.low[1], hundred.studies.single.low)
    np.testing.assert_array_equal(hits.low[2], hundred.studies.pooled.low)


def test_the_luck_scene_counts_all_hundreds():
    luck = coverage_scene(make_hundred(0.65, 2, 0)).data()

    single, pooled, mark = luck["panels"][0]["layers"]
    assert sum(single["height"][-1]) == sum(pooled["height"][-1]) == 200
    assert (mark["value"], mark["words"][-1]) == ([95, 95], "95 as promised")
