"""A class on the page Learn: as its teacher leads it, and as students see it."""

import io

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.classroom import visit
from dashboard.classroom.codes import WrongCodes, spaced
from dashboard.classroom.store import ClassQuestion, Classroom, Desk, classes_folder
from dashboard.learn import LESSONS
from dashboard.learn.exercises import EXERCISES
from dashboard.learn.exercises.exercise import fixed_settings
from dashboard.learn.own_table import only_pair
from dashboard.state.documents import Documents
from tests.support.paths import ROOT
from tests.support.seen import without_errors

NAMES = [lesson.name for lesson in LESSONS]
BY_NAME = {lesson.name: lesson for lesson in LESSONS}
SLOPES = ClassQuestion(lesson="slopes", seed=4, settings={"cause": "outcome"}, right="flatter")


@pytest.fixture(autouse=True)
def no_wrong_codes(monkeypatch):
    """Let no test see the wrong codes of another."""
    monkeypatch.setattr(visit, "_WRONG_CODES", WrongCodes())


@pytest.fixture
def desk(workspace):
    """Give a class that the owner of the workspace leads."""
    started, secret = Desk.start(SLOPES)
    with Documents(workspace.folder / "classroom").changing("desk") as kept:
        kept.update(code=started.classroom.code, secret=secret)
    return started


@pytest.fixture
def open_class(workspace):
    """Return a function that opens the address of a class, in a session with this state."""

    def run_app(code, **state):
        app = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=60)
        app.query_params["class"] = code
        for key, value in state.items():
            app.session_state[key] = value
        return app.run()

    return run_app


@pytest.fixture
def teach(desk, open_class, workspace):
    return lambda: open_class(desk.classroom.code, _workspace_token=workspace.token)


@pytest.fixture
def attend(desk, open_class):
    """Return a function that opens the class as a student who has joined."""

    def open_as_student(token):
        code = desk.classroom.code
        return open_class(code, **{f"_student_of:{code}": token})

    return open_as_student


def text_of(app):
    parts = (app.title, app.header, app.subheader, app.markdown, app.caption)
    parts += (app.info, app.warning, app.success, app.error)
    return "\n".join(element.value for group in parts for element in group)


def labels(app):
    return [button.label for button in app.button]


def bars(app):
    return [(bar.proto.text, bar.proto.value) for bar in app.get("progress")]


def tap(app, words):
    (button,) = [button for button in app.button if button.label == words]
    return button.click().run()


def workspaces(tmp_path):
    return list((tmp_path / "workspaces").iterdir())


# Starting


def test_learn_starts_a_class_with_the_exercise_on_the_page(workspace, open_app, tmp_path):
    workspace.update("learn", lesson="slopes", slopes_seed=7, slopes_cause="outcome")
    app = open_app()
    app.switch_page("../pages/learn.py").run()

    tap(app, "Start a class")

    without_errors(app)
    (folder,) = classes_folder(tmp_path).iterdir()
    assert app.query_params["class"] == folder.name
    question = Classroom(folder).state().question
    assert (question.lesson, question.seed, question.right) == ("slopes", 7, "flatter")
    assert question.settings["cause"] == "outcome"
    assert spaced(folder.name) in [title.value for title in app.title]


def test_learn_leads_back_to_the_class_under_way_and_not_to_one_that_ended(desk, open_page):
    back = f"Back to class {spaced(desk.classroom.code)}"

    assert back in labels(open_page("learn.py"))
    desk.end()
    assert back not in labels(open_page("learn.py"))
    assert "Start a class" in labels(open_page("learn.py"))


def test_a_damaged_class_does_not_keep_its_teacher_from_another(desk, open_page):
    (desk.classroom.folder / "class.json").write_text("{")

    app = open_page("learn.py")

    without_errors(app)
    assert "Start a class" in labels(app)


