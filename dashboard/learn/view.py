"""What the page Learn draws: story and picture at the left, question and verdict at the right."""

from __future__ import annotations

import dataclasses

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.classroom.offer import offer_class, offer_handout
from dashboard.components.attention import bring_reader_here
from dashboard.components.stage import show_stage
from dashboard.components.stage.scene import Scene
from dashboard.learn import LARGEST_SEED, LESSONS, Lesson
from dashboard.learn.exercises import EXERCISES
from dashboard.learn.exercises.exercise import Exercise, choose_lesson_seed, link_settings
from dashboard.learn.progress import (
    SECTION,
    note,
    occasion,
    open_lesson,
    reveal,
    revealed_answer,
    solved,
    start_again,
    unanswered,
)
from dashboard.state import links, memory
from dashboard.widgets import errors_as_notices, fragment

_BY_NAME = {lesson.name: lesson for lesson in LESSONS}

# The page fits a window of 1280 x 720 before and after the solution is shown.
_PICTURE_HEIGHT = 280  # pixels, without its steps and caption

_SOLUTION, _LUCK, _POINTS, _SIMPLIFIED = (
    "Solution",
    "Was it luck?",
    "What to remember",
    "What it simplifies",
)


@fragment
def show_lessons() -> None:
    """Draw the chosen lesson: its story, picture, question and, once asked for, the solution."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="lesson-bar"):
        st.title("Learn", anchor=False, width="content")
        lesson = _choose_lesson()
        _show_neighbors(lesson)
        share_place = st.container(width="content")
    left, right = st.columns([2, 1], gap="medium")
    with left:
        _tell_story(lesson)
        picture_place = st.container()
    with right, st.container(gap="xsmall"):
        settings_place, question_place = st.container(gap="xsmall"), st.container(gap="xsmall")
        seed = _choose_table(lesson)
    with settings_place:
        exercise = EXERCISES[lesson.name](lesson, seed)
    with question_place:
        answer = _ask(lesson, exercise)
    with picture_place:
        if answer is None:
            show_picture(exercise.question, lesson, play=False)
        else:
            show_solution(lesson, exercise)
    _show_share(share_place, lesson, seed, exercise)


# The lesson and its table


def _choose_lesson() -> Lesson:
    done = solved()

    def title(name: str) -> str:
        mark = " ✓" if name in done else ""
        return f"{list(_BY_NAME).index(name) + 1}. {_BY_NAME[name].title}{mark}"

    name = memory.remembered(
        st.selectbox,
        "Lesson",
        section=SECTION,
        name="lesson",
        default=LESSONS[0].name,
        options=list(_BY_NAME),
        format_func=title,
        on_change=lambda: note("opened"),
        label_visibility="collapsed",
    )
    st.caption(f"{len(done)} of {len(LESSONS)} solved", width="content")
    return _BY_NAME[name]


def _show_neighbors(lesson: Lesson) -> None:
    place = LESSONS.index(lesson)
    for label, icon, other in (
        ("Previous", ":material/arrow_back:", place - 1),
        ("Next", ":material/arrow_forward:", place + 1),
    ):
        exists = 0 <= other < len(LESSONS)
        st.button(
            label,
            key=f"{SECTION}:{label.lower()}",
            icon=icon,
            icon_position="right" if label == "Next" else "left",
            disabled=not exists,
            help=LESSONS[other].title if exists else None,
            on_click=errors_as_notices(open_lesson),
            args=(LESSONS[other % len(LESSONS)],),
        )


def _tell_story(lesson: Lesson) -> None:
    with st.container(key="lesson-story", gap="small"):
        st.header(lesson.title, anchor=False)
        st.markdown(lesson.story)
        bring_reader_here("lesson-story", occasion=occasion("opened"), scroll="top")


def _choose_table(lesson: Lesson) -> int:
    """Offer to guess again, with this table or another; return the seed of the table."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if revealed_answer(lesson) is not None:
            st.button(
                "Guess again",
                key=f"{SECTION}:again",
                type="tertiary",
                icon=":material/replay:",
                on_click=errors_as_notices(start_again),
                args=(lesson,),
            )
        another_place = st.container(width="content")
        with st.popover("Seed", key=f"{SECTION}:seed", type="tertiary"):
            seed = choose_lesson_seed(lesson)
        another_place.button(
            "Another table",
            key=f"{SECTION}:another",
            type="tertiary",
            icon=":material/casino:",
            on_click=errors_as_notices(start_again),
            args=(lesson, (seed + 1) % (LARGEST_SEED + 1)),
            help=f"The same lesson with the next seed. This table has seed {seed}.",
        )
    return seed


