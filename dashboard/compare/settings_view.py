"""The settings of a comparison, and the button that starts it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard import runs
from dashboard.amputation.lab import scenario_words
from dashboard.amputation.scenario import Scenario
from dashboard.compare.conclusions import (
    COLUMN_LABELS,
    Conclusion,
    all_conclusions,
    conclusion_words,
    kept_conclusions,
    most_missing_first,
)
from dashboard.compare.plan import (
    PRESETS,
    ComparisonPlan,
    has_preset,
    method_sets,
    prepare,
    run_name,
    target_columns,
)
from dashboard.compare.titles import method_titles
from dashboard.errors import sentence_of
from dashboard.runs import estimates
from dashboard.state import memory, session
from dashboard.state.table_state import OpenTable
from dashboard.text import plain
from dashboard.widgets import choose_seed, errors_as_notices, shown_errors
from dashboard.widgets.conclusions import CONCLUSIONS, number_columns
from dashboard.widgets.methods import known_methods
from pmae_core.errors import PMAEError
from pmae_core.jobs import JobKind
from pmae_core.jobs.params import MAX_CONCLUSIONS
from pmae_core.words import expected_duration

SECTION = "compare"
OWN_CELLS = ""
NO_TARGET = ""
NOTHING = "nothing"
STATISTICS = {**CONCLUSIONS, NOTHING: "Nothing"}
MOST_SEEDS = 10
BUDGETS = {0: "No limit", 60: "1 min", 300: "5 min", 900: "15 min", 3600: "1 h", 28800: "8 h"}


def show_settings(table: OpenTable) -> None:
    """Draw all settings and what starts the run."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        methods = _choose_methods()
        extent = _choose_extent(methods)
    with right:
        conclusions = _choose_conclusions(table)
    start_place = st.container(horizontal=True, vertical_alignment="center", gap="small")
    message_place = st.container()
    with start_place:
        start_buttons_place = st.container(width="content")
        with st.popover("More settings", icon=":material/tune:"):
            more = _choose_more(table)
    plan = ComparisonPlan(methods=tuple(methods), conclusions=conclusions, **extent, **more)
    known = estimates.answer(_question(plan)).estimate if plan.methods else None
    with start_place, st.popover("About these methods", icon=":material/info:"):
        _show_methods(plan.methods, known)
    _show_start(plan, table, known, start_buttons_place, message_place)


# Methods


