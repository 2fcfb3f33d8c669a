"""Learn: short lessons on missing data. Look, guess, see the solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.figures import lessons as figures
from dashboard.figures.amputation import missing_cells_figure, row_bands
from dashboard.figures.masking import weights_figure
from dashboard.figures.missingness import differences_figure
from dashboard.learn import (
    LARGEST_SEED,
    LESSONS,
    Lesson,
    masking,
    mechanisms,
    patterns,
    reasons,
    slopes,
    worlds,
)
from dashboard.shell.theme import IMPUTED, MISSING, NEUTRAL, OBSERVED
from dashboard.state import links, memory, session
from dashboard.text import code
from dashboard.widgets import calm, choose_seed, fragment, show_figure
from pmae_core.table.samples.clinic import Clinic, make_clinic
from pmae_core.words import count, percent

SECTION = "learn"
_BY_NAME = {lesson.name: lesson for lesson in LESSONS}


@dataclass(frozen=True)
class Exercise:
    """What a lesson asks with the present settings, and how its solution is drawn.

    Attributes
    ----------
    right
        The key of the right answer.
    solve
        Draws the solution.
    settings
        What the exercise depends on besides the seed: goes into the link.
    """

    right: str
    solve: Callable[[], None]
    settings: Mapping[str, Any] = field(default_factory=dict)


@fragment
def classroom() -> None:
    lesson = _choose_lesson()
    st.header(lesson.title, anchor=False)
    st.markdown(lesson.story)
    picture, controls = st.columns([2, 1], gap="large")
    with controls:
        seed = _choose_seed(lesson)
    exercise = EXERCISES[lesson.name](lesson, seed, picture, controls)
    with controls, st.container(border=True):
        answer, revealed = _ask(lesson, seed)
    if revealed:
        _show_solution(lesson, exercise, answer)
    _show_foot(lesson, seed, exercise)


# The frame: every lesson has a seed, a question, a solution and a link


def _choose_lesson() -> Lesson:
    name = memory.remembered(
        st.radio,
        "Lesson",
        section=SECTION,
        name="lesson",
        default=LESSONS[0].name,
        options=list(_BY_NAME),
        format_func=lambda key: f"{list(_BY_NAME).index(key) + 1}. {_BY_NAME[key].title}",
        horizontal=True,
    )
    done = _done()
    if done:
        st.progress(len(done) / len(LESSONS), f"{len(done)} of {count(len(LESSONS), 'lesson')}")
    return _BY_NAME[name]


def _done() -> list[str]:
    """Return the lessons whose solution was seen."""
    kept = session.workspace().get(SECTION).get("done", [])
    return [name for name in _BY_NAME if name in kept] if isinstance(kept, list) else []


def _choose_seed(lesson: Lesson) -> int:
    return choose_seed(
        section=SECTION,
        name=f"{lesson.name}_seed",
        largest=LARGEST_SEED,
        on_change=lambda: _start_again(lesson),
        help="The same seed makes the same table for everybody; another one makes another table.",
    )


def _choose_setting(
    widget: Callable[..., Any], label: str, lesson: Lesson, name: str, **kwargs: Any
) -> Any:
    """Draw a control that changes the exercise: the question is open again."""
    return memory.remembered(
        widget,
        label,
        section=SECTION,
        name=f"{lesson.name}_{name}",
        on_change=lambda: _start_again(lesson),
        **kwargs,
    )


def _ask(lesson: Lesson, seed: int) -> tuple[str | None, bool]:
    """Ask for a guess; return it, and whether the solution is to be shown."""
    st.markdown(f"**Your guess.** {lesson.question}")
    revealed = session.workspace().get(SECTION).get(f"{lesson.name}_revealed") is True
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
    with st.container(horizontal=True, gap="small"):
        if revealed:
            st.button(
                "Guess again",
                key=f"{SECTION}:again",
                on_click=calm(_start_again),
                args=(lesson,),
                icon=":material/replay:",
            )
            st.button(
                "Another table",
                key=f"{SECTION}:another",
                on_click=calm(_start_again),
                args=(lesson, (seed + 1) % (LARGEST_SEED + 1)),
                icon=":material/casino:",
                help="The same lesson with the next seed.",
            )
        else:
            st.button(
                "Show the solution",
                key=f"{SECTION}:reveal",
                type="primary",
                disabled=answer is None,
                on_click=calm(_reveal),
                args=(lesson,),
                help="Choose an answer first: a guess that is wrong teaches most.",
            )
    return answer, revealed


def _reveal(lesson: Lesson) -> None:
    done = [*_done(), lesson.name]
    memory.remember(SECTION, **{f"{lesson.name}_revealed": True, "done": sorted(set(done))})


def _start_again(lesson: Lesson, seed: int | None = None) -> None:
    values = _unanswered(lesson)
    if seed is not None:
        values[f"{lesson.name}_seed"] = seed
    memory.remember(SECTION, **values)


def _unanswered(lesson: Lesson) -> dict[str, Any]:
    return {f"{lesson.name}_answer": None, f"{lesson.name}_revealed": False}


def _show_solution(lesson: Lesson, exercise: Exercise, answer: str | None) -> None:
    st.divider()
    right = lesson.answers[exercise.right]
    if answer == exercise.right:
        st.success(f"Right: **{right}**.", icon=":material/check_circle:")
    else:
        st.warning(f"Not quite. The answer is: **{right}**.", icon=":material/lightbulb:")
    exercise.solve()
    with st.container(border=True):
        st.markdown("**To remember**")
        st.markdown("\n".join(f"- {sentence}" for sentence in lesson.takeaways))


def _show_foot(lesson: Lesson, seed: int, exercise: Exercise) -> None:
    names = list(_BY_NAME)
    place = names.index(lesson.name)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if place + 1 < len(names):
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
            st.caption(
                "Whoever opens this link gets this lesson with this seed and these settings, in a "
                "workspace of their own, and has to guess first."
            )
            settings = {
                "lesson": lesson.name,
                f"{lesson.name}_seed": seed,
                **{f"{lesson.name}_{name}": value for name, value in exercise.settings.items()},
                **_unanswered(lesson),
            }
            st.code(links.share_link(SECTION, settings), language=None, wrap_lines=True)


def _show_luck(
    lesson: Lesson,
    estimate: str,
    *,
    of: str,
    redrawn: np.ndarray,
    truth: float,
    filled: tuple[str, float],
    how: str,
) -> None:
    """Draw what an estimate is when everything is left to chance again, many times."""
    words, value = filled
    marks = {"truth": (truth, NEUTRAL, "dash"), words: (value, IMPUTED, "solid")}
    show_figure(
        figures.redraws_figure(redrawn, marks, f"{estimate} of {of}"),
        question="Was it luck?",
        key=f"lesson-{lesson.name}-luck",
        data=pd.DataFrame({estimate: redrawn}),
        caption=f"{how} Luck scatters the {estimate}; a bias moves all of it away from the truth.",
    )


# 1. What is missing data?


@st.cache_resource(max_entries=16, show_spinner=False)
def _clinic(seed: int) -> Clinic:
    return make_clinic(seed=seed)


def _ask_for_reason(lesson: Lesson, seed: int, picture: Any, controls: Any) -> Exercise:
    clinic = _clinic(seed)
    cells = {f"{row}:{column}": (row, column) for row, column in reasons.holes(clinic)}
    with controls:
        chosen = _choose_setting(
            st.selectbox,
            "Which missing cell?",
            lesson,
            "cell",
            default=next(iter(cells)),
            options=list(cells),
            format_func=lambda key: f"{cells[key][1]} of patient {cells[key][0]}",
            help="Or click a question mark in the table.",
        )
    row, column = cells[chosen]
    with picture:
        table = reasons.patients(clinic)
        words = pd.DataFrame(
            {name: [reasons.cell_words(name, cell) for cell in table[name]] for name in table}
        )
        key = "lesson-reasons"
        show_figure(
            figures.small_table_figure(words, (row, column)),
            question="Which values were never written down? Click one of them.",
            key=key,
            data=table.reset_index(names="patient"),
            on_select=calm(lambda: _take_click(lesson, key, set(cells.values()))),
        )
    with controls:
        st.caption("What differs between patients who have this value and those who lack it?")
        st.markdown(reasons.clue_sentence(reasons.clues(clinic, column), column))

    def solve() -> None:
        st.markdown(f"{reasons.reason(column)} {reasons.cell_story(clinic, row, column)}")
        st.markdown(f"This kind is called **{reasons.kind_of(column)}**.")
        show_figure(
            differences_figure(reasons.clues(clinic, column)),
            question=f"How do patients who lack {code(column)} differ from the others?",
            key="lesson-reasons-clues",
            data=lambda: reasons.clues(clinic, column).rename_axis("column").reset_index(),
            caption="To the right: higher where the value is missing. Grey: what chance alone does "
            "in 19 of 20 tables: of ten bars, one or the other crosses it by luck. "
            f"All {count(len(clinic.frame), 'patient')} count here.",
        )

    return Exercise(reasons.kind_of(column), solve, {"cell": chosen})


def _take_click(lesson: Lesson, key: str, holes: set[tuple[int, str]]) -> None:
    selection = st.session_state.get(f"{key}:chart") or {}
    cell = reasons.clicked_cell(selection.get("selection", {}).get("points", []))
    if cell in holes:
        memory.remember(SECTION, **_unanswered(lesson), reasons_cell=f"{cell[0]}:{cell[1]}")


# 2. MCAR, MAR, MNAR


@st.cache_resource(max_entries=32, show_spinner=False)
def _lost(mechanism: mechanisms.Mechanism, seed: int) -> mechanisms.LostPressures:
    return mechanisms.lose_pressures(mechanism, seed)


def _ask_for_direction(lesson: Lesson, seed: int, picture: Any, controls: Any) -> Exercise:
    with controls:
        mechanism = _choose_setting(
            st.radio,
            "How do values get lost?",
            lesson,
            "mechanism",
            default="MCAR",
            options=list(mechanisms.MECHANISM_WORDS),
            format_func=mechanisms.MECHANISM_WORDS.get,
        )
        lost = _lost(mechanism, seed)
        st.info(lost.rule(), icon=":material/info:")
    truth = lost.holes.truth[mechanisms.VALUE].to_numpy()
    title = "blood pressure"
    with picture:
        show_figure(
            figures.densities_figure({"all patients": (truth, NEUTRAL)}, title),
            question="What is the blood pressure of all patients?",
            key="lesson-mechanisms-before",
            data=lost.holes.truth,
            caption=f"The line is the mean: {lost.true_mean:.1f}. Half of these values will go.",
        )

    def solve() -> None:
        st.markdown(lost.sentence())
        left, right = st.columns(2)
        observed = lost.holes.incomplete[mechanisms.VALUE].dropna().to_numpy()
        with left:
            show_figure(
                figures.densities_figure(
                    {"all patients": (truth, NEUTRAL), "what is left": (observed, OBSERVED)}, title
                ),
                question="Which values are left?",
                key="lesson-mechanisms-left",
                data=lost.holes.incomplete,
                caption="The lines are the means.",
            )
        with right:
            _show_luck(
                lesson,
                "mean",
                of="what is left",
                redrawn=lost.redrawn_means,
                truth=lost.true_mean,
                filled=("filled by age", lost.filled_mean),
                how=f"The same rule, {len(lost.redrawn_means)} times.",
            )

    return Exercise(lost.direction, solve, {"mechanism": mechanism})


# 3. Patterns


@st.cache_resource(max_entries=32, show_spinner=False)
def _pattern(kind: str, seed: int) -> patterns.Holes:
    return patterns.make_pattern(kind, seed)


def _ask_for_pattern(lesson: Lesson, seed: int, picture: Any, controls: Any) -> Exercise:
    made = _pattern(patterns.hidden_kind(seed), seed)
    missing = made.incomplete.isna()
    with controls:
        ordered = memory.remembered(
            st.toggle,
            "Sort by holes",
            section=SECTION,
            name=f"{lesson.name}_sorted",
            default=False,
        )
    with picture:
        show_figure(
            missing_cells_figure(row_bands(missing, ordered=ordered)),
            question="Is there an order in these holes?",
            key="lesson-patterns",
            data=missing,
        )

    def solve() -> None:
        st.markdown(made.sentence())
        for place, kind in zip(st.columns(len(patterns.KINDS)), patterns.KINDS, strict=True):
            with place:
                shown = _pattern(kind, seed).incomplete.isna()
                show_figure(
                    missing_cells_figure(row_bands(shown)),
                    question=f"What does {kind} look like?",
                    key=f"lesson-patterns-{kind}",
                    data=shown,
                )

    return Exercise(made.kind, solve)


# 4. Dropping rows and a slope


@st.cache_resource(max_entries=32, show_spinner=False)
def _dropped(cause: str, strength: float, seed: int) -> slopes.DroppedRows:
    return slopes.drop_rows(cause, strength, seed)


def _ask_for_slope(lesson: Lesson, seed: int, picture: Any, controls: Any) -> Exercise:
    with controls:
        cause = _choose_setting(
            st.selectbox,
            "Why do rows have a hole?",
            lesson,
            "cause",
            default="chance",
            options=list(slopes.CAUSES),
            format_func=lambda key: slopes.CAUSES[key].title,
        )
        strength = slopes.USUAL_STRENGTH
        if slopes.CAUSES[cause].depends_on is not None:
            strength = _choose_setting(
                st.slider,
                "How strict is the rule?",
                lesson,
                "strength",
                default=slopes.USUAL_STRENGTH,
                min_value=slopes.WEAKEST,
                max_value=slopes.STRONGEST,
                step=0.5,
                help="1 is a tendency, 5 nearly a rule without exceptions.",
            )
        st.info(slopes.CAUSES[cause].rule, icon=":material/info:")
    made = _dropped(cause, strength, seed)
    with picture:
        show_figure(
            figures.scatter_figure(made.truth, line=made.true_line),
            question="How does blood pressure rise with age in all patients?",
            key="lesson-slopes-before",
            data=made.truth,
            caption=f"The line rises by {made.true_line[0]:.2f} a year.",
        )

    def solve() -> None:
        st.markdown(made.sentence())
        left, right = st.columns(2)
        with left:
            show_figure(
                figures.scatter_figure(
                    made.truth, made.kept, line=made.true_line, kept_line=made.kept_line
                ),
                question="Which rows are gone, and where does the line go?",
                key="lesson-slopes-after",
                data=made.truth.assign(stays=made.kept),
            )
        with right:
            _show_luck(
                lesson,
                "slope",
                of="the rows that stay",
                redrawn=made.redrawn_slopes,
                truth=made.population_slope,
                filled=("this table, holes filled", made.filled_slope),
                how=f"The same rule in {len(made.redrawn_slopes)} tables of other patients.",
            )

    return Exercise(made.cause.effect, solve, {"cause": cause, "strength": strength})


# 5. Uniform or proportional masking?


@st.cache_resource(max_entries=16, show_spinner=False)
def _trader(seed: int) -> masking.Trader:
    return masking.make_trader(seed)


@st.cache_resource(max_entries=64, show_spinner=False)
def _practice(a: float, seed: int) -> masking.Practice:
    return masking.practise(_trader(seed), a, seed)


def _ask_for_practice(lesson: Lesson, seed: int, picture: Any, controls: Any) -> Exercise:
    usual = _practice(masking.USUAL_A, seed)
    with picture:
        show_figure(
            weights_figure(usual.weights, uniform=masking.UNIFORM_RATE),
            question="How much of each column does proportional masking hide?",
            key="lesson-masking-weights",
            data=usual.weights,
            caption="Masked cells must be predicted, seen cells only given back. The white stroke "
            "is uniform masking.",
        )
        show_figure(
            figures.practice_figure(usual.in_sight, ["holes"]),
            question="How many helpers are there where `gain` is missing?",
            key="lesson-masking-holes",
            data=usual.in_sight[["helpers", "holes"]],
        )

    def solve() -> None:
        a = memory.remembered(
            st.slider,
            "a: how strongly holes count",
            section=SECTION,
            name=f"{lesson.name}_a",
            default=masking.USUAL_A,
            min_value=0.0,
            max_value=masking.LARGEST_A,
            step=0.01,
            help="0 is uniform masking; the paper takes 0.05.",
        )
        practice = _practice(a, seed)
        st.markdown(practice.sentence())
        warning = practice.warning()
        if warning:
            st.warning(warning, icon=":material/lightbulb:")
        left, right = st.columns(2)
        with left:
            show_figure(
                figures.practice_figure(practice.in_sight),
                question="Does practice look like the holes?",
                key="lesson-masking-practice",
                data=practice.in_sight,
            )
        with right:
            _show_trained()

    return Exercise(usual.answer, solve)


def _show_trained() -> None:
    trained = masking.read_trained()
    if trained is None:
        st.info(
            "What networks reach with either masking was not measured in this installation. "
            "`python -m benchmarks.accuracy.lesson_masking` measures it in a few minutes."
        )
        return
    show_figure(
        figures.trained_figure(trained.runs),
        question="Which masking learns faster?",
        key="lesson-masking-trained",
        data=trained.runs,
        caption=f"Small networks, trained briefly; one line per seed. "
        f"{' '.join(trained.sentences())} This is speed, not a better end: with longer training "
        "uniform masking catches up. Measured beforehand by "
        f"{code(trained.command)} with a = {masking.USUAL_A}; the slider does not change it.",
    )


# 6. Two worlds


@st.cache_resource(max_entries=32, show_spinner=False)
def _worlds(shift: float, seed: int) -> tuple[worlds.World, worlds.World]:
    return worlds.make_worlds(shift, seed)


@st.cache_resource(max_entries=32, show_spinner="Asking both tables …")
def _diagnostics(shift: float, seed: int) -> tuple[worlds.Diagnostics, worlds.Diagnostics]:
    one, two = _worlds(shift, seed)
    return worlds.diagnose(one.incomplete), worlds.diagnose(two.incomplete)


def _ask_for_world(lesson: Lesson, seed: int, picture: Any, controls: Any) -> Exercise:
    pair = _worlds(worlds.USUAL_SHIFT, seed)
    findings = _diagnostics(worlds.USUAL_SHIFT, seed)
    with picture:
        st.subheader("What do the diagnostics say of the two tables?", anchor=False)
        shown = {f"World {number}": f.table() for number, f in enumerate(findings, start=1)}
        st.dataframe(
            pd.DataFrame(shown).rename_axis("What we asked").reset_index(),
            hide_index=True,
            width="stretch",
        )
        with st.expander("The tables themselves"):
            for number, (column, world) in enumerate(zip(st.columns(2), pair, strict=True), 1):
                with column:
                    st.markdown(f"**World {number}**")
                    st.dataframe(world.incomplete.round(1), height=240, width="stretch")

    def solve() -> None:
        shift = memory.remembered(
            st.slider,
            "How much higher are the untold incomes in the MNAR world, in standard deviations?",
            section=SECTION,
            name=f"{lesson.name}_shift",
            default=worlds.USUAL_SHIFT,
            min_value=0.0,
            max_value=worlds.LARGEST_SHIFT,
            step=0.25,
            help="Move it: the truth moves, and not one observed cell, test or filling with it.",
        )
        now, found = _worlds(shift, seed), _diagnostics(shift, seed)[0]
        st.markdown(worlds.solution(now, found))
        _show_worlds(now, found, shift)

    return Exercise("neither", solve)


def _show_worlds(
    pair: tuple[worlds.World, worlds.World], found: worlds.Diagnostics, shift: float
) -> None:
    mar, mnar = sorted(pair, key=lambda world: world.mechanism)
    means = {
        "told incomes": (float(mar.incomplete[worlds.VALUE].mean()), OBSERVED),
        "after filling, both worlds": (found.filled_mean, IMPUTED),
        "truth in the MAR world": (mar.true_mean, NEUTRAL),
        "truth in the MNAR world": (mnar.true_mean, MISSING),
    }
    show_figure(
        figures.means_figure(means, "mean income in thousands"),
        question="What is the filling worth?",
        key="lesson-worlds-means",
        data=pd.DataFrame({"what": list(means), "mean": [value for value, _ in means.values()]}),
    )
    left, right = st.columns(2)
    with left:
        show_figure(
            figures.densities_figure(
                {
                    "told": (mar.incomplete[worlds.VALUE].dropna().to_numpy(), OBSERVED),
                    "not told, MAR": (mar.truth.loc[mar.missing, worlds.VALUE].to_numpy(), NEUTRAL),
                    "not told, MNAR": (
                        mnar.truth.loc[mnar.missing, worlds.VALUE].to_numpy(),
                        MISSING,
                    ),
                },
                "income in thousands",
            ),
            question="Where do the worlds differ? Where nobody looked.",
            key="lesson-worlds-incomes",
            data=mar.truth.assign(
                told=~mar.missing, income_in_mnar_world=mnar.truth[worlds.VALUE]
            ).rename(columns={"income": "income_in_mar_world"}),
            caption="The lines are the means. Told incomes are the same in both worlds.",
        )
    with right:
        curve = worlds.chance_curve(shift)
        show_figure(
            figures.chance_curve_figure(curve),
            question="Why is one of them MNAR?",
            key="lesson-worlds-chance",
            data=curve,
            caption="A person of 45 with 12 years of school. In the MAR world telling does not "
            "depend on the income; in the MNAR world it does, age and school being equal. "
            f"{percent(found.share_missing)} did not tell, in both.",
        )


EXERCISES: Mapping[str, Callable[[Lesson, int, Any, Any], Exercise]] = {
    "reasons": _ask_for_reason,
    "mechanisms": _ask_for_direction,
    "patterns": _ask_for_pattern,
    "slopes": _ask_for_slope,
    "masking": _ask_for_practice,
    "worlds": _ask_for_world,
}


st.title("Learn")
st.markdown(
    "Six short lessons on missing data. Each has a small table made for it, a question to **guess "
    "first**, and the solution. Your own table is not touched."
)
classroom()
