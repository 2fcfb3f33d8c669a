import base64
import json

import pytest

from dashboard.learn import (
    LESSONS,
    masking,
    mechanisms,
    patterns,
    reasons,
    slopes,
    worlds,
)
from pmae_core.table.samples.clinic import make_clinic
from tests.support.charts import chart_key

PAGE = "learn.py"
NAMES = [lesson.name for lesson in LESSONS]
ANSWERS = {lesson.name: list(lesson.answers) for lesson in LESSONS}
SEED = 4


def right_answer(name, seed):
    """Return the answer of a lesson with its first settings."""
    return {
        "reasons": lambda: reasons.kind_of(reasons.missing_cells(make_clinic(seed=seed))[0][1]),
        "mechanisms": lambda: mechanisms.remove_pressures("MCAR", seed).direction,
        "patterns": lambda: patterns.kind_of_seed(seed),
        "slopes": lambda: slopes.CAUSES["chance"].effect,
        "masking": lambda: "proportional",
        "worlds": lambda: "neither",
    }[name]()


def text_of(app):
    parts = (app.markdown, app.caption, app.info, app.warning, app.success, app.error)
    return "\n".join(element.value for group in parts for element in group)


def calm(app):
    return not app.exception and not app.error


def charts(app):
    return [chart_key(chart) for chart in app.get("plotly_chart")]


def shared(app):
    (link,) = [code.value for code in app.code if "s=" in code.value]
    content = link.split("s=")[1]
    return link, json.loads(base64.urlsafe_b64decode(content + "=" * (-len(content) % 4)))


def guess(app, name, answer):
    (question,) = [radio for radio in app.radio if radio.key.startswith(f"learn:{name}_answer")]
    return question.set_value(answer).run()


def reveal(app):
    return app.button(key="learn:reveal").click().run()


def open_lesson(workspace, open_page, name, **settings):
    values = {f"{name}_{key}": value for key, value in settings.items()}
    workspace.update("learn", lesson=name, **values)
    return open_page(PAGE)


@pytest.fixture
def click():
    """Return a function that clicks points of a figure, as a user does in the browser."""

    def click_points(app, key, points):
        (chart,) = [c for c in app.get("plotly_chart") if chart_key(c) == key]
        states = app._tree.get_widget_states()
        state = states.widgets.add()
        state.id = chart.proto.id
        state.string_value = json.dumps(
            {"selection": {"points": points, "point_indices": [0], "box": [], "lasso": []}}
        )
        return app._run(states)

    return click_points


