"""Train: choose a network, see what it will cost, watch it learn."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import runs
from dashboard.figures.training import (
    MOST_COLUMNS,
    columns_figure,
    loss_figure,
    overlay_figure,
    validation_figure,
)
from dashboard.masking.caches import columns_of
from dashboard.masking.lab import NOTHING_TO_LEARN, Masking
from dashboard.masking.sliders import choose_function, choose_params
from dashboard.runs import estimates
from dashboard.shell.header import share_missing
from dashboard.state import memory, session
from dashboard.state.table_state import OpenTable
from dashboard.text import code, plain, shorten
from dashboard.train.curves import Curves, column_names
from dashboard.train.settings import (
    ARCHITECTURES,
    GROUPS,
    LENGTH_DEFAULTS,
    LENGTHS,
    LOSSES,
    METHODS,
    PRECISION,
    PRESETS,
    Setting,
    TrainingMasking,
    changed_settings,
    differences,
    job_words,
    lab_masking,
    length_unit,
    preset_values,
    problems,
    training_masking,
)
from dashboard.widgets import calm, choose_seed, fragment, show_figure, shown_errors
from pmae_core.jobs import JobKind, JobRecord, JobState, Resources
from pmae_core.jobs.engines.gpus import visible_gpus
from pmae_core.jobs.params import MAX_SEED
from pmae_core.words import count, duration

SECTION = "train"
MOST_RUNS = 50
NO_RUN = ""


@dataclass(frozen=True)
class TrainingPlan:
    """A training as it is set on the page."""

    table: str
    preset: str
    params: dict[str, Any]  # of the job
    seed: int
    resources: Resources
    problems: list[str]

    @property
    def question(self) -> estimates.Question:
        return estimates.Question.make(JobKind.TRAIN, self.params, self.resources)

    @property
    def name(self) -> str:
        return job_words(self.params["method"], shorten(self.table, 40), self.preset, self.seed)


# What to train


@fragment
def plan_part(table: OpenTable) -> None:
    columns = columns_of(table)
    if not columns.names:
        st.info(NOTHING_TO_LEARN)
        return
    network, masking = st.columns(2, gap="large")
    with network:
        architecture = _choice("architecture", "Architecture", ARCHITECTURES, default="mixer")
        preset = _choice("preset", "Preset", PRESETS, default="balanced")
    with masking:
        chosen_masking = _choose_masking()
        loss = _choose_loss(preset, len(table.frame))
    with st.expander("Every setting", icon=":material/tune:"):
        settings, changes = _choose_settings(preset, len(table.frame))
    device, resources = _choose_device()
    seed = choose_seed(
        section=SECTION,
        largest=MAX_SEED,
        help="Everything random follows from it: the same seed gives the same model.",
        width=220,
    )
    params = {**chosen_masking.params, "preset": preset, **changes, **device}
    if loss != preset_values(preset, len(table.frame))["loss"]:
        params["loss"] = loss
    fill = settings.pop("fill")
    plan = TrainingPlan(
        table=table.name,
        preset=preset,
        params={"method": METHODS[architecture], "params": params, "impute": fill},
        seed=seed,
        resources=resources,
        problems=problems(settings, architecture),
    )
    _show_start(plan, table)


def _choice(name: str, label: str, sentences: dict[str, str], *, default: str) -> str:
    """Ask for one of a few; the sentence of the chosen one stands below."""
    titles = {key: words.partition(":")[0] for key, words in sentences.items()}
    chosen: str = memory.remembered(
        st.selectbox,
        label,
        section=SECTION,
        name=name,
        default=default,
        options=list(sentences),
        format_func=titles.__getitem__,
    )
    sentence = sentences[chosen].partition(": ")[2]
    st.caption(sentence[0].upper() + sentence[1:])
    return chosen


def _choose_loss(preset: str, n_rows: int) -> str:
    titles = {"paper": "Per column", "grouped": "In two groups", "remasker": "Per cell"}
    chosen: str = memory.remembered(
        st.selectbox,
        "Loss",
        section=SECTION,
        name=f"{_slug(preset)}__loss",
        default=preset_values(preset, n_rows)["loss"],
        options=list(LOSSES),
        format_func=titles.__getitem__,
        help="What the network tries to make small.",
    )
    st.caption(LOSSES[chosen])
    return chosen


def _choose_masking() -> TrainingMasking:
    from_lab = lab_masking(session.workspace().get("masking_lab"))
    is_from_lab = False
    if from_lab is not None:
        is_from_lab = memory.remembered(
            st.toggle,
            "Mask as in the Masking lab",
            section=SECTION,
            name="lab_masking",
            default=True,
            help="Switch it off to choose a masking for training alone.",
        )
    if from_lab is not None and is_from_lab:
        chosen = training_masking(from_lab)
        st.markdown(f"Masking: **{plain(chosen.words)}**")
    else:
        chosen = training_masking(_own_masking())
    if chosen.note:
        st.caption(chosen.note)
    if from_lab is None:
        st.caption(
            "How many cells of each column are masked in practice. The Masking lab shows it, and "
            "what you set there is taken here."
        )
    return chosen


def _own_masking() -> Masking:
    function = choose_function(
        section=SECTION,
        help="How the share of cells to mask in a column follows from the share of rows in which "
        "it is observed.",
    )
    has_sliders = function.name in ("logit", "constant")
    params = choose_params(function, section=SECTION) if has_sliders else {}
    return Masking(function.name, params)


# Every setting


def _choose_settings(preset: str, n_rows: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ask for every setting; return all of them, and those that differ from the preset."""
    values = preset_values(preset, n_rows)
    st.caption(
        "The preset has set all of these. Change what you understand; each preset remembers your "
        "own changes."
    )
    chosen: dict[str, Any] = {}
    unit = length_unit(values)
    for title, group in GROUPS.items():
        st.markdown(f"**{title}**")
        with st.container(horizontal=True, gap="medium"):
            if title == "Length and pace":
                unit = _choose_unit(preset, unit)
                lengths = values if unit == length_unit(values) else LENGTH_DEFAULTS
                for setting in LENGTHS[unit]:
                    chosen[setting.name] = _choose_setting(setting, preset, lengths[setting.name])
            for setting in group:
                chosen[setting.name] = _choose_setting(setting, preset, values[setting.name])
    changes = changed_settings(chosen, preset, n_rows, unit=unit)
    st.markdown("**Calculation**")
    with st.container(horizontal=True, gap="medium"):
        precision = _choose_setting(PRECISION, preset, "auto")
        fill = memory.remembered(
            st.toggle,
            "Fill the table at the end",
            section=SECTION,
            name="fill",
            default=True,
            help="Fills the holes once the model is trained. The model can fill others later.",
        )
    if precision != "auto":
        changes["precision"] = precision
    if changes:
        _show_changes(changes, preset, n_rows)
    return {**chosen, "fill": fill}, changes


