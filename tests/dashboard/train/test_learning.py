"""Does the network learn? In numbers and in words."""

import math

import numpy as np
import pytest

from dashboard.train import learning
from dashboard.train.curves import GAUSSIAN, MEAN, Curves
from pmae_core.jobs import JobEvent


def curves(scores, noise=0.01, *, start=0.8, answers=(), columns=((0.9, 0.5), (20, 3))):
    """Return the curves of a training with these scores at steps 0, 25, 50 and so on."""
    kept, n_cells = columns
    references = {"mean": 1.0}
    if start is not None:
        references["gaussian"] = start
    events = [
        (
            "ReferencesScored",
            {
                "n_cells": list(n_cells),
                "scores": references,
                "column_scores": {name: [score, score] for name, score in references.items()},
            },
        )
    ]
    events += [
        ("AnswerImproved", {"members": ["gaussian", "trees"][: place + 1], "skill": skill})
        for place, skill in enumerate(answers)
    ]
    best = math.inf
    for place, score in enumerate(scores):
        is_best = score < best
        best = min(best, score)
        data = {
            "step": 25 * place,
            "score": score,
            "is_best": is_best,
            "noise": noise,
            "column_scores": list(kept) if is_best else None,
        }
        events.append(("ValidationScored", data))
    found = Curves()
    found.read(
        JobEvent(seq=seq, time=0.0, attempt=1, kind=kind, data=data)
        for seq, (kind, data) in enumerate(events, start=1)
    )
    return found


def test_the_curve_is_relative_to_a_reference():
    found = curves([0.8, 0.6, 0.7])

    to_mean = learning.reduction_curve(found, MEAN)
    to_start = learning.reduction_curve(found, GAUSSIAN)

    np.testing.assert_allclose(to_mean["share"], [0.2, 0.4, 0.3])
    assert to_mean["low"].isna().all()
    np.testing.assert_allclose(to_start["share"], [0, 0.25, 0.125])
    np.testing.assert_allclose(to_start["high"] - to_start["low"], 2 * 1.96 * 0.01 / 0.8)


def test_without_a_start_noise_is_relative_to_the_mean():
    found = curves([1.5, 0.6], start=None)

    to_mean = learning.reduction_curve(found, MEAN)

    np.testing.assert_allclose(to_mean["share"] - to_mean["low"], 1.96 * 0.01)
    assert "**The network learns.**" in learning.verdict(found, is_running=False)
    assert "start" not in learning.verdict(found, is_running=False)


def test_reference_lines_by_words():
    references = curves([0.8]).references

    assert learning.reference_lines(references, MEAN) == pytest.approx(
        {"mean imputation": 0.0, "Gaussian start": 0.2}
    )
    assert learning.reference_lines(references, GAUSSIAN) == {"Gaussian start": 0.0}


def test_a_clear_gain():
    said = learning.verdict(curves([0.8, 0.6, 0.9], 0.02), is_running=False)

    assert said == (
        "**The network learns.** Held-out error is 40% lower than with mean imputation and 25% "
        "lower than at its Gaussian start (95% interval 20.1% to 29.9%)."
    )


def test_a_blend_says_what_each_member_adds():
    said = learning.verdict(curves([0.8, 0.9], answers=(0.25, 0.3)), is_running=False)

    assert said.endswith(
        " Held-out variance explained by the blend: 25% with the Gaussian, 30% after adding trees."
    )
    assert learning.WHY_NO_GAIN not in said


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([0.8, 0.9], "**The network adds nothing here.** Held-out error is 20% lower than with"),
        ([0.8, 0.79], "**The network adds little here.**"),
    ],
)
def test_no_gain_is_said_and_why_that_is_fine(scores, said):
    found = curves(scores)

    done = learning.verdict(found, is_running=False)

    assert done.startswith(said)
    assert done.endswith(learning.WHY_NO_GAIN)
    assert learning.WHY_NO_GAIN not in learning.verdict(found, is_running=True)


def test_noise_is_said_with_its_interval():
    said = learning.verdict(curves([0.8, 0.78], noise=0.02), is_running=False)

    assert "2.5% lower than at its Gaussian start, which is within noise" in said
    assert "(95% interval −2.4% to 7.4%)" in said


def test_a_network_that_is_no_better_than_the_mean():
    found = curves([1.2, 1.1], start=1.2)

    said = learning.verdict(found, is_running=False)

    assert said.startswith("**No better than the mean.**")
    assert "the held-out cells too few to show it" in said
    assert "**No better than the mean so far.**" in learning.verdict(found, is_running=True)


def test_runs_without_references():
    empty, old, paper = Curves(), Curves(), Curves()
    step = {
        "step": 10, "total_steps": 100, "prediction_loss": 1.0, "reconstruction_loss": 1.0,
        "validation_score": None, "rows_per_second": 1.0,
    }  # fmt: skip
    paper.read([JobEvent(1, 0.0, 1, "TrainingProgress", step)])
    old.read([JobEvent(1, 0.0, 1, "TrainingProgress", {**step, "validation_score": 0.5})])

    assert learning.verdict(empty, is_running=True) == learning.STARTING
    assert learning.verdict(empty, is_running=False) == ""
    assert learning.verdict(old, is_running=False) == learning.OLD_RUN
    assert learning.verdict(paper, is_running=False) == learning.NO_HELD_OUT


def test_columns_are_those_of_the_kept_model_and_few_cells_come_last():
    found = curves([0.8, 0.7, 0.9], columns=((0.9, 0.5), (20, 3)))

    skills = learning.column_skills(found, ["many", "few"])

    assert skills["column"].tolist() == ["many", "few"]
    np.testing.assert_allclose(skills["kept"], [0.1, 0.5])
    np.testing.assert_allclose(skills["start"], 0.2)
    assert learning.column_skills(Curves(), []).empty


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (
            {"training": {"reason": "early", "step": 575, "best_step": 75, "best_score": 0.5963}},
            "Stopped early at step 575; the best model is from step 75 (held-out error 0.596).",
        ),
        (
            {
                "training": {
                    "reason": "completed", "step": 1500, "best_step": 1200, "best_score": 0.1
                },
                "n_imputed": 1033,
                "still_missing": {"id": 3},
            },
            "Completed 1,500 steps; the best model is from step 1,200 (held-out error 0.1). "
            "1,033 missing values imputed. Not imputed, because they cannot be learned: `id`.",
        ),
        (
            {"training": {"reason": "completed", "step": 40, "best_step": 40, "best_score": None}},
            "Completed 40 steps.",
        ),
        ({}, ""),
    ],
)  # fmt: skip
def test_how_a_training_ended(result, said):
    assert learning.ended_sentence(result) == said