def test_a_newcomer_sees_the_first_lesson_and_all_titles(open_page):
    app = open_page(PAGE)

    assert calm(app)
    assert app.title[0].value == "Learn"
    assert app.header[0].value == LESSONS[0].title
    titles = app.selectbox(key="learn:lesson").options
    assert [title.split(". ", 1)[1] for title in titles] == [lesson.title for lesson in LESSONS]


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_before_the_guess_there_is_a_story_a_question_and_no_solution(workspace, open_page, lesson):
    app = open_lesson(workspace, open_page, lesson.name)

    assert calm(app)
    assert app.header[0].value == lesson.title
    text = text_of(app)
    assert lesson.story in text
    assert lesson.question in text
    assert lesson.points[0] not in text
    assert app.radio(key=f"learn:{lesson.name}_answer").value is None
    assert app.button(key="learn:reveal").disabled
    assert app.get("plotly_chart") or app.dataframe


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_a_right_guess_is_confirmed_and_explained(workspace, open_page, lesson):
    app = open_lesson(workspace, open_page, lesson.name, seed=SEED)
    before = charts(app)

    guess(app, lesson.name, right_answer(lesson.name, SEED))
    assert not app.button(key="learn:reveal").disabled
    assert not app.success
    reveal(app)

    assert calm(app)
    assert app.success[0].value.startswith("Correct")
    assert all(sentence in text_of(app) for sentence in lesson.points)
    assert len(charts(app)) > len(before)
    assert app.radio(key=f"learn:{lesson.name}_answer").disabled


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_a_wrong_guess_is_told_the_answer(workspace, open_page, lesson):
    app = open_lesson(workspace, open_page, lesson.name, seed=SEED)
    right = right_answer(lesson.name, SEED)
    wrong = next(key for key in ANSWERS[lesson.name] if key != right)

    reveal(guess(app, lesson.name, wrong))

    assert calm(app)
    assert not app.success
    assert any(lesson.answers[right] in warning.value for warning in app.warning)


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_the_solution_survives_a_reload_and_goes_with_another_table(
    drawn, workspace, open_page, lesson
):
    app = open_lesson(workspace, open_page, lesson.name, seed=SEED)
    reveal(guess(app, lesson.name, ANSWERS[lesson.name][0]))

    again = open_page(PAGE)
    assert lesson.points[0] in text_of(again)

    again.button(key="learn:another").click().run()
    assert calm(again)
    assert drawn(again.number_input, f"learn:{lesson.name}_seed").value == SEED + 1
    assert drawn(again.radio, f"learn:{lesson.name}_answer").value is None
    assert lesson.points[0] not in text_of(again)


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_the_link_carries_lesson_and_seed_and_asks_anew(workspace, open_page, lesson):
    app = open_lesson(workspace, open_page, lesson.name, seed=SEED)
    reveal(guess(app, lesson.name, ANSWERS[lesson.name][0]))

    link, (section, settings) = shared(app)

    assert "/learn?" in link
    assert section == "learn"
    assert settings["lesson"] == lesson.name
    assert settings[f"{lesson.name}_seed"] == SEED
    assert settings[f"{lesson.name}_answer"] is None
    assert settings[f"{lesson.name}_revealed"] is False


def test_a_pupil_who_opens_the_link_sees_the_teachers_exercise(workspace, open_page, open_app):
    app = open_lesson(workspace, open_page, "mechanisms", seed=SEED, mechanism="MNAR")
    rule = mechanisms.remove_pressures("MNAR", SEED).rule()
    assert rule in text_of(app)
    link, _ = shared(app)
    workspace.update("learn", lesson="worlds", mechanisms_seed=1, mechanisms_mechanism="MCAR")
    workspace.update("learn", mechanisms_answer="low", mechanisms_revealed=True)

    pupil = open_app(s=link.split("s=")[1])
    pupil.switch_page(f"../pages/{PAGE}").run()

    assert calm(pupil)
    assert pupil.header[0].value == "MCAR, MAR, MNAR"
    assert rule in text_of(pupil)
    assert pupil.radio(key="learn:mechanisms_answer").value is None
    assert mechanisms.LESSON.points[0] not in text_of(pupil)


def test_a_change_of_the_exercise_opens_the_question_again(drawn, workspace, open_page):
    app = open_lesson(workspace, open_page, "slopes")
    reveal(guess(app, "slopes", "same"))
    assert app.success

    app.selectbox(key="learn:slopes_cause").select("outcome").run()

    assert calm(app)
    assert not app.success
    assert drawn(app.radio, "learn:slopes_answer").value is None
    reveal(guess(app, "slopes", "flatter"))
    assert app.success[0].value == "Correct: **Flatter**."


def test_guess_again_keeps_the_table(drawn, workspace, open_page):
    app = open_lesson(workspace, open_page, "worlds", seed=SEED)
    reveal(guess(app, "worlds", "1"))

    app.button(key="learn:again").click().run()

    assert app.number_input(key="learn:worlds_seed").value == SEED
    assert drawn(app.radio, "learn:worlds_answer").value is None