def _show_changes(changes: Iterable[str], preset: str, n_rows: int) -> None:
    """Name the settings that differ from the preset, and offer to take them back."""
    st.caption(f"Different from the preset: {', '.join(map(code, changes))}.")
    st.button(
        "Back to the preset",
        icon=":material/restart_alt:",
        key=f"{SECTION}:reset",
        on_click=calm(_back_to_preset),
        args=(preset, n_rows),
    )


def _choose_unit(preset: str, default: str) -> str:
    chosen: str = memory.remembered(
        st.selectbox,
        "Counted in",
        section=SECTION,
        name=f"{_slug(preset)}__unit",
        default=default,
        options=list(LENGTHS),
        help="A step is one correction after a few rows, an epoch is once through the table.",
        width=220,
    )
    return chosen


def _choose_setting(setting: Setting, preset: str, default: Any) -> Any:
    name = f"{_slug(preset)}__{setting.name}"
    if setting.options is not None:
        words = setting.options
        return memory.remembered(
            st.selectbox,
            setting.label,
            section=SECTION,
            name=name,
            default=default,
            options=list(words),
            format_func=words.__getitem__,
            help=setting.sentence,
            width=300,
        )
    limits = (setting.low, setting.high, setting.step)
    number = int if all(isinstance(limit, int) for limit in limits) else float
    return memory.remembered(
        st.number_input,
        setting.label,
        section=SECTION,
        name=name,
        default=number(default),
        min_value=number(setting.low),
        max_value=number(setting.high),
        step=number(setting.step),
        format=setting.format,
        help=setting.sentence,
        width=220,
    )


