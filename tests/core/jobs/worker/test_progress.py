"""The progress of a job from its events."""

import pytest

from pmae_core.events import AnswerImproved, TrainingProgress
from pmae_core.jobs.worker.progress import ProgressTracker, describe_event


def training(step):
    return TrainingProgress(
        step=step,
        total_steps=100,
        prediction_loss=float("inf"),
        reconstruction_loss=0.1,
        column_losses=[(0.5, None)],
        validation_score=None,
        learning_rate=1e-3,
        rows_per_second=10.0,
        eta_seconds=5.0,
    )


def test_progress_of_a_training():
    tracker = ProgressTracker()
    assert tracker.progress.fraction is None
    kind, data = describe_event(training(25))
    assert data["prediction_loss"] is None
    assert data["column_losses"] == [[0.5, None]]
    tracker.add(kind, data)
    assert (tracker.progress.fraction, tracker.progress.eta_seconds) == (0.25, 5.0)
    tracker.add("PhaseStarted", {"phase": "impute"})
    assert tracker.progress.message == "Imputing missing values"


def test_progress_of_a_comparison():
    tracker = ProgressTracker()
    result = {"method": "naive", "seed": 0}
    tracker.add("TaskStarted", result)
    tracker.add("TaskFinished", dict(result=result, n_done=1, n_tasks=4, from_disk=False))
    tracker.add("TaskStarted", {"method": "pmae-mix", "seed": 0})
    inner = {"event": "TrainingProgress", **describe_event(training(50))[1]}
    tracker.add("TaskProgress", {"method": "pmae-mix", "seed": 0, "progress": inner})
    progress = tracker.progress
    assert progress.fraction == pytest.approx(1.5 / 4)
    assert progress.message == "1 of 4 done; pmae-mix (seed 0): step 50 of 100"
    assert progress.eta_seconds >= 0


def test_what_follows_a_comparison_has_a_progress_of_its_own():
    tracker = ProgressTracker()
    result = {"method": "naive", "seed": 0}
    tracker.add("TaskFinished", dict(result=result, n_done=1, n_tasks=1, from_disk=False))
    tracker.add("PhaseStarted", {"phase": "conclusions"})
    assert tracker.progress.message == "Drawing conclusions from each imputed table"
    done = {"done": 1, "total": 2, "unit": "conclusions: method", "eta_seconds": 3.0}
    tracker.add("FitProgress", done)
    assert (tracker.progress.fraction, tracker.progress.eta_seconds) == (0.5, 3.0)


def test_an_answer_is_said_while_the_fit_goes_on():
    tracker = ProgressTracker()
    answer = AnswerImproved(members=["gaussian"], skill=0.412, column_skill={}, seconds=0.6)
    tracker.add("PhaseStarted", {"phase": "fit"})
    tracker.add(*describe_event(answer))
    said = "Answer ready after less than 1 s (Gaussian, skill 0.41 on held-out cells)"
    assert tracker.progress.message == f"{said}; Training"
    tracker.add(*describe_event(training(25)))
    assert tracker.progress.message == f"{said}; step 25 of 100"
    assert tracker.progress.fraction == 0.25
    tracker.add("PhaseStarted", {"phase": "impute"})
    assert tracker.progress.message == "Imputing missing values"


def test_an_answer_without_a_skill():
    tracker = ProgressTracker()
    answer = AnswerImproved(members=["gaussian", "trees"], skill=None, column_skill={}, seconds=9.0)
    tracker.add(*describe_event(answer))
    assert tracker.progress.message == "Answer ready after 9 s (Gaussian and trees); Starting"
