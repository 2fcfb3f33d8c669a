"""Compare: hide cells whose truth is known, let methods fill them, see who comes closest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import runs
from dashboard.amputation.lab import scenario_words
from dashboard.amputation.scenario import Scenario
from dashboard.compare.exports import everything_json, report_html, spreadsheet_csv
from dashboard.compare.plan import (
    ComparisonPlan,
    holes_words,
    job_words,
    method_sets,
    prepare,
    target_columns,
)
from dashboard.compare.standing import (
    Standing,
    as_complete,
    board_data,
    failures_table,
    points_of,
    runs_table,
    seed_scores,
    skill_table,
    standing_of,
    usable_metrics,
    with_progress,
)
from dashboard.compare.words import (
    cells_sentence,
    columns_sentence,
    conclusion_sentence,
    downstream_sentence,
    progress_sentence,
    verdict,
)
from dashboard.figures.comparison import (
    METRIC_WORDS,
    MOST_COLUMNS,
    board_figure,
    confusion_data,
    confusion_figure,
    densities_figure,
    density_data,
    downstream_figure,
    forest_figure,
    is_category,
    skill_figure,
    truth_figure,
    truth_points,
)
from dashboard.runs import estimates
from dashboard.state import memory, session
from dashboard.state.table_state import OpenTable
from dashboard.text import code, file_stem, plain
from dashboard.widgets import calm, choose_seed, show_figure, shown_errors
from dashboard.widgets.conclusions import CONCLUSIONS, number_columns
from dashboard.widgets.errors import sentence_of
from dashboard.widgets.methods import known_methods
from pmae_core.errors import PMAEError
from pmae_core.evaluation import expected_coverage
from pmae_core.inference.stability import NOT_PROPER
from pmae_core.jobs import JobKind, JobRecord
from pmae_core.jobs.params import MAX_CONCLUSIONS
from pmae_core.jobs.worker.consequences import Consequences, read_consequences
from pmae_core.table import Role
from pmae_core.words import expected_duration, percent

SECTION = "compare"
OWN_CELLS = ""
NO_TARGET = ""
MOST_RUNS = 50
MOST_SEEDS = 10
BUDGETS = {0: "No limit", 60: "1 min", 300: "5 min", 900: "15 min", 3600: "1 h", 28800: "8 h"}
BOARD_COLUMNS = (
    "rank",
    "method",
    "skill",
    "imputation_accuracy",
    "accuracy",
    "balanced_accuracy",
    "rmse",
    "distribution_skill",
    "coverage",
    "energy_distance",
    "i_score",
    "n_imputations",
    "seconds",
    "memory_mb",
    "seeds",
)
MODELS = {"linear": "A linear model", "boosting": "Gradient boosted trees"}


def titles() -> dict[str, str]:
    return {name: info.title for name, info in known_methods().items()}


def _with_titles(rows: pd.DataFrame) -> pd.DataFrame:
    """Call methods as everywhere on the page; what is no method keeps its name."""
    return rows if rows.empty else rows.assign(method=rows["method"].replace(titles()))


# What to run


def plan_part(table: OpenTable) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        methods = _choose_methods()
    with right:
        judged = _choose_holes()
        chosen = _choose_extent(has_scenario=judged["scenario"] is not None)
        after = _choose_consequences(table)
    plan = ComparisonPlan(methods=tuple(methods), **judged, **chosen, **after)
    known = estimates.answer(_question(plan)).estimate if plan.methods else None
    with left:
        _show_methods(plan.methods, known)
    _start_part(plan, table, known)


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
        help="All of them fill the same holes. Keep the mean among them: it is the yardstick.",
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for name, members in sets.items():
            st.button(
                name,
                key=f"{SECTION}:set:{name}",
                on_click=memory.remember,
                args=(SECTION,),
                kwargs={"methods": members},
                help=", ".join(infos[member].title for member in members),
            )
    return list(chosen)


def _show_methods(methods: tuple[str, ...], estimate: Mapping[str, Any] | None) -> None:
    if not methods:
        st.info("Choose at least one method, or press one of the ready-made choices above.")
        return
    infos = known_methods()
    costs = {cost["method"]: cost for cost in (estimate or {}).get("per_method", ())}
    lines = []
    for name in methods:
        info = infos[name]
        limits = f" *{plain(info.limits)}*" if info.limits else ""
        lines.append(f"- **{plain(info.title)}**{_cost_words(costs.get(name))}: ")
        lines[-1] += f"{plain(info.explanation)} {info.about_imputations}{limits}"
    with st.container(border=True):
        st.markdown("\n".join(lines))


def _cost_words(cost: Mapping[str, Any] | None) -> str:
    if cost is None:
        return ""
    if cost["seconds"] is None:
        return " (no estimate)"
    return f" ({expected_duration(cost['seconds'], cost['low'], cost['high'])} per run)"


def _choose_holes() -> dict[str, Any]:
    """Ask by which cells methods are judged."""
    scenarios: dict[str, Scenario] = {}
    for name, settings in session.workspace().scenarios().items():
        try:
            scenarios[name] = Scenario.from_dict(settings)
        except PMAEError as error:
            st.warning(f"{plain(name)}: {sentence_of(error)}")
    name = memory.remembered(
        st.selectbox,
        "Judge them by",
        section=SECTION,
        name="scenario",
        default=OWN_CELLS,
        options=[OWN_CELLS, *reversed(scenarios)],
        format_func=lambda name: f"Scenario: {name}" if name else "My own observed cells",
        help="Nobody knows what stood in a real hole. So known cells are hidden, and methods are "
        "judged by how well they find them again. Scenarios come from the Amputation lab.",
    )
    if name:
        scenario = scenarios[name]
        words = scenario_words(scenario)
        more = (
            "Its holes are the same for every seed."
            if scenario.kind == "like-mine"
            else "Each seed makes other holes by the same rule."
        )
        st.caption(f"Holes made on purpose: {words}. {more}")
        if scenario.base == "completed":
            st.caption(
                "The table's own holes are filled with values drawn from their columns first; "
                "those count as truth, too."
            )
        return {"scenario": scenario}
    share = memory.remembered(
        st.slider,
        "Share of observed cells to hide",
        section=SECTION,
        name="share",
        default=0.1,
        min_value=0.05,
        max_value=0.5,
        step=0.05,
        format="percent",
        help="More hidden cells judge more surely, but leave less to learn from.",
    )
    st.caption(
        "Cells are hidden in the patterns of the table's own holes, so that methods are judged "
        "by what they will have to do."
        + ("" if scenarios else " Keep a scenario in the Amputation lab to judge by other holes.")
    )
    return {"scenario": None, "share": share}


def _choose_extent(*, has_scenario: bool) -> dict[str, Any]:
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
            help="How often each method runs, each time on other hidden cells. Three or more let "
            "noise be told from merit.",
        )
    with right:
        budget = memory.remembered(
            st.selectbox,
            "Time budget",
            section=SECTION,
            name="budget",
            default=0,
            options=list(BUDGETS),
            format_func=BUDGETS.get,
            help="For all runs together. What runs at its end is stopped, and the board says "
            "what was not run.",
        )
    chosen: dict[str, Any] = {"n_seeds": int(n_seeds), "budget_seconds": float(budget) or None}
    if not has_scenario:
        chosen["seed"] = choose_seed(
            "First seed", section=SECTION, help="The same seeds hide the same cells again."
        )
    return chosen


# What follows from the fillings


def _choose_consequences(table: OpenTable) -> dict[str, Any]:
    with st.expander("What follows from the fillings?", icon=":material/fork_right:"):
        targets = target_columns(table.frame, table.schema)
        target = memory.remembered(
            st.selectbox,
            "Predict a column from the filled tables",
            section=SECTION,
            name="target",
            default=NO_TARGET,
            options=[NO_TARGET, *targets],
            format_func=lambda name: name or "No column",
            help="A model is trained on each filled table and predicts this column in rows held "
            "out. No method sees it: it counts as the label of a later prediction.",
        )
        conclusions = _choose_conclusions(table)
        st.caption("Each of them fits every method again, after the comparison.")
    return {"target": target or None, "conclusions": conclusions}


def _choose_conclusions(table: OpenTable) -> tuple[tuple[str, ...], ...]:
    columns = number_columns(table.frame, table.schema)
    kept = [
        tuple(one)
        for one in session.workspace().get(SECTION).get("conclusions", [])
        if isinstance(one, list) and all(name in columns for name in one[1:])
    ]
    if not columns:
        st.caption("No column holds numbers of which a mean or a slope could be taken.")
        return ()
    new = _ask_for_conclusion(columns, [n for n in columns if table.frame[n].isna().any()])
    st.button(
        "Add this conclusion",
        icon=":material/add:",
        key=f"{SECTION}:add",
        disabled=new in kept or len(kept) >= MAX_CONCLUSIONS,
        on_click=_keep_conclusions,
        args=([*kept, new],),
    )
    for number, one in enumerate(kept):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(_conclusion_words(one), width="stretch")
            st.button(
                "Remove",
                key=f"{SECTION}:remove:{number}",
                on_click=_keep_conclusions,
                args=([other for other in kept if other != one],),
            )
    return tuple(kept)


def _ask_for_conclusion(columns: list[str], with_holes: list[str]) -> tuple[str, ...]:
    kinds = list(CONCLUSIONS) if len(columns) > 1 else ["mean"]
    kind = st.selectbox(
        "Watch a conclusion",
        kinds,
        format_func=CONCLUSIONS.get,
        key=f"{SECTION}:new_kind",
        help="How a figure that you would report moves with the method that fills the holes.",
    )
    labels = {"mean": ["Of"], "correlation": ["Of", "And"], "slope": ["Of", "On"]}[kind]
    names: list[str] = []
    for place, (label, side) in enumerate(zip(labels, st.columns(len(labels)), strict=True)):
        options = [name for name in columns if name not in names]
        key = f"{SECTION}:new_column_{place}"
        if st.session_state.get(key) not in options:
            # What has no holes is the same by every method.
            st.session_state[key] = next((n for n in with_holes if n in options), options[0])
        names.append(side.selectbox(label, options, key=key))
    return kind, *names


def _keep_conclusions(conclusions: list[tuple[str, ...]]) -> None:
    session.workspace().update(SECTION, conclusions=[list(one) for one in conclusions])


def _conclusion_words(conclusion: tuple[str, ...]) -> str:
    kind, *names = conclusion
    joint = {"mean": "", "correlation": " and ", "slope": " on "}[kind]
    return f"{kind} of {joint.join(code(name) for name in names)}"


# Starting


def _question(plan: ComparisonPlan) -> estimates.Question:
    params = {"methods": list(plan.methods), "seeds": [0]}
    return estimates.Question.make(JobKind.COMPARE, params, runs.engine().default_resources())


def _start_part(plan: ComparisonPlan, table: OpenTable, known: Mapping[str, Any] | None) -> None:
    problem = plan.problem()
    if problem and plan.methods:
        st.warning(problem)
    is_started, is_asked = estimates.start_buttons(
        "Start comparison",
        section=SECTION,
        asking="Runs each method for a moment to find out. Nothing is kept.",
        disabled=problem is not None,
    )
    if is_started:
        calm(_start)(plan, table, known)
        st.rerun()
    if problem is not None:
        return
    question = _question(plan)
    if is_asked:
        with shown_errors():
            estimates.start(question)
    estimates.show(
        question,
        trying="Trying each method for a moment",
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
        name=job_words(plan, table.name, titles()),
        seed=prepared.seed,
        frame=prepared.frame,
        schema=table.schema,
        estimate=None if known is None else _for_all_seeds(known, plan),
    )
    memory.remember(SECTION, run=started.id)


def _for_all_seeds(estimate: Mapping[str, Any], plan: ComparisonPlan) -> dict[str, Any]:
    """Return an estimate of single runs as that of the whole job."""
    totals = {
        name: min(estimate[name] * plan.n_fits, plan.budget_seconds or float("inf"))
        for name in ("total_seconds", "total_low", "total_high")
    }
    return {**estimate, **totals, "seeds": plan.n_fits, "limit": plan.budget_seconds}


# Results


def results_part() -> None:
    found = runs.records(kinds=[JobKind.COMPARE], limit=MOST_RUNS)
    st.header("Results", anchor=False)
    if not found:
        st.info(
            "You have compared nothing yet. Press **Start comparison**: the board will fill here "
            "as results come in, also while you are on another page.",
            icon=":material/leaderboard:",
        )
        return
    run = _choose_run(found)
    standing = _standing(run)
    n_results = len(standing.comparison.tasks)

    def draw(found: list[JobRecord]) -> None:
        for job in found:
            runs.show_job(job, key=SECTION)
            now = _standing(job)
            if len(now.comparison.tasks) != n_results:
                st.rerun()  # another result: the board below is drawn anew
            _show_runs(with_progress(now, job.progress))

    runs.watch(draw, [run.id])
    with shown_errors():
        _show_standing(run, standing)


def _choose_run(found: list[JobRecord]) -> JobRecord:
    by_id = {run.id: run for run in found}
    chosen = memory.remembered(
        st.selectbox,
        "Comparison",
        section=SECTION,
        name="run",
        default=found[0].id,
        options=list(by_id),
        format_func=runs.labels(found).get,
        help="The newest comes first.",
    )
    return by_id[chosen]


def _standing(run: JobRecord) -> Standing:
    files = sorted((run.folder / "tasks").glob("*-seed*.json"))
    key = (run.id, run.state, len(files), max((f.stat().st_mtime for f in files), default=0.0))
    return _known_standing(key, run)


@st.cache_resource(max_entries=8, show_spinner=False)
def _known_standing(key: tuple[Any, ...], _run: JobRecord) -> Standing:
    return standing_of(_run)


def _show_runs(standing: Standing) -> None:
    if not standing.pending:
        return
    st.dataframe(
        _with_titles(runs_table(standing)).rename(columns={"method": "Method"}),
        hide_index=True,
        width="stretch",
        key=f"{SECTION}:runs",
    )
    st.caption("Skill of each run that has ended: 1 is perfect, 0 is the mean.")


def _show_standing(run: JobRecord, standing: Standing) -> None:
    st.caption(f"Judged by {plain(holes_words(run.spec.params))}.")
    consequences = read_consequences(run.folder)
    if standing.has_scores:
        _show_board(standing)
        _show_columns(standing)
        _show_cells(standing, dates=_dates_of(run))
    elif run.state in runs.ACTIVE:
        st.info("The board fills here as soon as the first method is done.")
    else:
        st.info("No method gave a result.")
    _show_failures(standing)
    _show_downstream(run, consequences)
    _show_conclusions(consequences)
    for note in consequences.notes:
        st.warning(plain(note))
    if standing.comparison.tasks:
        _show_exports(run, standing, consequences)


def _show_board(standing: Standing) -> None:
    comparison = standing.ranked
    metrics = usable_metrics(comparison, list(METRIC_WORDS))
    metric = memory.remembered(
        st.selectbox,
        "Rank by",
        section=SECTION,
        name="metric",
        default="skill",
        options=metrics,
        format_func=lambda name: METRIC_WORDS[name][0][0].upper() + METRIC_WORDS[name][0][1:],
        help="Skill compares the squared error of numbers, or the share of wrong categories, with "
        "that of imputing the mean or most frequent category. Distribution skill and energy "
        "distance judge several random imputations; a method that gives one is scored as a point "
        "mass. Imputation accuracy is the paper's: R² (negative as 0) or the share of correct "
        "categories.",
    )
    board = board_data(comparison, metric)
    names = titles()
    provisional = progress_sentence(standing)
    if provisional:
        st.caption(provisional)
    show_figure(
        board_figure(board, seed_scores(comparison, metric), metric, names),
        question="Which method comes closest to the truth?",
        key="comparison-board",
        data=board,
        caption="A big dot is the mean of a method, a small stroke one seed. Methods in one band "
        "share a rank: their bar, the 95% interval of the difference to the band's leader on the "
        "same cells, adjusted for the number of methods, reaches its dotted line.",
    )
    st.markdown(verdict(board, comparison, names))
    _show_board_table(board)


def _show_board_table(board: pd.DataFrame) -> None:
    st.dataframe(
        _with_titles(board).assign(
            seeds=[f"{n} of {m}" for n, m in zip(board["n_done"], board["n_tasks"], strict=True)]
        ),
        hide_index=True,
        width="stretch",
        key=f"{SECTION}:board",
        column_order=[
            name for name in BOARD_COLUMNS if name == "seeds" or board[name].notna().any()
        ],
        column_config={
            "rank": st.column_config.NumberColumn("Rank", width="small"),
            "method": "Method",
            "skill": _number("Skill", "Share of the mean's error avoided: 1 is perfect."),
            "imputation_accuracy": _number("Imputation accuracy", "The paper's: 1 is perfect."),
            "accuracy": _number("Correct categories", "Share of categories imputed exactly."),
            "balanced_accuracy": _number(
                "Balanced accuracy", "The same, with every category counting alike."
            ),
            "rmse": _number("RMSE", "Root mean squared error of scaled numbers: 0 is perfect."),
            "distribution_skill": _number(
                "Distribution skill", "Error of random observed values avoided: 1 is perfect."
            ),
            "coverage": _number("Coverage", _coverage_help(board)),
            "energy_distance": _number(
                "Energy distance", "Between imputed and true rows: 0 is perfect."
            ),
            "i_score": _number("I-Score", "Without held-out cells: lower is better."),
            "n_imputations": st.column_config.NumberColumn(
                "Imputations", format="%d", help="Scored as a distribution; 1 is a point mass."
            ),
            "seconds": st.column_config.NumberColumn(
                "Seconds", format="%.2f", help="To fit and fill, median over seeds."
            ),
            "memory_mb": st.column_config.NumberColumn("Memory, MB", format="%.0f"),
            "seeds": "Seeds done",
        },
    )


def _coverage_help(board: pd.DataFrame) -> str:
    most = board["n_imputations"].max()
    if pd.isna(most):
        return ""
    reached = percent(expected_coverage(int(most)))
    return (
        f"How often the interval from {int(most)} imputations includes the true number; perfect "
        f"ones reach {reached}."
    )


def _number(label: str, explanation: str) -> Any:
    return st.column_config.NumberColumn(label, format="%.3f", help=explanation)


def _show_columns(standing: Standing) -> None:
    comparison = standing.ranked
    winners = comparison.column_winners()
    order = board_data(comparison)["method"].tolist()
    skill = skill_table(comparison, order)
    if skill.empty:
        return
    show_figure(
        skill_figure(skill, winners, titles()),
        question="Who wins which column?",
        key="comparison-columns",
        data=lambda: skill.rename_axis("column").reset_index(),
        caption="Share of the error of the mean (or most frequent category) that a method avoids: "
        "1 is perfect, 0 no better than the mean, below 0 worse. ● best of its column, "
        "○ tied with it."
        + (f" The first {MOST_COLUMNS} columns." if len(skill) > MOST_COLUMNS else ""),
    )
    st.markdown(columns_sentence(winners))
    with st.expander("Winners in words"):
        st.dataframe(
            winners.reset_index()[["column", "skill", "verdict"]],
            hide_index=True,
            width="stretch",
            key=f"{SECTION}:winners",
            column_config={
                "column": "Column",
                "skill": _number("Error avoided", "Of the mean's error, by the best method."),
                "verdict": "Best method",
            },
        )


def _dates_of(run: JobRecord) -> set[str]:
    """Return the columns of points in time, which are judged in seconds."""
    schema = run.spec.read_schema() or ()
    return {str(column.name) for column in schema if column.role is Role.DATETIME}


def _show_cells(standing: Standing, *, dates: set[str]) -> None:
    comparison = standing.ranked
    done = [t for t in comparison.tasks if t.status == "done" and t.points]
    if not done:
        return
    order = board_data(comparison)["method"].tolist()
    methods = [method for method in order if any(t.method == method for t in done)]
    column, method = _choose_column_and_method(list(done[0].points), methods)
    cells = truth_points(points_of(comparison, method, column))
    categories = is_category({"truth": list(cells["truth"])})
    left, right = st.columns(2, gap="large")
    with left:
        _show_truth(cells, column, categories=categories, is_date=column in dates)
    with right:
        shares = density_data(cells)
        show_figure(
            densities_figure(shares, column),
            question="Do the fillings look like real values?",
            key="comparison-density",
            data=shares,
            caption="How the same cells are spread, in truth and as filled.",
        )
    title = titles().get(method, method)
    about = known_methods()[method].about_imputations if method in known_methods() else ""
    st.markdown(
        cells_sentence(cells, column, title, categories=categories, about_imputations=about)
    )


def _choose_column_and_method(columns: list[str], methods: list[str]) -> tuple[str, str]:
    """Ask for a column and the method that filled it."""
    names = titles()
    left, right = st.columns(2)
    with left:
        column = memory.remembered(
            st.selectbox,
            "Look at one column",
            section=SECTION,
            name="column",
            default=columns[0],
            options=columns,
            help="Those that were judged.",
        )
    with right:
        method = memory.remembered(
            st.selectbox,
            "as filled by",
            section=SECTION,
            name="method",
            default=methods[0],
            options=methods,
            format_func=lambda name: names.get(name, name),
            help="The best method comes first.",
        )
    return column, method


def _show_truth(cells: pd.DataFrame, column: str, *, categories: bool, is_date: bool) -> None:
    if categories:
        figure = confusion_figure(confusion_data(cells), column)
        how_to_read = "The larger a dot, the more cells of a true category were filled so."
    else:
        figure = truth_figure(cells, column)
        how_to_read = "On the dashed line a filling is right."
        if is_date:
            how_to_read += " Dates are counted in seconds since the first."
    show_figure(
        figure,
        question="How near do single cells come?",
        key="comparison-truth",
        data=cells,
        caption=f"Hidden cells, of which the truth is known. {how_to_read}",
    )


def _show_failures(standing: Standing) -> None:
    failed = failures_table(standing.comparison)
    if failed.empty:
        return
    st.subheader("What gave no result, and why", anchor=False)
    st.dataframe(
        _with_titles(failed),
        hide_index=True,
        width="stretch",
        key=f"{SECTION}:failures",
        column_config={
            "method": "Method",
            "seeds": "Seeds",
            "status": "Status",
            "reason": st.column_config.TextColumn("Reason", width="large"),
        },
    )


def _show_downstream(run: JobRecord, consequences: Consequences) -> None:
    scores = _with_titles(consequences.downstream)
    if scores.empty:
        return
    target = str(run.spec.params["target"])
    done = scores[scores["status"] == "done"]
    if not done.empty:
        models = [model for model in MODELS if model in set(done["model"])]
        model = memory.remembered(
            st.radio,
            "Predicted by",
            section=SECTION,
            name="model",
            default=models[0],
            options=models,
            format_func=MODELS.get,
            horizontal=True,
            help="A linear model sees straight relations only; trees see any.",
        )
        shown = done[done["model"] == model]
        show_figure(
            downstream_figure(shown),
            question=f"How well is {code(target)} predicted from each filled table?",
            key="comparison-downstream",
            data=scores,
            caption="In rows held out. Blue: the truth (where it is known), and complete rows "
            "only, which are tested on fewer and perhaps easier rows.",
        )
        st.markdown(downstream_sentence(shown, target))
    _show_reasons(scores, "downstream-failed")


def _show_conclusions(consequences: Consequences) -> None:
    conclusions = _with_titles(consequences.conclusions)
    if conclusions.empty:
        return
    known = conclusions.dropna(subset="estimand") if "estimand" in conclusions else conclusions[:0]
    for number, (estimand, rows) in enumerate(known.groupby("estimand", sort=False)):
        done = rows[rows["status"] == "done"]
        if done.empty:
            continue
        show_figure(
            forest_figure(done),
            question=f"Does the {plain(estimand)} depend on the method?",
            key=f"comparison-forest-{number}",
            data=rows,
            caption="Vertical line: the true data, where they are known. Hollow dots come from a "
            "single imputation, whose interval treats imputed values as observed and is too "
            f"narrow. {_interval_caution(done)}",
        )
        st.markdown(conclusion_sentence(rows))
    _show_reasons(conclusions, "conclusions-failed")


def _interval_caution(done: pd.DataFrame) -> str:
    """Say which pooled intervals are too narrow, too."""
    narrow = done["note"].astype(str).str.contains(NOT_PROPER, regex=False)
    if not narrow.any():
        return ""
    names = ", ".join(plain(name) for name in done.loc[narrow, "method"])
    return f"Pooled intervals of {names} come from one fitted model and are too narrow as well."


def _show_reasons(rows: pd.DataFrame, key: str) -> None:
    failed = rows[rows["status"] == "failed"]
    if failed.empty:
        return
    reasons = failed[["method", "error"]].drop_duplicates()
    st.dataframe(
        reasons,
        hide_index=True,
        width="stretch",
        key=f"{SECTION}:{key}",
        column_config={"method": "Without a result", "error": "Reason"},
    )


# To take away


def _show_exports(run: JobRecord, standing: Standing, consequences: Consequences) -> None:
    st.subheader("Take it away", anchor=False)
    whole = as_complete(standing.comparison, standing.pending)
    stem = file_stem(run.name or "", "comparison")
    files: dict[str, tuple[str, Callable[[], bytes], str, str]] = {
        "Report": (
            f"{stem}.html",
            lambda: report_html(run, whole, consequences),
            "text/html",
            "One HTML file with all figures in it; it needs no network.",
        ),
        "Results as CSV": (
            f"{stem}-results.csv",
            lambda: spreadsheet_csv(whole.table),
            "text/csv",
            "A row for each method and seed.",
        ),
        "By column as CSV": (
            f"{stem}-columns.csv",
            lambda: spreadsheet_csv(whole.per_column),
            "text/csv",
            "A row for each method, seed and column.",
        ),
        "Everything as JSON": (
            f"{stem}.json",
            lambda: everything_json(whole, consequences),
            "application/json",
            "Settings, results, hidden cells with their fillings, and what followed from them.",
        ),
    }
    with st.container(horizontal=True, gap="small"):
        for label, (file_name, content, mime, explanation) in files.items():
            st.download_button(
                label,
                data=content,
                file_name=file_name,
                mime=mime,
                on_click="ignore",
                key=f"{SECTION}:download:{label}",
                icon=":material/download:",
                help=explanation,
            )
    if standing.pending:
        st.caption("These files have what is known by now; runs still to come are named as such.")


st.title("Compare")
st.markdown(
    "Which method fills **this** table best, and does it matter? Cells whose truth is known are "
    "hidden, the same for all methods; whoever comes closest to them leads. Differences that may "
    "be chance count as ties."
)
plan_part(session.open_table())
results_part()
