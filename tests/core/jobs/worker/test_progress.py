"""The progress of a job from its events."""

import pytest

from pmae_core.events import AnswerImproved, DamageFound, FitProgress, TrainingProgress
from pmae_core.imputers import imputer_info
from pmae_core.jobs import JobSpec
from pmae_core.jobs.worker.progress import ProgressTracker, describe_event, phase_weights


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


def test_damage_is_part_of_the_message_to_the_end():
    tracker = ProgressTracker()
    tracker.add(*describe_event(DamageFound(sentence="The checkpoint is damaged.")))
    tracker.add(*describe_event(training(25)))
    assert tracker.progress.message == "The checkpoint is damaged; step 25 of 100"
    tracker.add("PhaseStarted", {"phase": "impute"})
    assert tracker.progress.message == "The checkpoint is damaged; Imputing missing values"


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def a_comparison(clock, **known):
    planned = [(method, seed) for seed in (0, 1) for method in ("naive", "pmae-mix")]
    return ProgressTracker(planned, clock=clock, **known)


def run(tracker, clock, method, seed, seconds, n_done):
    tracker.add("TaskStarted", {"method": method, "seed": seed})
    clock.now += seconds
    result = {"method": method, "seed": seed}
    tracker.add("TaskFinished", dict(result=result, n_done=n_done, n_tasks=4, from_disk=False))


def test_progress_of_a_comparison_is_weighted_by_method():
    """A quick method that is done is not a quarter of the work."""
    clock = Clock()
    costs = [{"method": "naive", "seconds": 1.0}, {"method": "pmae-mix", "seconds": 99.0}]
    tracker = a_comparison(clock, estimate={"per_method": costs})
    run(tracker, clock, "naive", 0, 1.0, n_done=1)
    assert tracker.progress.fraction == pytest.approx(1 / 200)
    assert tracker.progress.eta_seconds == pytest.approx(199)
    tracker.add("TaskStarted", {"method": "pmae-mix", "seed": 0})
    clock.now += 60.0
    inner = {"event": "TrainingProgress", **describe_event(training(50))[1]}
    tracker.add("TaskProgress", {"method": "pmae-mix", "seed": 0, "progress": inner})
    progress = tracker.progress
    title = imputer_info("pmae-mix").title
    assert title != "pmae-mix"
    assert progress.message == f"1 of 4 done; {title} (seed 0): step 50 of 100"
    assert progress.eta_seconds == pytest.approx(60 + 1 + 99)


def test_a_label_that_names_no_method_is_shown_as_it_is():
    tracker = ProgressTracker([("mine", 3)], clock=Clock())
    tracker.add("TaskStarted", {"method": "mine", "seed": 3})

    assert tracker.progress.message == "mine (seed 3)"


def four_methods(clock):
    estimated = {"naive": 1.0, "knn": 1.0, "em": 1.0, "pmae-mix": 10.0}
    costs = [{"method": name, "seconds": seconds} for name, seconds in estimated.items()]
    planned = [(name, 0) for name in estimated]
    return ProgressTracker(planned, {"per_method": costs}, clock=clock)


def test_estimates_are_scaled_by_what_finished_methods_took():
    clock = Clock()
    tracker = four_methods(clock)
    for method, seconds in (("naive", 3.0), ("knn", 3.0), ("em", 3.0)):
        run(tracker, clock, method, 0, seconds, n_done=1)
    assert tracker.progress.eta_seconds == pytest.approx(3 * 10)


def test_one_wrong_estimate_does_not_change_the_others():
    clock = Clock()
    tracker = four_methods(clock)
    for method, seconds in (("naive", 1.0), ("knn", 1.0), ("em", 0.02)):
        run(tracker, clock, method, 0, seconds, n_done=1)
    assert tracker.progress.eta_seconds == pytest.approx(10)


def test_quick_methods_promise_nothing_before_the_slow_ones_are_estimated():
    clock = Clock()
    tracker = a_comparison(clock, awaits_estimate=True)
    run(tracker, clock, "naive", 0, 1.0, n_done=1)
    assert (tracker.progress.fraction, tracker.progress.eta_seconds) == (None, None)
    tracker.add("PhaseStarted", {"phase": "estimate"})
    tracker.add("MethodProbed", {"cost": {"method": "pmae-mix", "seconds": 99.0}})
    tracker.add("TaskStarted", {"method": "pmae-mix", "seed": 0})
    assert tracker.progress.eta_seconds == pytest.approx(99 + 1 + 99)


def test_a_failed_estimate_does_not_hide_progress_for_good():
    clock = Clock()
    tracker = a_comparison(clock, awaits_estimate=True)
    run(tracker, clock, "naive", 0, 1.0, n_done=1)
    tracker.add("PhaseStarted", {"phase": "estimate"})
    tracker.add("TaskStarted", {"method": "pmae-mix", "seed": 0})
    assert tracker.progress.fraction == pytest.approx(1 / 4)


