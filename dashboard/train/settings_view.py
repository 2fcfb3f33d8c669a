"""The settings of a new training: what to train, its masking, every detail on demand, Start."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import runs
from dashboard.masking.caches import columns_of
from dashboard.masking.lab import NOTHING_TO_LEARN, Masking
from dashboard.masking.sliders import choose_function, choose_params
from dashboard.runs import estimates
from dashboard.shell.header import share_missing
from dashboard.state import memory, session
from dashboard.state.table_state import OpenTable
from dashboard.text import code, plain
from dashboard.train.settings import (
    ARCHITECTURES,
    GROUPS,
    LENGTH_DEFAULTS,
    LENGTHS,
    LOSSES,
    METHODS,
    PRECISION,
    PRESETS,
    SHARED_IN_A_BLEND,
    Setting,
    TrainingMasking,
    changed_settings,
    job_params,
    job_words,
    lab_masking,
    length_unit,
    preset_title,
    preset_values,
    presets_of,
    problems,
    training_masking,
)
from dashboard.widgets import choose_seed, errors_as_notices, fragment, shown_errors
from pmae_core.jobs import JobKind, Resources
from pmae_core.jobs.engines.gpus import visible_gpus
from pmae_core.jobs.params import MAX_SEED
from pmae_core.words import count, shorten

SECTION = "train"


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
        """What an estimate is asked about."""
        return estimates.Question.make(JobKind.TRAIN, self.params, self.resources)

    @property
    def name(self) -> str:
        """What to call the run."""
        return job_words(self.params["method"], shorten(self.table, 40), self.preset, self.seed)


@fragment
def show_settings(table: OpenTable) -> None:
    """Draw the settings of a new training of the open table, with the button that starts it."""
    if not columns_of(table).names:
        st.info(NOTHING_TO_LEARN)
        return
    model_place, preset_place, masking_place = st.columns([2, 3, 3], gap="medium")
    with model_place:
        architecture = _choose_model()
        advanced_place = st.popover("Advanced settings", icon=":material/tune:", width="stretch")
    with preset_place:
        preset = _choose_preset(architecture)
    with masking_place:
        masking = _choose_masking(advanced_place)
    with advanced_place:
        settings, changes = _choose_settings(architecture, preset, len(table.frame))
        device, resources = _choose_device()
        seed = choose_seed(
            section=SECTION,
            largest=MAX_SEED,
            help="All randomness follows from it: the same seed gives the same model.",
            width=220,
        )
    if changes:
        _show_changes(changes, preset, len(table.frame))
    imputes = settings.pop("impute")
    plan = TrainingPlan(
        table=table.name,
        preset=preset,
        params={
            "method": METHODS[architecture],
            "params": job_params(architecture, preset, masking.params, changes, device),
            "impute": imputes,
        },
        seed=seed,
        resources=resources,
        problems=problems(settings, architecture),
    )
    _show_start(plan, table)


# What to train


def _choose_model() -> str:
    titles = {name: words.partition(":")[0] for name, words in ARCHITECTURES.items()}
    chosen: str = memory.remembered(
        st.selectbox,
        "Model",
        section=SECTION,
        name="architecture",
        default="mixer",
        options=list(ARCHITECTURES),
        format_func=titles.__getitem__,
        help="\n".join(f"- **{words.replace(':', ':**', 1)}" for words in ARCHITECTURES.values()),
    )
    return chosen


def _choose_preset(architecture: str) -> str:
    chosen: str = memory.remembered(
        st.segmented_control,
        "Preset",
        section=SECTION,
        name="preset",
        default="balanced",
        options=presets_of(architecture),
        format_func=preset_title,
        required=True,
        width="stretch",
    )
    sentence = PRESETS[chosen].partition(": ")[2]
    st.caption(sentence[0].upper() + sentence[1:])
    return chosen


def _choose_masking(sliders_place: DeltaGenerator) -> TrainingMasking:
    """Take the masking of the Masking lab, or ask for one, with sliders in a place of their own."""
    from_lab = lab_masking(session.workspace().get("masking_lab"))
    if from_lab is not None and memory.remembered(
        st.toggle,
        "Masking from the Masking lab",
        section=SECTION,
        name="lab_masking",
        default=True,
        help="Switch it off to choose another masking for training.",
    ):
        chosen = training_masking(from_lab)
        st.caption(f"Masking: **{plain(chosen.words)}**, as set in the Masking lab.")
    else:
        chosen = training_masking(_own_masking(sliders_place))
        st.caption(
            f"**{plain(chosen.words)}**. Change it in Advanced settings or in the Masking lab."
        )
    if chosen.note:
        st.caption(chosen.note)
    return chosen


def _own_masking(sliders_place: DeltaGenerator) -> Masking:
    function = choose_function(
        section=SECTION,
        help="How the share of masked cells in a column follows from its observed share.",
    )
    has_sliders = function.name in ("logit", "constant")
    with sliders_place:
        params = choose_params(function, section=SECTION) if has_sliders else {}
    return Masking(function.name, params)


# Advanced settings


def _choose_settings(
    architecture: str, preset: str, n_rows: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ask for every setting; return all of them, and those that differ from the preset."""
    values = preset_values(preset, n_rows)
    st.caption("The preset sets all of these, and each preset remembers your own changes.")
    chosen: dict[str, Any] = {"loss": _choose_loss(preset, values["loss"])}
    unit = length_unit(values)
    fixed = SHARED_IN_A_BLEND if architecture == "blend" else ()
    for title, group in GROUPS.items():
        free = [setting for setting in group if setting.name not in fixed]
        chosen |= {setting.name: values[setting.name] for setting in group if setting not in free}
        if not free:
            continue
        st.markdown(f"**{title}**")
        with st.container(horizontal=True, gap="medium"):
            if title == "Length and pace":
                unit = _choose_unit(preset, unit)
                lengths = values if unit == length_unit(values) else LENGTH_DEFAULTS
                for setting in LENGTHS[unit]:
                    chosen[setting.name] = _choose_setting(setting, preset, lengths[setting.name])
            for setting in free:
                chosen[setting.name] = _choose_setting(setting, preset, values[setting.name])
    changes = changed_settings(chosen, preset, n_rows, unit=unit)
    st.markdown("**Computation**")
    with st.container(horizontal=True, gap="medium"):
        precision = _choose_setting(PRECISION, preset, "auto")
        imputes = memory.remembered(
            st.toggle,
            "Impute the table at the end",
            section=SECTION,
            name="fill",
            default=True,
            help="The trained model can also impute other tables later.",
        )
    if precision != "auto":
        changes["precision"] = precision
    return {**chosen, "impute": imputes}, changes