def test_no_link_can_put_a_class_into_a_workspace(workspace, desk, open_app):
    from dashboard.state.links import encoded

    before = Documents(workspace.folder / "classroom").read("desk")

    open_app(s=encoded("classroom", {"code": "BBBBBBBB", "secret": "x"}))

    assert Documents(workspace.folder / "classroom").read("desk") == before


# The teacher


def test_a_class_begins_with_its_code_and_who_is_here(desk, teach):
    desk.classroom.join("Ada")

    app = teach()

    without_errors(app)
    assert spaced(desk.classroom.code) in text_of(app)
    assert "1 student here" in text_of(app)
    pictures = [element.proto.body for element in app.get("html")]
    assert any('alt="Scan to join the class"' in body for body in pictures)
    tap(app, f"Start: {BY_NAME['slopes'].title}")
    assert desk.classroom.state().phase == "asking"


def test_answers_are_counted_as_they_come_in(desk, teach):
    desk.begin()
    tokens = [desk.classroom.join() for _ in range(4)]
    app = teach()
    assert [value for _, value in bars(app)] == [0, 0, 0]

    for token, key in zip(tokens, ("flatter", "flatter", "same"), strict=False):
        desk.classroom.answer(token, 0, key)
    app.run()

    without_errors(app)
    assert [value for _, value in bars(app)] == [66, 33, 0]
    assert bars(app)[0][0].endswith("**2**")
    assert "3 answers · 4 students here" in text_of(app)
    assert not any("check_circle" in text for text, _ in bars(app)), "the answer is not given away"


def test_answers_can_be_hidden_until_the_solution(desk, teach):
    desk.begin()
    app = teach()

    app.toggle(key="class-hide-answers").set_value(True).run()

    without_errors(app)
    assert not bars(app)
    assert "0 answers" in text_of(app)
    tap(app, "Show the solution to everybody")
    assert bars(app)


def test_the_teacher_reveals_and_moves_everybody_on(desk, teach):
    desk.begin()
    app = teach()

    tap(app, "Show the solution to everybody")
    without_errors(app)
    assert desk.classroom.state().phase == "revealed"
    assert "check_circle" in bars(app)[list(BY_NAME["slopes"].answers).index("flatter")][0]

    following = LESSONS[NAMES.index("slopes") + 1]
    tap(app, f"Next: {following.title}")
    without_errors(app)
    state = desk.classroom.state()
    assert (state.phase, state.number, state.question.lesson) == ("asking", 1, following.name)
    assert app.header[0].value == following.title


def test_any_lesson_can_be_next_with_any_seed_and_settings(desk, teach, drawn):
    desk.begin()
    app = teach()
    app.selectbox(key="class-next-lesson-0").select("mechanisms").run()
    drawn(app.number_input, "learn:mechanisms_seed").set_value(11).run()
    drawn(app.radio, "learn:mechanisms_mechanism").set_value("MNAR").run()

    tap(app, "Next: MCAR, MAR, MNAR")

    without_errors(app)
    question = desk.classroom.state().question
    assert (question.lesson, question.seed) == ("mechanisms", 11)
    assert question.settings == {"mechanism": "MNAR"}


def test_names_are_shown_as_text(desk, teach):
    desk.classroom.join("<b>x</b> *y*")

    app = teach()
    app.button(key="class-names").click().run()

    without_errors(app)
    (line,) = [m.value for m in app.markdown if m.value.startswith("1\\.")]
    assert "<b>" not in line.replace("\\<", "")
    assert "\\*y\\*" in line


def test_after_the_end_only_the_answers_are_left(desk, teach):
    desk.begin()
    desk.classroom.answer(desk.classroom.join("Ada"), 0, "flatter")
    app = teach()

    tap(app, "End the class")

    without_errors(app)
    assert "The class has ended" in text_of(app)
    assert "1 student took part" in text_of(app)
    assert app.get("download_button")
    assert labels(app) == ["Back to Learn"]
    tap(app, "Back to Learn")
    assert "class" not in app.query_params


