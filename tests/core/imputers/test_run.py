"""A fit under way: cancellation, events and progress."""

import pytest

from pmae_core.errors import Cancelled
from pmae_core.events import AnswerImproved
from pmae_core.imputers.run import FitRun, ProgressMeter


def run(callbacks=(), cancel=lambda: False) -> FitRun:
    return FitRun(seed=0, callbacks=callbacks, cancel=cancel, checkpoint_dir=None)


def test_a_check_raises_when_the_user_asked_to_stop():
    asked = []

    def cancel() -> bool:
        asked.append(None)
        return len(asked) > 1

    going = run(cancel=cancel)
    going.check()
    with pytest.raises(Cancelled, match=r"^The fit was cancelled\.$"):
        going.check()


def test_every_callback_gets_an_event():
    first, second = [], []
    answer = AnswerImproved(members=["trees"], skill=None, column_skill={}, seconds=0.0)

    run([first.append, second.append]).emit(answer)

    assert first == second == [answer]


def meter(total: int, every: int, cancel=lambda: False) -> tuple[ProgressMeter, list]:
    seen: list = []
    return ProgressMeter(total, "tree", [seen.append], cancel, every=every), seen


def test_units_are_counted_and_told_together():
    progress, seen = meter(20, every=1)
    for units in (5, 1, 10, 4):
        progress.advance(units)

    assert [event.done for event in seen] == [5, 6, 16, 20]
    assert {event.total for event in seen} == {20}
    assert seen[-1].eta_seconds == 0
    assert seen[0].eta_seconds > 0


def test_an_event_comes_whenever_so_many_units_are_passed():
    progress, seen = meter(23, every=10)
    for units in (4, 4, 4, 4, 4, 1, 2):
        progress.advance(units)

    assert [event.done for event in seen] == [12, 20, 23]


def test_one_unit_is_the_default():
    progress, seen = meter(3, every=2)
    for _ in range(3):
        progress.advance()

    assert [event.done for event in seen] == [2, 3]


def test_the_last_units_are_told_before_a_cancellation():
    progress, seen = meter(20, every=1, cancel=lambda: progress.done >= 8)
    progress.advance(4)

    with pytest.raises(Cancelled, match="after 8 of 20 trees"):
        progress.advance(4)
    assert seen[-1].done == 8


def test_progress_of_a_run_uses_its_callbacks_and_its_cancellation():
    seen = []
    progress = run([seen.append], cancel=lambda: len(seen) == 2).progress(10, "round")
    progress.advance(2)

    with pytest.raises(Cancelled):
        progress.advance(2)
    assert [event.unit for event in seen] == ["round", "round"]
