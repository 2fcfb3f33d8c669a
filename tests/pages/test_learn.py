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
from tests.support.seen import without_errors

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
        "own": lambda: "flatter",
        "sensitivity": lambda: "more",
        "auxiliary": lambda: "all",
        "judge": lambda: "scattered",
        "outcome": lambda: "flatter",
        "indicator": lambda: "small",
        "rubin": lambda: "80",
        "leakage": lambda: "higher",
    }[name]()


def text_of(app):
    parts = (app.markdown, app.caption, app.info, app.warning, app.success, app.error)
    return "\n".join(element.value for group in parts for element in group)


def pictures(app):
    """Return the data of all stages on the page."""
    mounted = [component.proto for component in app.get("bidi_component")]
    return [json.loads(proto.json) for proto in mounted if proto.component_name == "pmae_stage"]


def picture(app):
    (data,) = pictures(app)
    return data


def verdicts(app):
    return [*app.success, *app.warning]


def occasions(app):
    """Return where the reader is brought to, and the occasion."""
    mounted = [component.proto for component in app.get("bidi_component")]
    found = [json.loads(one.json) for one in mounted if one.component_name == "pmae_attention"]
    return {data["container"]: data["occasion"] for data in found}


def look_at(app, name, view):
    (views,) = [group for group in app.button_group if group.key == f"learn:{name}:view"]
    return views.set_value(view).run()


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


def test_a_newcomer_sees_the_first_lesson_and_all_titles(open_page):
    app = open_page(PAGE)

    without_errors(app)
    assert app.title[0].value == "Learn"
    assert app.header[0].value == LESSONS[0].title
    titles = app.selectbox(key="learn:lesson").options
    assert [title.split(". ", 1)[1] for title in titles] == [lesson.title for lesson in LESSONS]


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_before_the_guess_there_is_a_story_a_question_and_no_solution(workspace, open_page, lesson):
    app = open_lesson(workspace, open_page, lesson.name)

    without_errors(app)
    assert app.header[0].value == lesson.title
    text = text_of(app)
    assert lesson.story in text
    assert lesson.question in text
    assert lesson.points[0] not in text
    assert app.radio(key=f"learn:{lesson.name}_answer").value is None
    assert app.button(key="learn:reveal").disabled
    assert not app.button_group
    assert picture(app)["play"] is False


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_a_right_guess_is_confirmed_and_explained(workspace, open_page, lesson):
    app = open_lesson(workspace, open_page, lesson.name, seed=SEED)
    before = picture(app)

    guess(app, lesson.name, right_answer(lesson.name, SEED))
    assert not app.button(key="learn:reveal").disabled
    assert not app.success
    reveal(app)

    without_errors(app)
    assert app.success[0].value == "Correct."
    assert picture(app)["key"] == before["key"], "the picture of the question becomes the solution"
    assert picture(app)["digest"] != before["digest"]
    assert picture(app)["play"] is True


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_all_answers_stay_readable_and_are_marked(workspace, open_page, lesson):
    app = open_lesson(workspace, open_page, lesson.name, seed=SEED)
    right = right_answer(lesson.name, SEED)
    wrong = next(key for key in ANSWERS[lesson.name] if key != right)

    reveal(guess(app, lesson.name, wrong))

    without_errors(app)
    assert not app.success
    assert app.warning[0].value == "Not quite."
    assert not [radio for radio in app.radio if radio.key.startswith(f"learn:{lesson.name}_answer")]
    text = text_of(app)
    assert f"**{lesson.answers[right]}** (right answer)" in text
    assert f"{lesson.answers[wrong]} (your answer)" in text
    assert all(words in text for words in lesson.answers.values())


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_the_place_of_the_picture_also_shows_luck_points_and_what_is_simplified(
    workspace, open_page, lesson
):
    app = open_lesson(workspace, open_page, lesson.name, seed=SEED)
    solution = picture(reveal(guess(app, lesson.name, ANSWERS[lesson.name][0])))

    luck = picture(look_at(app, lesson.name, "Was it luck?"))
    assert luck["key"] != solution["key"]
    look_at(app, lesson.name, "What to remember")
    assert all(point in text_of(app) for point in lesson.points)
    assert not pictures(app)
    look_at(app, lesson.name, "What it simplifies")
    assert lesson.simplified in text_of(app)

    without_errors(app)
    assert picture(look_at(app, lesson.name, "Solution"))["digest"] == solution["digest"]


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_the_solution_survives_a_reload_and_goes_with_another_table(
    drawn, workspace, open_page, lesson
):
    app = open_lesson(workspace, open_page, lesson.name, seed=SEED)
    reveal(guess(app, lesson.name, ANSWERS[lesson.name][0]))

    again = open_page(PAGE)
    assert verdicts(again)

    again.button(key="learn:another").click().run()
    without_errors(again)
    assert drawn(again.number_input, f"learn:{lesson.name}_seed").value == SEED + 1
    assert drawn(again.radio, f"learn:{lesson.name}_answer").value is None
    assert not verdicts(again)


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

    without_errors(pupil)
    assert pupil.header[0].value == "MCAR, MAR, MNAR"
    assert rule in text_of(pupil)
    assert pupil.radio(key="learn:mechanisms_answer").value is None
    assert not verdicts(pupil)