def _back_to_preset(preset: str, n_rows: int) -> None:
    values = preset_values(preset, n_rows)
    unit = length_unit(values)
    names = [setting.name for group in GROUPS.values() for setting in group]
    names += [setting.name for setting in LENGTHS[unit]]
    restored = {name: values[name] for name in names} | {"unit": unit, "precision": "auto"}
    memory.remember(SECTION, **{f"{_slug(preset)}__{k}": v for k, v in restored.items()})


def _slug(preset: str) -> str:
    return preset.replace("-", "_")


# Where it runs, what it costs


def _choose_device() -> tuple[dict[str, str], Resources]:
    """Ask for the device where there is a choice, and say which it will be."""
    engine = runs.engine()
    resources = engine.default_resources()
    n_gpus = len(visible_gpus())
    if engine.name != "ray" and not n_gpus:
        # Not "cpu": a Mac has a GPU that only torch can tell of.
        st.caption(f":material/memory: {_device_sentence(engine.name, resources)}")
        return {}, resources
    wants_gpu = memory.remembered(
        st.toggle,
        "Use a GPU",
        section=SECTION,
        name="gpu",
        default=engine.name != "ray",
        help="Small tables train as fast without one.",
    )
    resources = Resources(threads=resources.threads, gpus=int(wants_gpu))
    st.caption(f":material/memory: {_device_sentence(engine.name, resources)}")
    return ({} if wants_gpu else {"device": "cpu"}), resources


def _device_sentence(engine: str, resources: Resources) -> str:
    threads = count(resources.threads, "thread")
    if engine == "ray":
        what = "a GPU" if resources.gpus else f"{threads} of a processor"
        return f"It will run on the Ray cluster, on {what}, as soon as a node has it free."
    if resources.gpus:
        return f"It will run on a GPU of this computer, one of {len(visible_gpus())}."
    or_apple = ", or on its GPU if torch can use it" if sys.platform == "darwin" else ""
    return f"It will run on the processor of this computer, with {threads}{or_apple}: no GPU found."


def _show_start(plan: TrainingPlan, table: OpenTable) -> None:
    for problem in plan.problems:
        st.warning(problem, icon=":material/warning:")
    if not share_missing(table.digest, table):
        st.info(
            "Nothing is missing in this table: a model can be trained, but there is nothing to "
            "fill. Make holes in the Amputation lab to see how well it would do."
        )
    cannot = bool(plan.problems)
    is_started, is_asked = estimates.start_buttons(
        "Start training",
        section=SECTION,
        asking="Trains for some seconds to find out. Nothing is kept.",
        disabled=cannot,
    )
    if is_started:
        calm(_start)(plan)
        st.rerun()
    if is_asked:
        with shown_errors():
            estimates.start(plan.question)
    if not cannot:
        estimates.show(plan.question, trying="Trying for some seconds how fast it learns")


def _start(plan: TrainingPlan) -> None:
    known = estimates.answer(plan.question).estimate
    started = runs.submit(
        JobKind.TRAIN,
        plan.params,
        name=plan.name,
        seed=plan.seed,
        resources=plan.resources,
        estimate=known,
    )
    memory.remember(SECTION, run=started.id)


# Runs


def runs_part() -> None:
    found = runs.records(kinds=[JobKind.TRAIN], limit=MOST_RUNS)
    st.header("Runs", anchor=False)
    if not found:
        st.info(
            "You have trained nothing yet. Press **Start training**: the preset is a good first "
            "choice, and everything can be stopped and resumed. Your runs will be listed here.",
            icon=":material/model_training:",
        )
        return
    labels = runs.labels(found)
    chosen = memory.remembered(
        st.selectbox,
        "Which run?",
        section=SECTION,
        name="run",
        default=found[0].id,
        options=list(labels),
        format_func=labels.get,
    )
    others = [run.id for run in found if run.id != chosen]
    runs.watch(_draw_run, [chosen])
    if others:
        _show_overlay(labels, chosen, others)
    _show_history(found)


def _draw_run(found: list[JobRecord]) -> None:
    if not found:
        st.info("This run was removed. Choose another one.")
        return
    (run,) = found
    runs.show_job(run, key=SECTION)
    curves = _heard(run.id)
    _show_facts(run, curves)
    if run.state is JobState.SUCCEEDED and run.result is not None:
        _show_result(run.result)
    if not len(curves):
        if run.state is JobState.RUNNING:
            st.caption("The curves begin with the first steps.")
        return
    _show_curves(run, curves)


