"""Events as plain data, and back."""

import json

import pytest

from pmae_core.events import AnswerImproved, FitProgress


@pytest.mark.parametrize("skill", [0.75, None])
def test_an_answer_comes_back_from_its_data(skill):
    answer = AnswerImproved(
        members=["gaussian", "trees"], skill=skill, column_skill={"x": 0.5}, seconds=1.5
    )

    data = json.loads(json.dumps(answer.to_dict()))

    assert data["event"] == "AnswerImproved"
    assert AnswerImproved.from_dict(data) == answer


def test_an_event_knows_its_name():
    event = FitProgress(done=1, total=4, unit="round", eta_seconds=2.0)

    assert event.to_dict() == {
        "event": "FitProgress",
        "done": 1,
        "total": 4,
        "unit": "round",
        "eta_seconds": 2.0,
    }
