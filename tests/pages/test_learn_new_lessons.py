"""Lessons beyond the first six: answers, settings and links on the page."""

import base64
import json

import numpy as np
import pandas as pd
import pytest

from dashboard.learn import LESSONS

PAGE = "learn.py"
BY_NAME = {lesson.name: lesson for lesson in LESSONS}
# The right answer with first settings, other settings, and the right answer with those.
LESSONS_AND_ANSWERS = {
    "indicator": ("small", {"who": "mild", "missing": 80}, "large"),
    "auxiliary": ("all", {"rule": "stress", "correlation": 0.2}, "little"),
    "outcome": ("flatter", {"model": "guess", "missing": 30}, "steeper"),
    "own": ("flatter", {"rule": "chance"}, "same"),
    "sensitivity": ("more", {"share": 0.1}, "more"),
    "judge": ("scattered", {"purpose": "values"}, "line"),
    "rubin": ("80", {"share": 0.65, "m": 20}, "60"),
    "leakage": ("higher", {"way": "mean"}, "same"),
}


def open_lesson(workspace, open_page, name, **settings):
    values = {f"{name}_{key}": value for key, value in settings.items()}
    workspace.update("learn", lesson=name, **values)
    app = open_page(PAGE)
    assert not app.exception
    assert app.header[0].value == BY_NAME[name].title
    return app


def answer(app, name, key):
    (question,) = [radio for radio in app.radio if radio.key.startswith(f"learn:{name}_answer")]
    question.set_value(key).run()
    app.button(key="learn:reveal").click().run()
    assert not app.exception
    return app


def infos(app):
    return " ".join(info.value for info in app.info)


@pytest.mark.parametrize("name", LESSONS_AND_ANSWERS)
def test_the_right_answer_is_confirmed_with_first_and_with_other_settings(
    workspace, open_page, name
):
    first, settings, other = LESSONS_AND_ANSWERS[name]

    assert answer(open_lesson(workspace, open_page, name), name, first).success
    unanswered = {"answer": None, "revealed": False}
    app = open_lesson(workspace, open_page, name, **settings, **unanswered)
    assert answer(app, name, other).success


@pytest.mark.parametrize("name", LESSONS_AND_ANSWERS)
def test_a_wrong_answer_is_not_confirmed(workspace, open_page, name):
    right, _, _ = LESSONS_AND_ANSWERS[name]
    wrong = next(key for key in BY_NAME[name].answers if key != right)

    app = answer(open_lesson(workspace, open_page, name), name, wrong)

    assert not app.success
    assert app.warning


@pytest.mark.parametrize("name", LESSONS_AND_ANSWERS)
def test_the_link_has_the_settings(workspace, open_page, name):
    _, settings, _ = LESSONS_AND_ANSWERS[name]
    app = open_lesson(workspace, open_page, name, **settings)
    (link,) = [code.value for code in app.code if "s=" in code.value]
    content = link.split("s=")[1]
    _, shared = json.loads(base64.urlsafe_b64decode(content + "=" * (-len(content) % 4)))

    assert {f"{name}_{key}": value for key, value in settings.items()}.items() <= shared.items()


def test_the_own_table_offers_its_numerical_columns(workspace, open_page):
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    frame = pd.DataFrame(
        {"*dose*": x, "response": x + rng.normal(size=200), "town": ["a", "b"] * 100}
    )
    workspace.save_table(frame, name="trial", source="a test")

    app = open_lesson(workspace, open_page, "own")

    assert app.selectbox(key="learn:own_outcome").options == ["*dose*", "response"]
    app.selectbox(key="learn:own_outcome").set_value("response").run()
    assert app.selectbox(key="learn:own_predictor").value == "*dose*"
    assert not app.exception
    assert not app.info
    assert answer(app, "own", "flatter").success


def test_a_table_without_two_numerical_columns_is_replaced_by_a_sample_and_the_page_says_so(
    workspace, open_page
):
    workspace.save_table(pd.DataFrame({"town": ["a", "b"] * 100}), name="towns", source="a test")

    app = open_lesson(workspace, open_page, "own")

    assert "no two numerical columns" in infos(app)
    assert "`cirrhosis` is used instead" in infos(app)
    assert answer(app, "own", "flatter").success