def _heard(job_id: str) -> Curves:
    """Return the curves of a run with all that happened by now."""
    curves = _curves(job_id)
    curves.hear(runs.store().events(job_id, after=curves.heard))
    return curves


@st.cache_resource(max_entries=32, show_spinner=False)
def _curves(job_id: str) -> Curves:
    return Curves()


def _show_facts(run: JobRecord, curves: Curves) -> None:
    """Say what it runs on, and what was expected."""
    facts = []
    if curves.device is not None:
        place = "a node of the Ray cluster" if run.engine == "ray" else "this computer"
        device = "the processor" if curves.device == "cpu" else f"the GPU ({plain(curves.device)})"
        facts.append(f"on {device} of {place}")
        if curves.precision != "float32":
            facts.append(f"numbers in {plain(curves.precision)}")
        facts.append(f"{count(curves.n_parameters or 0, 'weight')} in the network")
    if curves.rows_per_second and run.state is JobState.RUNNING:
        facts.append(f"{curves.rows_per_second:,.0f} rows a second")
    if run.memory_mb:
        facts.append(f"{run.memory_mb:,.0f} MB of memory")
    if run.estimate and run.estimate.get("total_seconds"):
        facts.append(f"estimated at {estimates.time_expected(run.estimate)}")
    if curves.batch_size is not None:
        facts.append(f"rows in a step cut to {curves.batch_size:,} as memory ran out")
    if facts:
        text = " · ".join(facts)
        st.caption(text[0].upper() + text[1:])


def _show_result(result: dict[str, Any]) -> None:
    sentences = []
    training = result.get("training") or {}
    if training.get("reason") == "early":
        sentences.append(
            f"It stopped at step {training['step']:,}, since the held-out cells got no better."
        )
    if training.get("best_score") is not None:
        sentences.append(
            f"The model is that of step {training['best_step']:,}, with an error of "
            f"{training['best_score']:.4g} on held-out cells."
        )
    if result.get("n_imputed") is not None:
        sentences.append(f"{count(result['n_imputed'], 'hole')} filled: take them on Impute.")
    left = result.get("still_missing") or {}
    if left:
        names = ", ".join(code(name) for name in list(left)[:5])
        sentences.append(f"Not filled, since they cannot be learned: {names}.")
    if sentences:
        st.success(" ".join(sentences), icon=":material/check_circle:")
    for note in result.get("notes", []):
        st.warning(plain(note))


def _show_curves(run: JobRecord, curves: Curves) -> None:
    losses, validation = curves.losses(), curves.validation()
    left, right = st.columns(2, gap="large")
    with left:
        show_figure(
            loss_figure(losses, total_steps=curves.total_steps),
            question="Does it learn to predict what it cannot see?",
            key="train-losses",
            data=losses,
            caption="Predicting masked cells is the task that matters for holes. Giving back seen "
            "cells is easier, and falls first.",
        )
    with right:
        if len(validation):
            show_figure(
                validation_figure(validation, total_steps=curves.total_steps),
                question="Does it fill cells better that it never saw?",
                key="train-validation",
                data=validation,
                caption="Cells held back from training, filled and scored. When this rises while "
                "the losses fall, the network learns by heart; the best model is the one kept.",
            )
        elif run.spec.params["params"].get("preset", "balanced").startswith("paper"):
            st.caption(
                "This run holds no cells back, as in the paper, so there is no validation score."
            )
    names = column_names(run.spec.table_schema, curves.n_columns)
    columns = curves.columns(names)
    if columns["now"].notna().any():
        _show_columns(curves, columns, names)


def _show_columns(curves: Curves, columns: pd.DataFrame, names: list[str]) -> None:
    left, right = st.columns(2, gap="large")
    n_known = int(columns["now"].notna().sum())
    more = f" Shown: the {MOST_COLUMNS} worst of {n_known}." if n_known > MOST_COLUMNS else ""
    with left:
        show_figure(
            columns_figure(columns),
            question="Which columns does it learn?",
            key="train-columns",
            data=columns,
            caption="From the grey dot, at the beginning, to the colored one, by now. A column "
            f"that does not move cannot be told from the others.{more}",
        )
    with right:
        focus = memory.remembered(
            st.selectbox,
            "One column closely",
            section=SECTION,
            name="focus",
            default=columns["column"][0],
            options=names,  # in the order of the table: a list that moves is hard to hit
        )
        curve = curves.column(names.index(focus))
        show_figure(
            loss_figure(curve, total_steps=curves.total_steps),
            question=f"How does it learn {code(focus)}?",
            key="train-column",
            data=curve,
        )


