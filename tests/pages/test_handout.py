"""A lesson on paper."""

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.learn import LESSONS, slopes
from dashboard.state.links import encoded
from tests.support.paths import ROOT

NAMES = [lesson.name for lesson in LESSONS]


@pytest.fixture
def open_handout(workspace):
    def run_app(shared, **state):
        app = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=60)
        app.query_params["handout"] = shared
        for key, value in state.items():
            app.session_state[key] = value
        return app.run()

    return run_app


def shared(name, seed=3, **settings):
    prefixed = {f"{name}_{key}": value for key, value in settings.items()}
    return encoded("learn", {"lesson": name, f"{name}_seed": seed, **prefixed})


def text_of(app):
    parts = (app.title, app.subheader, app.markdown, app.caption)
    return "\n".join(element.value for group in parts for element in group)


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_question_and_solution_are_on_the_handout(open_handout, lesson):
    app = open_handout(shared(lesson.name, lesson.first_seed))

    assert not app.exception
    assert not app.error
    assert [title.value for title in app.title] == [lesson.title, f"Solution: {lesson.title}"]
    text = text_of(app)
    assert lesson.story in text
    assert all(words in text for words in (lesson.question, *lesson.answers.values()))
    assert all(point in text for point in lesson.points)
    assert not app.button
    assert not app.selectbox


def test_the_handout_has_the_settings_of_its_address(open_handout):
    app = open_handout(shared("slopes", cause="outcome", strength=5.0))

    text = text_of(app)
    assert slopes.CAUSES["outcome"].title in text.replace("\\", "")
    assert slopes.drop_rows("outcome", 5.0, 3).sentence() in text


def test_the_handout_needs_no_workspace(open_handout, tmp_path):
    before = list((tmp_path / "workspaces").iterdir())

    open_handout(shared("slopes"))

    assert list((tmp_path / "workspaces").iterdir()) == before


@pytest.mark.parametrize(
    "value",
    [
        "",
        "nonsense",
        encoded("learn", {}),
        encoded("learn", {"lesson": "cooking"}),
        encoded("learn", {"lesson": ["slopes"], "slopes_seed": 3}),
        shared("x"),
        shared("slopes", 10**400),
        shared("slopes", "3"),
    ],
)
def test_an_address_that_names_no_lesson_says_so(open_handout, value):
    app = open_handout(value)

    assert not app.exception
    assert "Open the handout on Learn again" in app.error[0].value


def test_learn_leads_to_the_handout_of_its_exercise(workspace, open_page):
    workspace.update("learn", lesson="slopes", slopes_seed=7, slopes_cause="outcome")

    app = open_page("learn.py")

    (link,) = [one.proto for one in app.get("link_button")]
    settings = {"cause": "outcome", "strength": slopes.USUAL_STRENGTH}
    assert link.url.endswith(f"/learn?handout={shared('slopes', 7, **settings)}")