def test_a_change_of_the_exercise_opens_the_question_again(drawn, workspace, open_page):
    app = open_lesson(workspace, open_page, "slopes")
    reveal(guess(app, "slopes", "same"))
    assert app.success

    app.selectbox(key="learn:slopes_cause").select("outcome").run()

    without_errors(app)
    assert not app.success
    assert drawn(app.radio, "learn:slopes_answer").value is None
    reveal(guess(app, "slopes", "flatter"))
    assert app.success[0].value == "Correct."


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

    without_errors(app)
    assert app.success
    assert reasons.reason(column) in text_of(app)
    assert reasons.cell_details(clinic, row, column) in text_of(app)


def test_the_shift_moves_the_truth_of_one_world_and_nothing_else(workspace, open_page):
    app = open_lesson(workspace, open_page, "worlds", seed=SEED)
    scene = picture(reveal(guess(app, "worlds", "neither")))["scene"]

    assert scene["slider"]["values"][0] == 0
    moving = [
        (number, layer["kind"])
        for number, panel in enumerate(scene["panels"], start=1)
        for layer in panel["layers"]
        if any(layer[name][0] != layer[name][-1] for name in ("x", "y", "value") if name in layer)
    ]
    mnar = [world.mechanism for world in worlds.make_worlds(1.0, SEED)].index("MNAR") + 1
    assert moving == [(mnar, "points"), (mnar, "mark")]


def test_too_large_an_a_is_warned_of(workspace, open_page):
    app = open_lesson(workspace, open_page, "masking", a=0.15)
    reveal(guess(app, "masking", "proportional"))

    without_errors(app)
    assert "never learns to impute" in text_of(app)
    assert app.success


def test_without_a_measurement_the_lesson_counts_training_cases_alone(
    workspace, open_page, monkeypatch, tmp_path
):
    monkeypatch.setattr(masking.read_trained, "__defaults__", (tmp_path / "none.json",))
    app = open_lesson(workspace, open_page, "masking")
    reveal(guess(app, "masking", "proportional"))

    without_errors(app)
    assert len(picture(app)["scene"]["panels"]) == 1


def test_the_table_of_patterns_can_be_sorted_before_the_guess(workspace, open_page):
    app = open_lesson(workspace, open_page, "patterns")

    question = picture(app)["scene"]["states"]
    reveal(guess(app, "patterns", "general"))

    assert question == ["As collected", "Rows sorted", "Columns too"]
    assert picture(app)["scene"]["states"] == [*question, "Exceptions"]


def test_the_verdict_gets_the_focus_once_and_a_new_lesson_begins_at_its_story(workspace, open_page):
    app = open_page(PAGE)
    assert occasions(app) == {"lesson-story": None}

    reveal(guess(app, "reasons", "MCAR"))
    verdict = occasions(app)["lesson-verdict"]
    assert verdict is not None
    look_at(app, "reasons", "Was it luck?")
    assert occasions(app)["lesson-verdict"] == verdict, "browsers act on an occasion once"

    app.button(key="learn:next").click().run()
    assert occasions(app)["lesson-story"] not in (None, verdict)
    assert occasions(open_page(PAGE)) == {"lesson-story": None}, "a reload is no occasion"


def test_solved_lessons_are_counted_and_marked_and_neighbors_are_one_click_away(
    drawn, workspace, open_page
):
    app = open_page(PAGE)
    assert app.button(key="learn:previous").disabled
    assert f"0 of {len(LESSONS)} solved" in text_of(app)
    reveal(guess(app, "reasons", "MCAR"))
    assert workspace.get("learn")["done"] == ["reasons"]
    assert f"1 of {len(LESSONS)} solved" in text_of(app)
    first, second, *_ = drawn(app.selectbox, "learn:lesson").options
    assert first.endswith("✓")
    assert not second.endswith("✓")

    app.button(key="learn:next").click().run()
    without_errors(app)
    assert app.header[0].value == LESSONS[1].title

    app.button(key="learn:previous").click().run()
    assert app.header[0].value == LESSONS[0].title
    assert verdicts(app), "what was solved stays solved"


def test_there_is_nothing_after_the_last_lesson(workspace, open_page):
    app = open_lesson(workspace, open_page, LESSONS[-1].name)

    assert app.button(key="learn:next").disabled
    assert not app.button(key="learn:previous").disabled


def test_a_marked_list_is_drawn_anew_since_browsers_know_a_choice_by_its_words(
    drawn, workspace, open_page
):
    app = open_lesson(workspace, open_page, "slopes")
    before = drawn(app.selectbox, "learn:lesson").proto.id

    reveal(guess(app, "slopes", "same"))

    assert drawn(app.selectbox, "learn:lesson").proto.id != before
    assert app.header[0].value == slopes.LESSON.title


def test_kept_settings_that_make_no_sense_are_replaced(workspace, open_page):
    workspace.update("learn", lesson="cooking", done="all", reasons_seed=-5, reasons_cell="1:shoe")
    workspace.update("learn", reasons_answer="because", reasons_revealed=True)

    app = open_page(PAGE)

    without_errors(app)
    assert app.header[0].value == LESSONS[0].title
    assert app.number_input(key="learn:reasons_seed").value == 0
    assert not verdicts(app)
    assert app.button(key="learn:reveal").disabled
