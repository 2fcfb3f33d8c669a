import json

import numpy as np
import pytest

from dashboard.learn.masking import (
    HELPERS,
    TARGET,
    USUAL_A,
    make_trader,
    practise,
    read_trained,
)
from pmae_core.masking import masking_probability


@pytest.mark.parametrize("seed", range(5))
def test_proportional_masking_practises_the_real_case_about_twice_as_often(seed):
    practice = practise(make_trader(seed), USUAL_A, seed)

    assert practice.answer == "proportional"
    ratio = practice.with_all_helpers("proportional") / practice.with_all_helpers("uniform")
    assert 1.6 < ratio < 2.4
    assert practice.with_all_helpers("holes") > 0.9
    assert practice.with_all_helpers("uniform") < 0.3


def test_the_counts_are_what_the_masking_functions_promise():
    trader = make_trader(0)
    practice = practise(trader, USUAL_A, 0)
    p_obs = trader.observed.mean(axis=0)[: len(HELPERS)]

    for kind, masked in (
        ("uniform", np.full(len(HELPERS), 0.5)),
        ("proportional", masking_probability(p_obs, a=USUAL_A, b=0.5)),
    ):
        expected = (p_obs * (1 - masked)).prod()
        assert practice.with_all_helpers(kind) == pytest.approx(expected, abs=0.04)
        assert practice.in_sight[kind].sum() == pytest.approx(1)


def test_without_a_slope_both_are_alike():
    practice = practise(make_trader(1), 0.0, 1)

    assert practice.answer == "alike"
    assert practice.in_sight["uniform"].equals(practice.in_sight["proportional"])
    assert practice.warning() is None


def test_a_slope_too_large_never_hides_the_helpers():
    assert "never practises" in practise(make_trader(1), 0.2, 1).warning()


def test_neither_helper_says_anything_alone():
    truth = make_trader(0).truth
    alone = truth[[*HELPERS, TARGET]].corr()[TARGET].drop(TARGET).abs()

    assert (alone < 0.15).all()
    assert np.corrcoef(truth[HELPERS[0]] * truth[HELPERS[1]], truth[TARGET])[0, 1] > 0.98


def test_the_measured_comparison_is_there_and_says_what_the_lesson_says():
    trained = read_trained()

    assert trained is not None, "run python -m benchmarks.accuracy.lesson_masking"
    mean = trained.runs.groupby(["steps", "masking"])["r2"].mean().unstack()
    assert (mean["proportional"] > mean["uniform"] + 0.1).iloc[0]
    assert len(trained.sentences()) == len(mean)
    assert "benchmarks.accuracy.lesson_masking" in trained.command


def test_without_a_measurement_there_is_none(tmp_path):
    assert read_trained(tmp_path / "none.json") is None


def test_sentences_count_the_seeds(tmp_path):
    runs = [
        {"steps": 10, "seed": seed, "masking": masking, "r2": r2}
        for seed, pair in enumerate([(0.1, 0.3), (0.4, 0.2)])
        for masking, r2 in zip(("uniform", "proportional"), pair, strict=True)
    ]
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"runs": runs, "command": "measure"}))

    (sentence,) = read_trained(file).sentences()

    assert "0.25 with uniform and 0.25 with proportional" in sentence
    assert "ahead with 1 of 2 seeds" in sentence