# Two runs in one picture


def _show_overlay(labels: dict[str, str], chosen: str, others: list[str]) -> None:
    other = memory.remembered(
        st.selectbox,
        "Lay another run over it",
        section=SECTION,
        name="other",
        default=NO_RUN,
        options=[NO_RUN, *others],
        format_func=lambda job_id: labels.get(job_id, "None"),
    )
    if other:
        runs.watch(_draw_overlay, [chosen, other])


def _draw_overlay(found: list[JobRecord]) -> None:
    if len(found) < 2:
        return
    first, second = found
    curves = [_heard(run.id) for run in found]
    scores = [one.validation().rename(columns={"score": "value"}) for one in curves]
    axis = "error on held-out cells"
    if not all(len(score) for score in scores):
        scores = [one.losses().rename(columns={"prediction": "value"}) for one in curves]
        axis = "error in predicting masked cells"
    if not all(len(score) for score in scores):
        st.caption("One of the two runs has no curve yet.")
        return
    labels = [f"{number}. {run.name or run.id[:8]}" for number, run in enumerate(found, start=1)]
    tables = dict(zip(labels, (score[["step", "value"]] for score in scores), strict=True))
    show_figure(
        overlay_figure(tables, axis=axis),
        question="Which of the two learns better?",
        key="train-overlay",
        data=lambda: pd.concat(tables, names=["run"]).reset_index("run"),
        caption=_differences_sentence(first, second),
    )


def _differences_sentence(first: JobRecord, second: JobRecord) -> str:
    found = differences(first.spec, second.spec)
    if not found:
        return "Both have the same table, settings and seed."
    if any(name == "table" for name, *_ in found):
        beginning = "They learn from different tables, so compare the shapes, not the heights. "
    elif any(name in ("loss", "numeric", "categorical", "validation_share") for name, *_ in found):
        beginning = "They measure errors differently, so compare the shapes, not the heights. "
    else:
        beginning = ""
    words = [
        f"{code(name)} ({plain(one)} and {plain(other)})"
        for name, one, other in (_with_words(row) for row in found)
        if name != "table"
    ]
    return beginning + (f"They differ in {'; '.join(words)}." if words else "")


def _with_words(row: tuple[str, Any, Any]) -> tuple[str, str, str]:
    name, *values = row
    first, second = ("as in the preset" if value is None else str(value) for value in values)
    return name, first, second


# All runs


def _show_history(found: list[JobRecord]) -> None:
    with st.expander(f"All runs ({len(found)})", icon=":material/history:"):
        st.dataframe(
            pd.DataFrame([_history_row(run) for run in found]),
            hide_index=True,
            width="stretch",
            key=f"{SECTION}:history",
            column_config={
                "Error on held-out cells": st.column_config.NumberColumn(format="%.4f"),
                "Steps": st.column_config.NumberColumn(format="localized"),
                "Filled": st.column_config.NumberColumn(format="localized"),
            },
        )


def _history_row(run: JobRecord) -> dict[str, Any]:
    params, result = run.spec.params, run.result or {}
    training = result.get("training") or {}
    taken = runs.seconds_taken(run)
    return {
        "Run": run.name,
        "State": runs.STATE_WORDS[run.state].label,
        "Preset": params["params"].get("preset", "balanced"),
        "Seed": run.spec.seed,
        "Steps": training.get("step"),
        "Error on held-out cells": training.get("best_score"),
        "Filled": result.get("n_imputed"),
        "Took": None if taken is None else duration(taken),
        "Started": runs.browser_moment(run.created_at),
    }


st.title("Train")
st.markdown(
    "A network looks at the cells that are known, **masks** some of them and learns to predict "
    "them from the others. Then it can fill the holes. Training goes on when you close this tab."
)
plan_part(session.open_table())
runs_part()
