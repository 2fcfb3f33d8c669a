"""Impute: fill the holes, see what was filled and how far imputations spread."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import runs
from dashboard.export.files import stem_of
from dashboard.figures.blend import columns_to_draw, member_shares_figure, shares_by_column
from dashboard.figures.imputation import biography_data, biography_figure, delta_figure
from dashboard.figures.missingness import distribution_figure
from dashboard.impute import cells, shift
from dashboard.impute.choose import SECTION, choose_imputation
from dashboard.impute.completed_tables import (
    CompletedTable,
    answer_of,
    column_remarks,
    comparison_of,
    imputation_runs,
    is_done,
    load,
    method_of,
    title_of,
    trained_models,
)
from dashboard.impute.plan import (
    ImputationPlan,
    Source,
    hole_name,
    sources,
    stays_empty,
    structural_holes,
)
from dashboard.runs import estimates
from dashboard.runs.staleness import digest_of
from dashboard.shell.header import share_missing
from dashboard.shell.theme import IMPUTED
from dashboard.state import memory, session
from dashboard.state.table_state import OpenTable
from dashboard.text import code, listing, plain, shorten
from dashboard.widgets import calm, choose_seed, fragment, show_figure, shown_errors
from dashboard.widgets.conclusions import CONCLUSIONS, number_columns
from dashboard.widgets.methods import known_methods
from pmae_core.explain import StructuralMissingness
from pmae_core.explain.donors import Support
from pmae_core.export import escape_formulas
from pmae_core.inference import DeltaCurve, Estimand
from pmae_core.jobs import JobKind, JobRecord, JobState
from pmae_core.jobs.worker.answers import answer_words
from pmae_core.words import count, duration

MOST_DRAWS = 50
SKILL_HELP = (
    "Skill is 1 for perfect imputation and 0 for the accuracy of the column mean, measured on "
    "held-out cells."
)
TABLE, COLUMNS, WHAT_IF = "The table", "Columns to trust", "What if"


# What to do


@fragment
def plan_part(table: OpenTable) -> None:
    if not share_missing(table.digest, table):
        st.info(
            "Nothing is missing in this table, so there is nothing to fill. If some values stand "
            "for missing ones (such as -999 or ?), declare them on the Data page. To try methods, "
            "make holes in the Amputation lab.",
            icon=":material/check_circle:",
        )
        return
    empty = stays_empty(table.schema)
    _show_stays_empty(empty)
    if all(column.n_observed == column.n_rows or column.name in empty for column in table.schema):
        st.info(
            "No hole of this table can be filled. Change roles on the Data page, or open another "
            "table."
        )
        return
    left, right = st.columns(2, gap="large")
    with left:
        source = _choose_source(table)
    with right:
        draws, seed = _choose_numbers(source)
    left_alone = _choose_left_alone(table)
    _start_part(ImputationPlan(source, draws, seed, left_alone), table)


def _show_stays_empty(empty: dict[str, str]) -> None:
    if not empty:
        return
    reasons: dict[str, list[str]] = {}
    for name, reason in empty.items():
        reasons.setdefault(reason, []).append(name)
    parts = [f"{listing(names)} ({reason})" for reason, names in reasons.items()]
    st.caption(f":material/info: Holes that stay empty: {'; '.join(parts)}.")


def _choose_source(table: OpenTable) -> Source:
    known = sources(trained_models(digest_of(table)))
    chosen = memory.remembered(
        st.selectbox,
        "Fill with",
        section=SECTION,
        name="source",
        default=next(iter(known)),
        options=list(known),
        format_func=lambda key: known[key].title,
        help="A model that you trained on this table, or any method with its usual settings. "
        "Compare shows which suits this table.",
    )
    source = known[chosen]
    info = known_methods()[source.method]
    limits = f" *{plain(info.limits)}*" if info.limits and source.model is None else ""
    beginning = "This model is trained already; it only has to fill. " if source.model else ""
    st.caption(f"{beginning}{plain(info.explanation)} {info.about_imputations}{limits}")
    return source


def _choose_numbers(source: Source) -> tuple[int, int]:
    left, right = st.columns(2)
    with right:
        seed = choose_seed(
            section=SECTION,
            help="Everything random follows from it: the same seed fills the same values.",
        )
    with left:
        if not source.draws_samples:
            st.caption("This method gives a single imputation.")
            return 0, seed
        draws = memory.remembered(
            st.number_input,
            "Draws",
            section=SECTION,
            name="draws",
            default=10,
            min_value=0,
            max_value=MOST_DRAWS,
            step=1,
            help="Several plausible imputations besides the best one. Where they differ much, "
            "little is known; that they agree proves nothing. 0 makes none and is faster.",
        )
    return int(draws), seed


def _choose_left_alone(table: OpenTable) -> tuple[StructuralMissingness, ...]:
    found = structural_holes(table)
    if not found:
        return ()
    st.markdown("**Are these holes a loss at all?** Tick those that should stay empty.")
    chosen = [
        hole
        for hole in found
        if memory.remembered(
            st.checkbox,
            plain(hole.sentence),
            section=SECTION,
            name=hole_name(hole),
            default=False,
            help="Where another column says that there is nothing, a filled value is an "
            "invention. Only you can tell.",
        )
    ]
    return tuple(chosen)


def _start_part(plan: ImputationPlan, table: OpenTable) -> None:
    is_trained = plan.source.model is not None
    asking = "Runs the method for a moment to find out. Nothing is kept."
    is_started, is_asked = estimates.start_buttons(
        "Start filling", section=SECTION, asking=None if is_trained else asking
    )
    if is_started:
        calm(_start)(plan, table)
        st.rerun()
    if is_trained:
        return
    question = _question(plan)
    if is_asked:
        with shown_errors():
            estimates.start(question)
    estimates.show(question, trying="Trying the method for a moment")


def _question(plan: ImputationPlan) -> estimates.Question:
    params = {"method": plan.source.method}
    return estimates.Question.make(JobKind.IMPUTE, params, runs.engine().default_resources())


def _start(plan: ImputationPlan, table: OpenTable) -> None:
    known = None if plan.source.model else estimates.answer(_question(plan)).estimate
    started = runs.submit(
        JobKind.IMPUTE,
        plan.params,
        name=plan.name(shorten(table.name, 40)),
        seed=plan.seed,
        estimate=known,
    )
    memory.remember(SECTION, completed=started.id)


# What came out


def results_part(table: OpenTable) -> None:
    st.header("Fillings", anchor=False)
    record = choose_imputation(table)
    if record is None:
        st.info(
            "You have filled nothing yet. Press **Start filling**: it goes on in the background, "
            "and the filled table appears here, with every filled cell marked.",
            icon=":material/healing:",
        )
        return
    answer = answer_of(record)
    if answer is not None and _is_shown(answer):  # the newest one takes its place
        session.workspace().update(SECTION, answer=_answer_name(answer))
    runs.watch(_draw_job, [record.id])
    with shown_errors():
        if is_done(record):
            _show_summary(completed := load(record, table))
            _show_views(completed)
        elif answer is not None and _is_shown(answer):
            _show_answer(completed := load(answer, table))
            _show_views(completed)
    _show_history()


def _draw_job(found: list[JobRecord]) -> None:
    if not found:
        st.info("This filling was removed. Choose another one.")
        return
    runs.show_job(found[0], key=SECTION)
    answer = answer_of(found[0])
    if answer is not None:
        _offer_answer(answer)


# An answer before the run has ended


def _offer_answer(answer: JobRecord) -> None:
    """Say that there is an answer, and show it if asked to."""
    if session.workspace().get(SECTION).get("answer") == _answer_name(answer):
        return
    sentence, label = _answer_words(answer)
    about = answer_words(answer.result or {})
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":material/bolt: {sentence}: {about}.", width="content")
        if st.button(label, key=f"{SECTION}:{answer.id}:answer", help=SKILL_HELP):
            memory.remember(SECTION, answer=_answer_name(answer))
            st.rerun()


def _answer_words(answer: JobRecord) -> tuple[str, str]:
    """Return what to say of an answer, and on the button that shows it."""
    if answer.state in runs.ACTIVE:
        which = "newer" if _is_shown(answer) else "first"
        return f"A {which} answer is ready", "Show it"
    how = "was cancelled" if answer.state is JobState.CANCELLED else "ended early"
    return f"The run {how}. It left an answer", "Use its last answer"


def _answer_name(answer: JobRecord) -> str:
    return f"{answer.id}:{len((answer.result or {})['answers'])}"


def _is_shown(answer: JobRecord) -> bool:
    """Say whether the user looks at an answer of this run."""
    return str(session.workspace().get(SECTION).get("answer")).startswith(f"{answer.id}:")


def _show_answer(completed: CompletedTable) -> None:
    result = completed.record.result or {}
    st.info(
        f"**{count(result['n_imputed'], 'missing cell')}** imputed by an early answer "
        f"({answer_words(result)}). Only a finished run has draws and a script.",
        icon=":material/bolt:",
    )
    st.download_button(
        "Imputed table as CSV",
        data=lambda: escape_formulas(completed.filled).to_csv(index=False).encode(),
        file_name=f"{stem_of(completed)}-answer.csv",
        mime="text/csv",
        on_click="ignore",
        key=f"{SECTION}:answer-csv",
        icon=":material/download:",
        help="Texts that begin like a formula get an apostrophe, so that no spreadsheet runs them.",
    )


# What came out, in detail


def _show_views(completed: CompletedTable) -> None:
    view = memory.remembered(
        st.segmented_control,
        "What do you want to see?",
        section=SECTION,
        name="view",
        default=TABLE,
        options=[TABLE, COLUMNS, WHAT_IF],
        required=True,
        wrap=True,
        help="The filled cells, which columns to trust, and what if the missing ones are "
        "different.",
    )
    {TABLE: table_view, COLUMNS: columns_view, WHAT_IF: what_if_view}[view](completed)


def _show_summary(completed: CompletedTable) -> None:
    result = completed.record.result or {}
    n_columns = len(completed.filled_columns)
    method = title_of(method_of(completed.record) or "")
    sentences = [
        f"**{count(result['n_imputed'], 'hole')}** in {count(n_columns, 'column')} filled by "
        f"{plain(method)}."
    ]
    if completed.n_draws:
        sentences.append(f"{count(completed.n_draws, 'draw')} besides.")
    if result.get("n_left_alone"):
        sentences.append(f"{count(result['n_left_alone'], 'hole')} left empty, as you wished.")
    left = result.get("still_missing") or {}
    if left:
        sentences.append(f"Not filled, since they cannot be learned: {listing(left)}.")
    sentences.append("Take it along on the page **Export**.")
    st.success(" ".join(sentences), icon=":material/check_circle:")
    for note in result.get("notes", []):
        if not any(name in note for name in left):
            st.warning(plain(note))


# The table and one of its cells


@fragment
def table_view(completed: CompletedTable) -> None:
    if not completed.filled_columns:
        st.info("No cell was filled, so there is nothing to mark.")
        return
    st.subheader("Which cells were filled, and with what?", anchor=False)
    table_place = st.container()
    row, column = _choose_cell(completed)
    with table_place:
        _show_rows(completed, column)
    with shown_errors():
        _show_biography(completed, row, column)


def _show_rows(completed: CompletedTable, column: str) -> None:
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        only_filled = memory.remembered(
            st.toggle,
            "Only rows with filled cells",
            section=SECTION,
            name="only_filled",
            default=True,
            help="Leaves out the rows in which nothing was filled.",
        )
        rows = cells.rows_to_show(completed, only_filled=only_filled)
        page = _choose_page(cells.n_pages(rows))
    shown = rows[(page - 1) * cells.ROWS_A_PAGE : page * cells.ROWS_A_PAGE]
    columns = cells.columns_to_show(completed, column)
    key = f"{SECTION}:table:{completed.record.id}:{page}:{only_filled}"
    st.dataframe(
        cells.marked(completed, shown, columns),
        width="stretch",
        height=cells.height_of(shown),
        key=key,
        on_select=functools.partial(calm(_take_cell), key, shown),
        selection_mode="single-cell",
        alt="The filled table; filled cells are green and bold",
    )
    st.caption(_legend(completed, rows, shown, columns, only_filled=only_filled))


def _choose_page(n_pages: int) -> int:
    if n_pages == 1:
        return 1
    page = memory.remembered(
        st.number_input,
        f"Page, 1 to {n_pages:,}",
        section=SECTION,
        name="page",
        default=1,
        min_value=1,
        max_value=n_pages,
        step=1,
        help=f"{cells.ROWS_A_PAGE} rows a page.",
        width=220,
    )
    return int(page)


def _take_cell(key: str, shown: cells.Positions) -> None:
    """Look at the cell that was clicked."""
    clicked = st.session_state[key]["selection"]["cells"]
    if clicked:
        place, column = clicked[0]
        memory.remember(SECTION, row=int(shown[place]), column=str(column))


def _legend(
    completed: CompletedTable,
    rows: cells.Positions,
    shown: cells.Positions,
    columns: list[str],
    *,
    only_filled: bool,
) -> str:
    words = ["**Green and bold** cells were filled, orange ones are empty still."]
    if len(shown) < len(rows):
        kind = "rows with filled cells" if only_filled else "rows"
        words.append(f"{count(len(shown))} of {count(len(rows))} {kind}.")
    if len(columns) < completed.filled.shape[1]:
        words.append(
            f"{len(columns)} of {count(completed.filled.shape[1])} columns, those with most filled "
            "cells."
        )
    return " ".join([*words, "Click a cell to see what is known about it."])


def _choose_cell(completed: CompletedTable) -> tuple[int, str]:
    st.subheader("What is known about one cell?", anchor=False)
    first_row, first_column = cells.first_filled(completed)
    with st.container(horizontal=True, gap="medium"):
        row = memory.remembered(
            st.number_input,
            "Row",
            section=SECTION,
            name="row",
            default=first_row,
            min_value=0,
            max_value=len(completed.filled) - 1,
            step=1,
            help="Its number in the table above; the first is 0.",
            width=220,
        )
        column = memory.remembered(
            st.selectbox,
            "Column",
            section=SECTION,
            name="column",
            default=first_column,
            options=[str(name) for name in completed.filled.columns],
            width=300,
        )
    return int(row), str(column)


def _show_biography(completed: CompletedTable, row: int, column: str) -> None:
    told = cells.biography(completed, row, column)
    said, *others = told.sentences
    support = told.support.sentence
    st.markdown(f"**{plain(said)}**")
    st.markdown(" ".join(plain(one) for one in others if one != support))
    _show_support(told.support)
    remark = column_remarks(completed).get(column)
    if remark and not told.observed:
        st.warning(f"{code(column)}: {plain(remark)}", icon=":material/warning:")
    data = biography_data(told)
    if len(data):
        show_figure(
            biography_figure(data, column),
            question=f"Who says what about {code(column)} of row {row:,}?",
            key="impute-cell",
            data=data,
            caption=_biography_caption(completed, has_draws=told.spread is not None),
        )
    if len(told.donors):
        with st.expander("The rows most like it", icon=":material/groups:"):
            st.dataframe(
                cells.donor_table(told),
                hide_index=True,
                width="stretch",
                key=f"{SECTION}:donors",
                alt="The rows most like this one",
                column_config={
                    "Distance": st.column_config.NumberColumn(
                        format="%.3f", help="0 is the same in all known cells, 1 as far as can be."
                    )
                },
            )


def _show_support(support: Support) -> None:
    if support.level == "good":
        st.caption(f":material/thumb_up: {plain(support.sentence)}")
    else:
        st.warning(plain(support.sentence), icon=":material/warning:")


def _biography_caption(completed: CompletedTable, *, has_draws: bool) -> str:
    words = ["A green dot is what a method fills in, a blue diamond a similar row."]
    if has_draws:
        words.append("The bar holds nine in ten draws, its thick part half of them.")
    elif not completed.n_draws:
        words.append("There is a single imputation: make several to see how far they spread.")
    if len(completed.frame) > cells.DONOR_ROWS:
        words.append(f"Similar rows are looked for among {cells.DONOR_ROWS:,} rows at most.")
    words.append("Fill with another method, and it is added here.")
    return " ".join(words)


# Columns


@fragment
def columns_view(completed: CompletedTable) -> None:
    comparison = comparison_of(completed.record)
    st.subheader("Which filled columns can be trusted?", anchor=False)
    if comparison is None:
        st.info(
            "No comparison of this table has ended yet, so only the number of observed cells "
            "speaks here. Compare methods on the page **Compare**: then this list says in which "
            "columns no method is better than the mean.",
            icon=":material/leaderboard:",
        )
    names = [name for name in completed.filled.columns if completed.frame[name].isna().any()]
    if not names:
        st.markdown("No column had a hole.")
        return
    notes = column_remarks(completed)
    otherwise = "Nothing speaks against it." if comparison else "Not judged yet."
    if notes:
        needed = count(len(notes), "column needs", "columns need")
        st.markdown(f"{needed} care, of {len(names):,} with holes.")
    elif comparison:
        st.markdown(f"Nothing speaks against any of the {count(len(names), 'column')} with holes.")
    st.dataframe(
        _column_table(completed, names, notes, otherwise),
        hide_index=True,
        width="stretch",
        key=f"{SECTION}:columns",
        alt="The columns with holes, and why not to trust some",
        column_config={
            "Column": st.column_config.TextColumn(pinned=True),
            "Filled": st.column_config.NumberColumn(format="localized", width="small"),
            "Share of rows": st.column_config.ProgressColumn(
                format="%.1f %%", min_value=0, max_value=100, color=IMPUTED, width=150
            ),
            "Note": st.column_config.TextColumn(width="large"),
        },
    )
    if completed.filled_columns:
        _show_distribution(completed)
    _show_member_shares(completed)


def _show_member_shares(completed: CompletedTable) -> None:
    shares = (completed.record.result or {}).get("shares")
    if not shares:
        return
    whole = shares_by_column(shares)
    drawn = columns_to_draw(whole, completed.frame.isna().sum())
    show_figure(
        member_shares_figure(drawn),
        question="Which member counts in each column?",
        key="impute-members",
        data=whole.rename_axis("column").reset_index(),
        caption=_shares_caption(len(drawn), len(whole)),
    )


def _shares_caption(n_drawn: int, n_columns: int) -> str:
    words = [
        "Each bar is one column: the longer a part, the more that member counts in the imputed "
        "values. The shares are learned on held-out cells."
    ]
    if n_drawn < n_columns:
        words.append(
            f"Shown are the {n_drawn} of {count(n_columns, 'column')} with the most missing cells; "
            "the CSV file in the menu of the figure has them all."
        )
    return " ".join(words)


def _show_distribution(completed: CompletedTable) -> None:
    column = memory.remembered(
        st.selectbox,
        "Look at one column",
        section=SECTION,
        name="looked_at",
        default=completed.filled_columns[0],
        options=completed.filled_columns,
        help="The columns with filled cells.",
    )
    compared = cells.observed_and_filled(completed, column)
    show_figure(
        distribution_figure(compared, column=column, other=column, second=("filled", IMPUTED)),
        question="Do the filled cells look like the observed ones?",
        key="impute-distribution",
        data=lambda: pd.DataFrame(
            {
                "value": compared.labels,
                "share of observed": compared.share_observed,
                "share of filled": compared.share_missing,
            }
        ),
        caption="They need not: rows with missing values may differ. Imputed values that crowd in "
        "one place are best guesses, which vary less than real values."
        + (" The first and last bar hold what lies beyond, too." if compared.clipped else ""),
    )


def _column_table(
    completed: CompletedTable, names: list[Any], notes: Mapping[Hashable, str], otherwise: str
) -> pd.DataFrame:
    """Return the columns with holes, those with a note first."""
    rows = [
        {
            "Column": str(name),
            "Note": notes.get(name, otherwise),
            "Filled": int(completed.n_filled[name]),
            "Share of rows": 100 * float(completed.n_filled[name] / len(completed.frame)),
        }
        for name in sorted(names, key=lambda name: name not in notes)
    ]
    return pd.DataFrame(rows)


# What if


@fragment
def what_if_view(completed: CompletedTable) -> None:
    st.subheader("What if the missing ones are different?", anchor=False)
    st.markdown(
        "Every method takes a missing cell to be like an observed one of a similar row. No data "
        "can show whether that is so. Move the filled cells up or down, and see how far they may "
        "be off before your conclusion is another."
    )
    numbers = number_columns(completed.frame, completed.schema)
    filled = [name for name in numbers if completed.n_filled[name]]
    if not filled:
        st.info("No column of numbers has filled cells, so there is nothing to move.")
        return
    left, right = st.columns([2, 3], gap="large")
    with left:
        conclusion = _choose_conclusion(numbers, filled)
        column = _choose_shifted([name for name in conclusion[1:] if name in filled])
        null = _choose_null(completed, conclusion)
        delta = memory.remembered(
            st.slider,
            "The missing ones are higher by",
            section=SECTION,
            name="delta",
            default=0.0,
            min_value=shift.SMALLEST,
            max_value=shift.LARGEST,
            step=shift.STEP,
            format="%.1f sd",
            help="In standard deviations of the observed cells; lower to the left.",
        )
    with right, shown_errors():
        _show_curve(completed, column, conclusion, null, float(delta))


def _choose_conclusion(numbers: list[str], filled: list[str]) -> shift.Conclusion:
    kinds = list(CONCLUSIONS) if len(numbers) > 1 else ["mean"]
    kind = memory.remembered(
        st.selectbox,
        "Your conclusion is about",
        section=SECTION,
        name="conclusion",
        default="mean",
        options=kinds,
        format_func=CONCLUSIONS.get,
    )
    first = memory.remembered(
        st.selectbox,
        "of",
        section=SECTION,
        name="of",
        default=filled[0],
        options=filled,
        help="The columns of numbers with filled cells.",
    )
    if kind == "mean":
        return kind, first
    others = [name for name in numbers if name != first]
    second = memory.remembered(
        st.selectbox,
        {"correlation": "and", "slope": "on"}[kind],
        section=SECTION,
        name="other",
        default=others[0],
        options=others,
    )
    return kind, first, second


def _choose_shifted(columns: list[str]) -> str:
    if len(columns) == 1:
        return columns[0]
    chosen = memory.remembered(
        st.selectbox,
        "Move the filled cells of",
        section=SECTION,
        name="shifted",
        default=columns[0],
        options=columns,
    )
    return str(chosen)


def _choose_null(completed: CompletedTable, conclusion: shift.Conclusion) -> float:
    asked = repr((completed.record.spec.table, conclusion))  # another table, another mean
    key = hashlib.sha256(asked.encode()).hexdigest()[:12]
    null = memory.remembered(
        st.number_input,
        "Is it above or below",
        section=SECTION,
        name=f"null_{key}",
        default=shift.sensible_null(completed, conclusion),
        format="%g",
        help="The conclusion is on which side of this value the 95% interval lies, if on one. "
        "At first the mean of the observed cells, and 0 for a correlation or a slope.",
    )
    return float(null)


def _show_curve(
    completed: CompletedTable, column: str, conclusion: shift.Conclusion, null: float, delta: float
) -> None:
    curve = shift.delta_curve(completed, column, conclusion, null)
    words = Estimand.read(conclusion).label
    st.markdown(f":material/balance: **{plain(curve.sentence)}**")
    st.markdown(_here_sentence(curve, delta, words))
    show_figure(
        delta_figure(curve, delta, words, column),
        question="How far may the filled cells be off?",
        key="impute-delta",
        data=curve.table,
        caption=_curve_caption(completed),
    )


def _here_sentence(curve: DeltaCurve, delta: float, words: str) -> str:
    here = shift.at_delta(curve, delta)
    side = {
        "above": f"above {curve.null:g}",
        "below": f"below {curve.null:g}",
        "open": f"not to be told from {curve.null:g}",
    }[here["conclusion"]]
    interval = f"{here['low']:.4g} to {here['high']:.4g}"
    where = "As filled" if not delta else f"Shifted by {delta:+.1f} standard deviations"
    return f"{where}, the {plain(words)} is **{here['estimate']:.4g}** ({interval}): {side}."


def _curve_caption(completed: CompletedTable) -> str:
    n_pooled = shift.pooled_draws(completed)
    words = [
        "The dashed line is the value you compare with, dotted lines are where the conclusion "
        "tips. Only this column moves; what others were filled with stays."
    ]
    if n_pooled:
        info = known_methods().get(method_of(completed.record) or "")
        words.append(f"Estimates are pooled over {n_pooled} imputations by Rubin's rules.")
        if info is None or not info.is_proper:
            words.append("They come from one fitted model, so the interval is too narrow.")
    else:
        words.append(
            "The interval treats imputed values as observed, so it is too narrow: impute with "
            "several imputations to include the spread between them."
        )
    return " ".join(words)


# All of them


def _show_history() -> None:
    found = imputation_runs()
    with st.expander(f"All fillings ({len(found)})", icon=":material/history:"):
        st.dataframe(
            pd.DataFrame([_history_row(run) for run in found]),
            hide_index=True,
            width="stretch",
            key=f"{SECTION}:history",
            alt="All fillings",
            column_config={"Filled": st.column_config.NumberColumn(format="localized")},
        )


def _history_row(run: JobRecord) -> dict[str, Any]:
    result = run.result or {}
    taken = runs.seconds_taken(run)
    return {
        "Filling": run.name,
        "State": runs.STATE_WORDS[run.state].label,
        "Table": runs.origin(run.spec.table or "").name,
        "Filled": result.get("n_imputed"),
        "Draws": run.spec.params.get("imputations", 0),
        "Seed": run.spec.seed,
        "Took": None if taken is None else duration(taken),
        "Started": runs.browser_moment(run.created_at),
    }


st.title("Impute")
st.markdown(
    "Fill the holes of your table. Every filled cell stays marked, and each has a story: what "
    "methods say about it, how far their imputations spread, and which rows are most similar."
)
open_table = session.open_table()
plan_part(open_table)
results_part(open_table)