# Students


def test_a_student_joins_without_a_name_and_without_a_workspace(desk, open_class, tmp_path):
    before = workspaces(tmp_path)
    app = open_class(desk.classroom.code.lower())
    without_errors(app)

    app.button[0].click().run()

    without_errors(app)
    assert "You are in." in text_of(app)
    assert [student.name for student in desk.classroom.students()] == [""]
    assert workspaces(tmp_path) == before


def test_a_name_is_shown_as_text_to_its_owner(desk, open_class):
    app = open_class(desk.classroom.code)
    app.text_input[0].set_value("<b>x</b>")
    app.button[0].click().run()

    without_errors(app)
    assert [student.name for student in desk.classroom.students()] == ["<b>x</b>"]
    assert app.title[0].value.startswith("\\<b\\>")


def test_a_student_answers_once_and_may_change_it(desk, attend):
    token = desk.classroom.join()
    desk.begin()
    app = attend(token)
    answers = BY_NAME["slopes"].answers

    tap(app, answers["same"])
    tap(app, answers["flatter"])

    without_errors(app)
    assert [answer.key for answer in desk.classroom.answers(0).values()] == ["flatter"]
    assert "Your answer is in." in text_of(app)
    again = attend(token)
    assert [b.proto.type for b in again.button if b.label == answers["flatter"]] == ["primary"]


def test_a_student_cannot_reveal_move_on_or_end(desk, attend):
    token = desk.classroom.join()
    desk.begin()

    app = attend(token)

    assert labels(app) == list(BY_NAME["slopes"].answers.values())
    assert not app.get("download_button")
    assert SLOPES.right not in desk.classroom.answers(0)
    assert all(point not in text_of(app) for point in BY_NAME["slopes"].points)


@pytest.mark.parametrize("forged", ["class-reveal", "class-next", "class-end", "class-begin"])
def test_forged_state_is_refused(desk, open_class, forged):
    desk.begin()
    token = desk.classroom.join()
    code = desk.classroom.code
    forged_state = {f"_student_of:{code}": token, "_workspace_token": "x" * 32}
    app = open_class(code, **forged_state)
    states = app._tree.get_widget_states()
    state = states.widgets.add()
    state.id = f"$$ID-0-{forged}"
    state.trigger_value = True

    app._run(states)

    without_errors(app)
    assert desk.classroom.state().phase == "asking"
    assert desk.classroom.state().number == 0


def test_a_secret_that_does_not_fit_opens_no_desk(workspace, desk, teach):
    with Documents(workspace.folder / "classroom").changing("desk") as kept:
        kept["secret"] = "guess"

    app = teach()

    assert "Only the browser that started a class can lead it" in app.error[0].value
    assert not app.button


def test_the_solution_appears_with_a_verdict(desk, attend):
    right, wrong, silent = (desk.classroom.join() for _ in range(3))
    desk.begin()
    desk.classroom.answer(right, 0, "flatter")
    desk.classroom.answer(wrong, 0, "same")
    desk.reveal(0)

    assert "Correct." in text_of(attend(right))
    assert "Not quite." in text_of(attend(wrong))
    app = attend(silent)
    assert "You did not answer this question." in text_of(app)
    without_errors(app)
    assert not set(BY_NAME["slopes"].answers.values()) & set(labels(app)), "no answer any more"


