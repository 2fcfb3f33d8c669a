import json

import numpy as np
import pytest

from dashboard.learn.masking import (
    A_WORDS,
    N_REPETITIONS,
    PREDICTORS,
    TARGET,
    USUAL_A,
    make_trader,
    read_trained,
    repeated_shares,
    training_cases,
)
from pmae_core.masking import masking_probability


def test_proportional_masking_trains_on_the_real_case_about_twice_as_often():
    for seed in range(200):
        cases = training_cases(make_trader(seed), USUAL_A, seed)

        assert cases.answer == "proportional"
        ratio = cases.with_all_visible("proportional") / cases.with_all_visible("uniform")
        assert 1.6 < ratio < 2.4
        assert cases.with_all_visible("missing") > 0.9
        assert cases.with_all_visible("uniform") < 0.3


@pytest.mark.parametrize(
    ("a", "answer"), [(0.0, "alike"), (0.05, "proportional"), (0.15, "proportional")]
)
def test_every_a_that_readers_can_choose_has_a_clear_answer(a, answer):
    assert a in A_WORDS
    assert {training_cases(make_trader(seed), a, seed).answer for seed in range(20)} == {answer}


def test_other_tables_show_the_same():
    shares = repeated_shares(USUAL_A)

    assert all(len(found) == N_REPETITIONS for found in shares.values())
    assert (shares["proportional"] > shares["uniform"]).mean() > 0.98
    assert shares["proportional"].mean() == pytest.approx(0.46, abs=0.02)


def test_the_counts_are_what_the_masking_functions_promise():
    trader = make_trader(0)
    cases = training_cases(trader, USUAL_A, 0)
    p_obs = trader.observed.mean(axis=0)[: len(PREDICTORS)]

    for kind, masked in (
        ("uniform", np.full(len(PREDICTORS), 0.5)),
        ("proportional", masking_probability(p_obs, a=USUAL_A, b=0.5)),
    ):
        expected = (p_obs * (1 - masked)).prod()
        assert cases.with_all_visible(kind) == pytest.approx(expected, abs=0.04)
        assert cases.visible[kind].sum() == pytest.approx(1)


def test_without_a_slope_both_are_alike():
    cases = training_cases(make_trader(1), 0.0, 1)

    assert cases.answer == "alike"
    assert cases.visible["uniform"].equals(cases.visible["proportional"])
    assert "never" not in cases.sentence()


def test_a_slope_too_large_never_masks_the_predictors():
    assert "never learns to impute" in training_cases(make_trader(1), 0.15, 1).sentence()


def test_neither_predictor_says_anything_alone():
    truth = make_trader(0).truth
    alone = truth[[*PREDICTORS, TARGET]].corr()[TARGET].drop(TARGET).abs()

    assert (alone < 0.15).all()
    assert np.corrcoef(truth[PREDICTORS[0]] * truth[PREDICTORS[1]], truth[TARGET])[0, 1] > 0.98


def test_the_networks_learn_faster_and_end_up_alike():
    """The lesson says so: proportional masking is ahead after 400 steps, not after 4,000."""
    trained = read_trained()

    assert trained is not None, "run python -m benchmarks.accuracy.lesson_masking"
    assert trained.lengths == [400, 4000]
    ahead = {
        steps: trained.r2("proportional", steps).mean() - trained.r2("uniform", steps).mean()
        for steps in trained.lengths
    }
    assert ahead[400] > 0.15
    assert abs(ahead[4000]) < 0.05
    assert "benchmarks.accuracy.lesson_masking" in trained.command


def test_without_a_measurement_there_is_none(tmp_path):
    assert read_trained(tmp_path / "none.json") is None


def test_sentences_count_the_seeds(tmp_path):
    runs = [
        {"steps": 1000, "seed": seed, "masking": masking, "r2": r2}
        for seed, pair in enumerate([(0.1, 0.3), (0.4, 0.2)])
        for masking, r2 in zip(("uniform", "proportional"), pair, strict=True)
    ]
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"runs": runs, "command": "measure"}))

    sentence = read_trained(file).sentence(1000)

    assert sentence.startswith("After 1,000 training steps")
    assert "0.25 with uniform and 0.25 with proportional" in sentence
    assert "ahead with 1 of 2 seeds" in sentence