# The question


def _ask(lesson: Lesson, exercise: Exercise) -> str | None:
    """Ask for a guess; return it once the reader wants the solution."""
    st.markdown(f"**{lesson.question}**")
    answer = revealed_answer(lesson)
    if answer is not None:
        _show_verdict(lesson, exercise, answer)
        return answer
    chosen = memory.remembered(
        st.radio,
        "Your guess",
        section=SECTION,
        name=f"{lesson.name}_answer",
        default=None,
        options=list(lesson.answers),
        format_func=lesson.answers.get,
        label_visibility="collapsed",
    )
    st.button(
        "Show the solution",
        key=f"{SECTION}:reveal",
        type="primary",
        disabled=chosen is None,
        on_click=errors_as_notices(reveal),
        args=(lesson,),
        help="Choose an answer first. Wrong guesses teach the most.",
    )
    return None


def _show_verdict(lesson: Lesson, exercise: Exercise, answer: str) -> None:
    with st.container(key="lesson-verdict", gap="xsmall"):
        if answer == exercise.right:
            st.success("Correct.", icon=":material/check_circle:")
        else:
            st.warning("Not quite.", icon=":material/lightbulb:")
        st.markdown("  \n".join(marked_answers(lesson, exercise.right, answer)))
        st.markdown(exercise.sentence)
        bring_reader_here("lesson-verdict", occasion=occasion("revealed"))


def marked_answers(lesson: Lesson, right: str, chosen: str | None) -> list[str]:
    """Return all answers as Markdown: which one is right, and which one was chosen."""
    lines = []
    for key, words in lesson.answers.items():
        if key == right:
            whose = "your answer, right" if key == chosen else "right answer"
            lines.append(f":material/check_circle: **{words}** ({whose})")
        elif key == chosen:
            lines.append(f":material/cancel: {words} (your answer)")
        else:
            lines.append(f":material/radio_button_unchecked: {words}")
    return lines


# The solution


def show_solution(lesson: Lesson, exercise: Exercise) -> None:
    """Draw the picture as it becomes the solution, and what else there is to say about it."""
    views = [_SOLUTION, _LUCK, _POINTS, _SIMPLIFIED]
    if exercise.luck is None:
        views.remove(_LUCK)
    if not lesson.simplified:
        views.remove(_SIMPLIFIED)
    view = st.segmented_control(
        "View",
        views,
        default=_SOLUTION,
        required=True,
        key=f"{SECTION}:{lesson.name}:view",
        label_visibility="collapsed",
    )
    if view == _LUCK and exercise.luck is not None:
        show_picture(exercise.luck, lesson, what="luck")
    elif view == _POINTS:
        st.markdown("\n".join(f"- {point}" for point in lesson.points))
    elif view == _SIMPLIFIED:
        st.markdown(lesson.simplified)
    else:
        show_picture(exercise.solution, lesson)


def show_picture(scene: Scene, lesson: Lesson, *, what: str = "picture", play: bool = True) -> None:
    """Draw a picture of a lesson."""
    # The solution stands in the place of the question, which becomes it.
    fitting = dataclasses.replace(scene, height=_PICTURE_HEIGHT)
    show_stage(fitting, key=f"{SECTION}:{lesson.name}:{what}", play=play)


# For others


def _show_share(place: DeltaGenerator, lesson: Lesson, seed: int, exercise: Exercise) -> None:
    with place, st.popover("Share", icon=":material/share:", key=f"{SECTION}:share"):
        _show_link(lesson, seed, exercise)
        offer_class(lesson, seed, exercise)
        offer_handout(lesson, seed, exercise)


def _show_link(lesson: Lesson, seed: int, exercise: Exercise) -> None:
    st.caption(
        "This link opens the lesson with this seed and these settings. Everyone works in a "
        "workspace of their own and has to guess first."
    )
    settings = link_settings(lesson, seed, exercise) | unanswered(lesson)
    st.code(links.share_link(SECTION, settings), language=None, wrap_lines=True)