def test_progress_never_falls():
    clock = Clock()
    tracker = a_comparison(clock)
    run(tracker, clock, "naive", 0, 1.0, n_done=1)
    before = tracker.progress.fraction
    run(tracker, clock, "pmae-mix", 0, 200.0, n_done=2)
    tracker.add("TaskStarted", {"method": "naive", "seed": 1})
    assert before <= tracker.progress.fraction <= 1
    fit = ProgressTracker()
    for phase, done in (("fit", 3), ("sample", 1)):
        fit.add("PhaseStarted", {"phase": phase})
        event = {"done": done, "total": 4, "unit": "round", "eta_seconds": 1.0}
        fit.add("FitProgress", event)
        assert fit.progress.fraction == 0.75


def test_counts_are_whole_numbers_with_commas():
    tracker = ProgressTracker()
    event = {"done": 40, "total": 1500.0, "unit": "step", "eta_seconds": 1.0}
    tracker.add("FitProgress", event)
    assert tracker.progress.message == "step 40 of 1,500"


def test_what_follows_a_comparison_has_a_progress_of_its_own():
    tracker = ProgressTracker()
    result = {"method": "naive", "seed": 0}
    tracker.add("TaskFinished", dict(result=result, n_done=1, n_tasks=1, from_disk=False))
    tracker.add("PhaseStarted", {"phase": "conclusions"})
    assert tracker.progress.message == "Drawing conclusions from each imputed table"
    done = {"done": 1, "total": 2, "unit": "conclusions: method", "eta_seconds": 3.0}
    tracker.add("FitProgress", done)
    assert tracker.progress.eta_seconds == 3.0


def test_what_follows_a_comparison_has_its_share_of_the_bar():
    clock = Clock()
    tracker = ProgressTracker(
        [("naive", 0), ("naive", 1)], clock=clock, phases={"compare": 2.0, "conclusions": 1.0}
    )
    run(tracker, clock, "naive", 0, 10.0, n_done=1)
    assert tracker.progress.fraction == pytest.approx(1 / 3)
    assert tracker.progress.eta_seconds == pytest.approx(10 + 10)
    run(tracker, clock, "naive", 1, 10.0, n_done=2)
    assert tracker.progress.fraction == pytest.approx(2 / 3)
    tracker.add("PhaseStarted", {"phase": "conclusions"})
    assert tracker.progress.fraction == pytest.approx(2 / 3)  # the bar stays where it was
    event = {"done": 1, "total": 2, "unit": "conclusions: method", "eta_seconds": 5.0}
    tracker.add("FitProgress", event)
    assert tracker.progress.fraction == pytest.approx(5 / 6)
    assert tracker.progress.eta_seconds == 5.0


@pytest.mark.parametrize(
    ("kind", "params", "weights"),
    [
        ("impute", {"method": "em"}, {"fit": 8.0, "impute": 1.0}),
        ("impute", {"method": "em", "imputations": 10}, {"fit": 8.0, "impute": 1.0, "sample": 2.0}),
        ("compare", {"methods": ["em"], "seeds": [0, 1]}, {"compare": 2.0}),
        (
            "compare",
            {"methods": ["em"], "seeds": [0, 1], "conclusions": [["mean", "a"]]},
            {"compare": 2.0, "conclusions": 1.0},
        ),
    ],
)
def test_phases_share_the_bar(kind, params, weights):
    assert phase_weights(JobSpec.make(kind, params=params, table="0" * 64)) == weights


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


def trees(done):
    return FitProgress(done=done, total=100, unit="tree", eta_seconds=30.0)


def an_answer(*members, to_come):
    return AnswerImproved(
        members=list(members), skill=None, column_skill={}, seconds=1.0, to_come=to_come
    )


BLEND_EVENTS = [
    (an_answer("gaussian", to_come=["trees", "network"]), None),
    (trees(50), (0.25, 30 + 60)),
    (trees(100), (0.5, None)),
    (an_answer("gaussian", "trees", to_come=["network"]), (0.5, None)),
    (training(50), (0.75, 5.0)),
]


def seen(progress):
    return progress.fraction, progress.eta_seconds


def test_trees_do_not_promise_the_end_of_a_fit_whose_network_is_to_come():
    tracker = ProgressTracker()
    for event, expected in BLEND_EVENTS:
        tracker.add(*describe_event(event))
        assert expected is None or seen(tracker.progress) == expected


def test_a_blend_among_the_methods_of_a_comparison_has_stages_too():
    clock = Clock()
    tracker = ProgressTracker([("pmae", 0)], clock=clock)
    tracker.add("TaskStarted", {"method": "pmae", "seed": 0})
    clock.now = 30.0
    for event, expected in BLEND_EVENTS:
        kind, data = describe_event(event)
        task = {"method": "pmae", "seed": 0, "progress": {"event": kind, **data}}
        tracker.add("TaskProgress", task)
        if expected is not None:
            assert tracker.progress.fraction == expected[0]


def test_an_answer_without_a_skill():
    tracker = ProgressTracker()
    answer = AnswerImproved(members=["gaussian", "trees"], skill=None, column_skill={}, seconds=9.0)
    tracker.add(*describe_event(answer))
    assert tracker.progress.message == "Answer ready after 9 s (Gaussian and trees); Starting"
