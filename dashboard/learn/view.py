"""What the page Learn draws: story and picture at the left, question and verdict at the right."""

from __future__ import annotations

import streamlit as st

from dashboard.learn import LARGEST_SEED, LESSONS, Lesson
from dashboard.learn.exercises import EXERCISES
from dashboard.learn.exercises.exercise import Exercise
from dashboard.learn.progress import SECTION, is_revealed, reveal, solved, start_again, unanswered
from dashboard.state import links, memory
from dashboard.widgets import calm, choose_seed, fragment
from pmae_core.words import count

_BY_NAME = {lesson.name: lesson for lesson in LESSONS}


@fragment
def show_lessons() -> None:
    """Draw the chosen lesson: its story, picture, question and, once asked for, the solution."""
    lesson = _choose_lesson()
    left, right = st.columns([2, 1], gap="medium")
    with left:
        st.header(lesson.title, anchor=False)
        st.markdown(lesson.story)
    with right:
        # The seed comes last, so that the verdict is on the first screen.
        settings_place, question_place = st.container(), st.container(border=True)
        seed = _choose_seed(lesson)
    with settings_place:
        exercise = EXERCISES[lesson.name](lesson, seed)
    with question_place:
        revealed = _ask(lesson, seed, exercise)
    with left:
        exercise.show(revealed)
    if revealed:
        _show_solution(lesson, exercise)
    _show_foot(lesson, seed, exercise)


# The lesson and its seed


def _choose_lesson() -> Lesson:
    title, choice, progress = st.columns([2, 3, 2], gap="medium", vertical_alignment="bottom")
    title.title("Learn", anchor=False)
    with choice:
        name = memory.remembered(
            st.selectbox,
            "Lesson",
            section=SECTION,
            name="lesson",
            default=LESSONS[0].name,
            options=list(_BY_NAME),
            format_func=lambda key: f"{list(_BY_NAME).index(key) + 1}. {_BY_NAME[key].title}",
            help="Each lesson has a small simulated table and a question. Guess first, then look "
            "at the solution. Your own table is not used.",
        )
    done = solved()
    if done:
        progress.progress(
            len(done) / len(LESSONS), f"{len(done)} of {count(len(LESSONS), 'lesson')}"
        )
    return _BY_NAME[name]


def _choose_seed(lesson: Lesson) -> int:
    return choose_seed(
        section=SECTION,
        name=f"{lesson.name}_seed",
        largest=LARGEST_SEED,
        on_change=lambda: start_again(lesson),
        help="The same seed makes the same table for everyone; another seed makes another table.",
    )


# The question


def _ask(lesson: Lesson, seed: int, exercise: Exercise) -> bool:
    """Ask for a guess; return whether the solution is shown."""
    st.markdown(f"**{lesson.question}**")
    revealed = is_revealed(lesson)
    answer = memory.remembered(
        st.radio,
        "Your guess",
        section=SECTION,
        name=f"{lesson.name}_answer",
        default=None,
        options=list(lesson.answers),
        format_func=lesson.answers.get,
        index=None,
        disabled=revealed,
        label_visibility="collapsed",
    )
    revealed = revealed and answer is not None
    if revealed:
        _show_verdict(lesson, exercise, answer)
    with st.container(horizontal=True, gap="small"):
        if revealed:
            _offer_another_try(lesson, seed)
        else:
            st.button(
                "Show the solution",
                key=f"{SECTION}:reveal",
                type="primary",
                disabled=answer is None,
                on_click=calm(reveal),
                args=(lesson,),
                help="Choose an answer first. Wrong guesses teach the most.",
            )
    return revealed


def _show_verdict(lesson: Lesson, exercise: Exercise, answer: str) -> None:
    right = lesson.answers[exercise.right]
    if answer == exercise.right:
        st.success(f"Correct: **{right}**.", icon=":material/check_circle:")
    else:
        st.warning(f"Not quite. The answer is: **{right}**.", icon=":material/lightbulb:")


def _offer_another_try(lesson: Lesson, seed: int) -> None:
    st.button(
        "Guess again",
        key=f"{SECTION}:again",
        on_click=calm(start_again),
        args=(lesson,),
        icon=":material/replay:",
    )
    st.button(
        "Another table",
        key=f"{SECTION}:another",
        on_click=calm(start_again),
        args=(lesson, (seed + 1) % (LARGEST_SEED + 1)),
        icon=":material/casino:",
        help="The same lesson with the next seed.",
    )


# The solution


def _show_solution(lesson: Lesson, exercise: Exercise) -> None:
    exercise.solve()
    with st.container(border=True):
        st.markdown("**What to remember**")
        st.markdown("\n".join(f"- {point}" for point in lesson.points))


def _show_foot(lesson: Lesson, seed: int, exercise: Exercise) -> None:
    place = list(_BY_NAME).index(lesson.name)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if place + 1 < len(LESSONS):
            following = LESSONS[place + 1]
            st.button(
                f"Next lesson: {following.title}",
                key=f"{SECTION}:next",
                icon=":material/arrow_forward:",
                on_click=calm(memory.remember),
                args=(SECTION,),
                kwargs={"lesson": following.name},
            )
        with st.popover("Link for a class", icon=":material/share:", key=f"{SECTION}:share"):
            _show_link(lesson, seed, exercise)


def _show_link(lesson: Lesson, seed: int, exercise: Exercise) -> None:
    st.caption(
        "This link opens the lesson with this seed and these settings. Everyone works in a "
        "workspace of their own and has to guess first."
    )
    settings = {
        "lesson": lesson.name,
        f"{lesson.name}_seed": seed,
        **{f"{lesson.name}_{name}": value for name, value in exercise.settings.items()},
        **unanswered(lesson),
    }
    st.code(links.share_link(SECTION, settings), language=None, wrap_lines=True)