@pytest.mark.parametrize("column", reasons.DECIDED_BY)
def test_every_kind_of_missing_value_is_explained(workspace, open_page, column):
    clinic = make_clinic(seed=0)
    row = next(row for row, name in reasons.missing_cells(clinic) if name == column)

    app = open_lesson(workspace, open_page, "reasons", cell=f"{row}:{column}")
    assert app.selectbox(key="learn:reasons_cell").value == f"{row}:{column}"
    reveal(guess(app, "reasons", reasons.kind_of(column)))

    assert calm(app)
    assert app.success
    assert reasons.reason(column) in text_of(app)
    assert reasons.cell_details(clinic, row, column) in text_of(app)


def test_a_click_on_a_question_mark_chooses_the_cell(drawn, workspace, open_page, click):
    app = open_page(PAGE)
    row, column = reasons.missing_cells(make_clinic(seed=0))[-1]

    click(app, "lesson-reasons", [{"customdata": [row, column]}])

    assert calm(app)
    assert drawn(app.selectbox, "learn:reasons_cell").value == f"{row}:{column}"


def test_a_click_on_a_known_value_changes_nothing(workspace, open_page, click):
    app = open_page(PAGE)
    before = app.selectbox(key="learn:reasons_cell").value

    click(app, "lesson-reasons", [{"customdata": [0, "age"]}])

    assert calm(app)
    assert app.selectbox(key="learn:reasons_cell").value == before


def test_the_shift_moves_the_truth_and_nothing_else(workspace, open_page):
    app = open_lesson(workspace, open_page, "worlds", seed=SEED)
    reveal(guess(app, "worlds", "neither"))
    diagnostics = app.dataframe[0].value
    assert (diagnostics["World 1"] == diagnostics["World 2"]).all()
    before = text_of(app)

    app.slider(key="learn:worlds_shift").set_value(0.5).run()

    assert calm(app)
    assert app.dataframe[0].value.equals(diagnostics)
    assert worlds.LESSON.points[0] in text_of(app)
    assert text_of(app) != before


def test_too_large_a_slope_is_warned_of(workspace, open_page):
    app = open_lesson(workspace, open_page, "masking")
    reveal(guess(app, "masking", "proportional"))
    assert not app.warning

    app.slider(key="learn:masking_a").set_value(0.2).run()

    assert calm(app)
    assert "never learns to impute" in text_of(app)
    assert app.success, "the question was about the usual setting"


def test_without_a_measurement_the_lesson_says_how_to_make_it(
    workspace, open_page, monkeypatch, tmp_path
):
    monkeypatch.setattr(masking.read_trained, "__defaults__", (tmp_path / "none.json",))
    app = open_lesson(workspace, open_page, "masking")
    reveal(guess(app, "masking", "proportional"))

    assert calm(app)
    assert "python -m benchmarks.accuracy.lesson_masking" in text_of(app)


def test_sorting_leaves_the_question_as_it_is(workspace, open_page):
    app = open_lesson(workspace, open_page, "patterns")
    guess(app, "patterns", "general")

    app.toggle(key="learn:patterns_sorted").set_value(True).run()

    assert calm(app)
    assert app.radio(key="learn:patterns_answer").value == "general"


def test_the_lessons_done_are_counted_and_the_next_one_offered(workspace, open_page):
    app = open_page(PAGE)
    assert not app.get("progress")
    reveal(guess(app, "reasons", "MCAR"))
    assert workspace.get("learn")["done"] == ["reasons"]

    app.button(key="learn:next").click().run()

    assert calm(app)
    assert app.header[0].value == LESSONS[1].title
    assert "1 of 6 lessons" in app.get("progress")[0].proto.text


def test_kept_settings_that_make_no_sense_are_replaced(workspace, open_page):
    workspace.update("learn", lesson="cooking", done="all", reasons_seed=-5, reasons_cell="1:shoe")
    workspace.update("learn", reasons_answer="because", reasons_revealed=True)

    app = open_page(PAGE)

    assert calm(app)
    assert app.header[0].value == LESSONS[0].title
    assert app.number_input(key="learn:reasons_seed").value == 0
    assert app.button(key="learn:reveal").disabled