def _choose_loss(preset: str, default: str) -> str:
    titles = {name: words.partition(":")[0] for name, words in LOSSES.items()}
    chosen: str = memory.remembered(
        st.selectbox,
        "Loss",
        section=SECTION,
        name=f"{preset}__loss",
        default=default,
        options=list(LOSSES),
        format_func=titles.__getitem__,
        help="\n".join(f"- **{words.replace(':', ':**', 1)}" for words in LOSSES.values()),
        width=300,
    )
    return chosen


def _choose_unit(preset: str, default: str) -> str:
    chosen: str = memory.remembered(
        st.selectbox,
        "Counted in",
        section=SECTION,
        name=f"{preset}__unit",
        default=default,
        options=list(LENGTHS),
        help="A step is one weight update on a few rows; an epoch is one pass over the table.",
        width=220,
    )
    return chosen


def _choose_setting(setting: Setting, preset: str, default: Any) -> Any:
    name = f"{preset}__{setting.name}"
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


def _show_changes(changes: Iterable[str], preset: str, n_rows: int) -> None:
    """Name the settings that differ from the preset, and offer to reset them."""
    st.caption(f"Different from the preset: {', '.join(map(code, changes))}.")
    st.button(
        "Reset to the preset",
        icon=":material/restart_alt:",
        key=f"{SECTION}:reset",
        on_click=errors_as_notices(_reset_to_preset),
        args=(preset, n_rows),
    )


def _reset_to_preset(preset: str, n_rows: int) -> None:
    values = preset_values(preset, n_rows)
    unit = length_unit(values)
    names = [setting.name for group in GROUPS.values() for setting in group]
    names += ["loss", *(setting.name for setting in LENGTHS[unit])]
    restored = {name: values[name] for name in names} | {"unit": unit, "precision": "auto"}
    memory.remember(SECTION, **{f"{preset}__{name}": value for name, value in restored.items()})


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
        return f"Runs on the Ray cluster, on {what}, as soon as a node is free."
    if resources.gpus:
        return f"Runs on a GPU of this computer, one of {len(visible_gpus())}."
    or_apple = ", or on its GPU if torch can use it" if sys.platform == "darwin" else ""
    return f"Runs on the processor of this computer, with {threads}{or_apple}: no GPU found."


def _show_start(plan: TrainingPlan, table: OpenTable) -> None:
    for problem in plan.problems:
        st.warning(problem, icon=":material/warning:")
    if not share_missing(table.digest, table):
        st.info(
            "This table has no missing values: a model can be trained, but there is nothing to "
            "impute. Simulate missing values in the Amputation lab to test it."
        )
    cannot = bool(plan.problems)
    is_started, is_asked = estimates.start_buttons(
        "Start training",
        section=SECTION,
        asking="Trains for a few seconds to estimate the time. Nothing is kept.",
        disabled=cannot,
    )
    if is_started:
        errors_as_notices(_start)(plan)
        st.rerun()
    if is_asked:
        with shown_errors():
            estimates.start(plan.question)
    if not cannot:
        estimates.show(plan.question, trying="Training for a few seconds to estimate the time")


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
    memory.remember(SECTION, run=started.id, new=False)