def _choose_methods() -> list[str]:
    infos = known_methods()
    sets = method_sets(list(infos))
    chosen = memory.remembered(
        st.multiselect,
        "Methods",
        section=SECTION,
        name="methods",
        default=sets["Usual"],
        options=list(infos),
        wrap=True,
        format_func=lambda name: infos[name].title,
        help="All methods impute the same held-out cells. Keep Mean / mode as the baseline.",
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for name, members in sets.items():
            st.button(
                name,
                key=f"{SECTION}:set:{name}",
                on_click=errors_as_notices(memory.remember),
                args=(SECTION,),
                kwargs={"methods": members},
                help=", ".join(infos[member].title for member in members),
            )
    return list(chosen)


def _choose_extent(methods: list[str]) -> dict[str, Any]:
    """Ask how often methods run, and how thoroughly PMAE is trained."""
    left, right = st.columns(2)
    with left:
        n_seeds = memory.remembered(
            st.number_input,
            "Seeds",
            section=SECTION,
            name="n_seeds",
            default=3,
            min_value=1,
            max_value=MOST_SEEDS,
            step=1,
            help="How often each method runs, each time with other held-out cells. Three or more "
            "show how much results vary.",
        )
    extent: dict[str, Any] = {"n_seeds": int(n_seeds)}
    if any(has_preset(name) for name in methods):
        with right:
            extent["preset"] = memory.remembered(
                st.segmented_control,
                "PMAE preset",
                section=SECTION,
                name="preset",
                default="fast",
                options=list(PRESETS),
                format_func=PRESETS.get,
                required=True,
                help="Quick trains for fewer steps than Balanced. A model from the Train page "
                "cannot be compared: it has already seen the cells that are held out here.",
            )
    return extent


def _show_methods(methods: tuple[str, ...], estimate: Mapping[str, Any] | None) -> None:
    infos = known_methods()
    costs = {cost["method"]: cost for cost in (estimate or {}).get("per_method", ())}
    lines = []
    for name in methods:
        info = infos[name]
        limits = f" *{plain(info.limits)}*" if info.limits else ""
        lines.append(
            f"- **{plain(info.title)}**{_cost_words(costs.get(name))}: {plain(info.explanation)} "
            f"{info.about_imputations}{limits}"
        )
    st.markdown("\n".join(lines) or "No method is chosen.")


def _cost_words(cost: Mapping[str, Any] | None) -> str:
    if cost is None:
        return ""
    if cost["seconds"] is None:
        return " (no estimate)"
    return f" ({expected_duration(cost['seconds'], cost['low'], cost['high'])} per run)"


# Conclusions


def _choose_conclusions(table: OpenTable) -> tuple[Conclusion, ...]:
    with st.container(border=True, gap="small"):
        st.markdown("**Does the method change my result?**")
        columns = number_columns(table.frame, table.schema)
        if not columns:
            st.caption("This table has no numerical column to take a mean or a slope of.")
            return ()
        kept = kept_conclusions(session.workspace().get(SECTION).get("conclusions"), columns)
        in_boxes = _ask_for_conclusion(most_missing_first(table.frame, columns))
        _show_kept(kept, in_boxes)
    return all_conclusions(kept, in_boxes)


def _ask_for_conclusion(columns: list[str]) -> Conclusion | None:
    """Ask for one conclusion; what stands in the boxes is computed."""
    kinds = list(STATISTICS) if len(columns) > 1 else ["mean", NOTHING]
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        kind = memory.remembered(
            st.selectbox,
            "What you would report",
            section=SECTION,
            name="statistic",
            default="mean",
            options=kinds,
            format_func=STATISTICS.get,
            help="It is estimated with every method, each with its 95% interval. Each method is "
            "fitted once more for it.",
        )
        if kind == NOTHING:
            return None
        names: list[str] = []
        for place, label in enumerate(COLUMN_LABELS[kind]):
            options = [name for name in columns if name not in names]
            chosen = memory.remembered(
                st.selectbox,
                label,
                section=SECTION,
                name=f"statistic_column_{place}",
                default=options[0],
                options=options,
            )
            names.append(chosen)
    return kind, *names


def _show_kept(kept: list[Conclusion], in_boxes: Conclusion | None) -> None:
    """Draw the button that keeps what stands in the boxes, and the conclusions kept before."""
    st.button(
        "Add another",
        icon=":material/add:",
        key=f"{SECTION}:add",
        type="tertiary",
        disabled=in_boxes is None or in_boxes in kept or len(kept) >= MAX_CONCLUSIONS - 1,
        help="Keeps this one and lets you choose one more.",
        on_click=_keep_conclusions,
        args=([*kept, in_boxes],),
    )
    for number, one in enumerate(kept):
        with st.container(horizontal=True, vertical_alignment="center"):
            words = conclusion_words(one)
            st.markdown(words[0].upper() + words[1:], width="stretch")
            st.button(
                "Remove",
                key=f"{SECTION}:remove:{number}",
                type="tertiary",
                on_click=_keep_conclusions,
                args=([other for other in kept if other != one],),
            )


@errors_as_notices
def _keep_conclusions(conclusions: list[Conclusion]) -> None:
    session.workspace().update(SECTION, conclusions=[list(one) for one in conclusions])


# Held-out cells, limits, prediction


def _choose_more(table: OpenTable) -> dict[str, Any]:
    held_out = _choose_holdout()
    budget = memory.remembered(
        st.selectbox,
        "Time limit",
        section=SECTION,
        name="budget",
        default=0,
        options=list(BUDGETS),
        format_func=BUDGETS.get,
        help="For all runs together. Runs that have not ended by then are stopped and listed.",
    )
    chosen = {**held_out, "budget_seconds": float(budget) or None}
    with_i_score = memory.remembered(
        st.toggle,
        "I-Score",
        section=SECTION,
        name="i_score",
        default=False,
        help="Scores random imputations on the table's own missing values, without held-out cells. "
        "Each method is fitted once more per incomplete column, so runs take much longer.",
    )
    chosen["i_score_columns"] = sum(c.n_observed < c.n_rows for c in table.schema) * with_i_score
    if held_out["scenario"] is None:
        chosen["seed"] = choose_seed(
            "First seed", section=SECTION, help="The same seeds hold out the same cells again."
        )
    target = memory.remembered(
        st.selectbox,
        "Predict a column from the imputed tables",
        section=SECTION,
        name="target",
        default=NO_TARGET,
        options=[NO_TARGET, *target_columns(table.frame, table.schema)],
        format_func=lambda name: name or "No column",
        help="A model is trained on each imputed table and tested on rows held out. No method "
        "uses this column to impute the others.",
    )
    return {**chosen, "target": target or None}


def _choose_holdout() -> dict[str, Any]:
    """Ask which cells methods are scored on."""
    scenarios: dict[str, Scenario] = {}
    for name, settings in session.workspace().scenarios().items():
        try:
            scenarios[name] = Scenario.from_dict(settings)
        except PMAEError as error:
            st.warning(f"{plain(name)}: {sentence_of(error)}")
    name = memory.remembered(
        st.selectbox,
        "Score methods on",
        section=SECTION,
        name="scenario",
        default=OWN_CELLS,
        options=[OWN_CELLS, *reversed(scenarios)],
        format_func=lambda name: f"Scenario: {name}" if name else "Held-out observed cells",
        help="The true values of missing cells are unknown, so methods are scored on cells whose "
        "values are known. Scenarios come from the Amputation lab.",
    )
    if name:
        _show_scenario(scenarios[name])
        return {"scenario": scenarios[name]}
    share = memory.remembered(
        st.slider,
        "Share of observed cells to hold out",
        section=SECTION,
        name="share",
        default=0.1,
        min_value=0.05,
        max_value=0.5,
        step=0.05,
        format="percent",
        help="Cells are held out in the patterns of the table's own missing values. More of them "
        "make scores more precise but leave less to learn from.",
    )
    return {"scenario": None, "share": share}


def _show_scenario(scenario: Scenario) -> None:
    more = (
        "The missing cells are the same for every seed."
        if scenario.kind == "like-mine"
        else "Each seed simulates different missing cells by the same rule."
    )
    st.caption(f"Simulated missing values: {scenario_words(scenario)}. {more}")
    if scenario.base == "completed":
        st.caption(
            "The table's own missing values are first imputed with values drawn from their "
            "columns, which then count as true."
        )


# Starting


def _question(plan: ComparisonPlan) -> estimates.Question:
    params = {
        "methods": list(plan.methods),
        "seeds": [0],
        "method_params": plan.method_params,
    }
    return estimates.Question.make(JobKind.COMPARE, params, runs.engine().default_resources())


def _show_start(
    plan: ComparisonPlan,
    table: OpenTable,
    known: Mapping[str, Any] | None,
    buttons_place: Any,
    message_place: Any,
) -> None:
    problem = plan.problem()
    with buttons_place:
        is_started, is_asked = estimates.start_buttons(
            "Start comparison",
            section=SECTION,
            asking="Runs each method briefly to estimate the time. Nothing is kept.",
            disabled=problem is not None,
        )
    if is_started:
        errors_as_notices(_start)(plan, table, known)
        st.rerun()
    with message_place:
        if problem is not None:
            st.warning(problem)
            return
        question = _question(plan)
        if is_asked:
            with shown_errors():
                estimates.start(question)
        estimates.show(
            question,
            trying="Running each method briefly",
            whole=lambda estimate: _for_all_seeds(estimate, plan),
        )


def _start(plan: ComparisonPlan, table: OpenTable, known: Mapping[str, Any] | None) -> None:
    prepared = prepare(plan, table.frame, table.schema)
    params = dict(prepared.params)
    if prepared.truth is not None:
        params["truth"] = runs.put_table(prepared.truth)
    started = runs.submit(
        JobKind.COMPARE,
        params,
        name=run_name(plan, table.name, method_titles()),
        seed=prepared.seed,
        frame=prepared.frame,
        schema=table.schema,
        estimate=None if known is None else _for_all_seeds(known, plan),
    )
    memory.remember(SECTION, run=started.id)


def _for_all_seeds(estimate: Mapping[str, Any], plan: ComparisonPlan) -> dict[str, Any]:
    """Return an estimate of single runs as that of the whole comparison."""
    totals = {
        name: min(estimate[name] * plan.n_fits, plan.budget_seconds or float("inf"))
        for name in ("total_seconds", "total_low", "total_high")
    }
    return {**estimate, **totals, "seeds": plan.n_fits, "limit": plan.budget_seconds}