def test_students_follow_to_the_next_question_and_to_the_end(desk, attend):
    token = desk.classroom.join()
    app = attend(token)
    assert "The class starts soon" in text_of(app)
    desk.begin()
    app.run()
    assert app.header[0].value == BY_NAME["slopes"].title
    desk.ask(ClassQuestion(lesson="worlds", seed=0, settings={}, right="neither"), after=0)
    app.run()
    assert app.header[0].value == BY_NAME["worlds"].title
    desk.end()
    app.run()
    without_errors(app)
    assert "The class has ended" in text_of(app)


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_every_lesson_works_in_a_class(workspace, open_class, lesson, tmp_path):
    with fixed_settings({}):
        exercise = EXERCISES[lesson.name](lesson, lesson.first_seed)
    question = ClassQuestion(
        lesson=lesson.name,
        seed=lesson.first_seed,
        settings=dict(exercise.settings),
        right=exercise.right,
    )
    started, _ = Desk.start(question, rows=exercise.rows)
    started.begin()
    token, code = started.classroom.join(), started.classroom.code
    before = workspaces(tmp_path)

    app = open_class(code, **{f"_student_of:{code}": token})
    without_errors(app)
    tap(app, lesson.answers[exercise.right])
    started.reveal(0)
    app.run()

    without_errors(app)
    assert "Correct." in text_of(app)
    assert workspaces(tmp_path) == before, "a student needs no workspace"


def test_a_class_may_use_the_teachers_own_table(fill, open_app, open_class, tmp_path):
    rng = np.random.default_rng(0)
    hours = rng.normal(10, 2, 300)
    table = pd.DataFrame({"<b>h</b>": hours, "score*": 3 * hours + rng.normal(0, 4, 300)})
    workspace = fill(table.assign(secret="private"))
    workspace.update("learn", lesson="own", own_outcome="score*", own_predictor="<b>h</b>")
    teacher = open_app()
    teacher.switch_page("../pages/learn.py").run()
    tap(teacher, "Start a class")
    (folder,) = classes_folder(tmp_path).iterdir()
    room = Classroom(folder)
    kept = room.rows(0)
    assert list(kept.columns) == ["<b>h</b>", "score*"]
    assert only_pair(kept).predictors("score*") == ["<b>h</b>"]
    assert b"private" not in b"".join(p.read_bytes() for p in folder.rglob("*") if p.is_file())
    tap(teacher, f"Start: {BY_NAME['own'].title}")

    token = room.join()
    app = open_class(room.code, **{f"_student_of:{room.code}": token})

    without_errors(app)
    captions = "\n".join(caption.value for caption in app.caption)
    assert "\\<b\\>h\\</b\\>" in captions
    assert "score\\*" in captions


# Codes


def test_without_a_code_the_page_asks_for_it(desk, open_class):
    app = open_class("")
    app.text_input[0].set_value(f" {spaced(desk.classroom.code).lower()} ")
    app.button[0].click().run()

    without_errors(app)
    assert app.query_params["class"] == desk.classroom.code
    assert app.title[0].value == "Join the class"


def test_wrong_codes_are_refused_and_limited(desk, open_class, monkeypatch):
    monkeypatch.setattr(visit, "_WRONG_CODES", WrongCodes(most_of_all=3, per_second_of_all=0))
    member = desk.classroom.join()
    for code in ("BBBBBBBB", "CCCCCCCC", "DDDDDDDD"):
        app = open_class(code)
        assert "There is no class with this code" in app.warning[0].value
        app.run()  # drawn again: not another try

    assert "Too many wrong codes" in open_class("FFFFFFFF").warning[0].value
    code = desk.classroom.code
    assert "Too many wrong codes" in open_class(code).warning[0].value, "the right one, too"
    assert not open_class(code, **{f"_student_of:{code}": member}).warning, "who is in stays in"


def test_a_class_that_expired_is_no_class(desk, open_class, monkeypatch):
    monkeypatch.setattr(Classroom, "is_expired", lambda *_: True)

    assert "There is no class" in open_class(desk.classroom.code).warning[0].value


# The answers


def test_all_answers_are_exported(desk):
    from dashboard.classroom.answers import answers_csv

    desk.begin()
    for number in range(5):
        desk.classroom.answer(desk.classroom.join(f"S{number}"), 0, "same")

    read = pd.read_csv(io.BytesIO(answers_csv(desk.classroom)))
    assert read["name"].tolist() == [f"S{number}" for number in range(5)]
