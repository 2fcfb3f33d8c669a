"""What can be set before a training, each with a sentence, and what follows for the job.

Settings start from a preset. Only what differs from it goes into the job, so that the job's
document says what its user chose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.masking.lab import Masking
from dashboard.text import code
from pmae_core.imputers.masked.presets import resolve_settings
from pmae_core.jobs import JobSpec
from pmae_core.masking import list_masking_functions

METHODS = {"mixer": "pmae-mix", "transformer": "pmae-trf"}

ARCHITECTURES = {
    "mixer": "Mixer: a small dense network mixes the columns. Fast, and good on most tables.",
    "transformer": "Transformer: attention mixes the columns. Slower; it can pay on tables with "
    "many columns that hang together.",
}
PRESETS = {
    "balanced": "Balanced: a good model in minutes. It starts from a simple statistical answer, "
    "improves on it, and stops by itself when held-out cells get no better.",
    "fast": "Fast: a first look. A smaller network and far fewer steps.",
    "paper-steps": "Paper, short: the paper’s network and loss, with 1,000 small steps instead of "
    "600 epochs: in minutes, and less good.",
    "paper": "Paper, to the letter: 600 epochs. It takes hours without a GPU.",
}
LOSSES = {
    "paper": "Every column counts the same: its mean error, summed over columns.",
    "grouped": "As the paper’s code was released: columns with and without holes are two groups, "
    "and each group’s mean counts.",
    "remasker": "As in ReMasker: every cell counts the same, so full columns weigh more.",
}


@dataclass(frozen=True)
class Setting:
    """One setting: its name for the imputer, a label, a sentence, and what it can be."""

    name: str
    label: str
    sentence: str
    options: Mapping[Any, str] | None = None
    low: float | None = None
    high: float | None = None
    step: float | None = None
    format: str | None = None


GROUPS: Mapping[str, tuple[Setting, ...]] = {
    "Network": (
        Setting(
            "width",
            "Width",
            "Numbers by which the network describes a cell. More can hold more, and costs more.",
            low=2,
            high=512,
            step=2,
        ),
        Setting(
            "encoder_depth",
            "Depth of the encoder",
            "Layers that look at what is known of a row.",
            low=1,
            high=24,
            step=1,
        ),
        Setting(
            "decoder_depth",
            "Depth of the decoder",
            "Layers that turn what was understood into values.",
            low=1,
            high=24,
            step=1,
        ),
        Setting(
            "heads",
            "Attention heads",
            "In how many ways a transformer compares columns; must divide the width.",
            low=1,
            high=64,
            step=1,
        ),
        Setting(
            "mlp_ratio",
            "Inner width",
            "How many times wider than the network its inner layers are.",
            low=0.5,
            high=16.0,
            step=0.5,
        ),
        Setting(
            "mixing_width",
            "Widest mixing of columns",
            "Most inner units of a mixer’s layers along the columns, which keeps tables with "
            "hundreds of columns affordable; 0 for no bound.",
            low=0,
            high=65536,
            step=16,
        ),
        Setting(
            "dropout",
            "Dropout",
            "Share of the network switched off at random in each step; it guards small tables "
            "against learning by heart.",
            low=0.0,
            high=0.9,
            step=0.05,
        ),
        Setting(
            "start",
            "Start",
            "Where the network begins. It can improve on the answer of a joint normal "
            "distribution, which helps small tables, or begin from nothing.",
            options={"gaussian": "From a joint normal distribution", "none": "From nothing"},
        ),
    ),
    "Length and pace": (
        Setting(
            "batch_size",
            "Rows in a step",
            "How many rows the network sees before it corrects itself.",
            low=1,
            high=65536,
            step=1,
        ),
        Setting(
            "learning_rate",
            "Learning rate",
            "How far it corrects itself in a step. Too large and the curves jump, too small and "
            "nothing happens.",
            low=1e-6,
            high=1.0,
            step=1e-4,
            format="%.6f",
        ),
        Setting(
            "final_learning_rate",
            "Learning rate at the end",
            "The rate falls to this value along a cosine.",
            low=0.0,
            high=1.0,
            step=1e-5,
            format="%.6f",
        ),
        Setting(
            "weight_decay",
            "Weight decay",
            "How strongly weights are pulled toward 0; it keeps the network simple.",
            low=0.0,
            high=1.0,
            step=0.01,
            format="%.4f",
        ),
        Setting(
            "average_decay",
            "Average of the weights",
            "The model is a moving average of its last weights with this memory, which calms it; "
            "0 takes the last weights.",
            low=0.0,
            high=0.9999,
            step=0.01,
            format="%.4f",
        ),
    ),
    "Validation": (
        Setting(
            "validation_share",
            "Rows that lend cells for validation",
            "In this share of rows some known cells are held back, to see how well the network "
            "fills cells it never saw; 0 for none.",
            low=0.0,
            high=0.9,
            step=0.05,
        ),
        Setting(
            "validate_every",
            "Steps between validations",
            "How often the held-back cells are filled and scored.",
            low=1,
            high=100_000,
            step=5,
        ),
        Setting(
            "patience",
            "Patience",
            "Training stops after so many validations without improvement; 0 never stops early.",
            low=0,
            high=10_000,
            step=1,
        ),
        Setting(
            "correct_means",
            "Numbers are filled with",
            "In a skewed column such as incomes the mean is far from the middle. The held-back "
            "cells teach where it is.",
            options={True: "The mean that can be expected", False: "Nearly the middle value"},
        ),
    ),
    "Cells": (
        Setting(
            "categorical",
            "Categories",
            "How the network sees categories.",
            options={
                "softmax": "As categories, with a probability for each",
                "scalar": "As numbers, the paper’s way",
            },
        ),
        Setting(
            "numeric",
            "Numbers",
            "How numbers are scaled before the network sees them; they come back in their units.",
            options={
                "rank": "By rank, exactly invertible",
                "quantile": "By quantiles, the paper’s way",
                "standard": "To mean 0 and spread 1",
                "minmax": "Between smallest and largest",
            },
        ),
        Setting(
            "min_category_count",
            "Rare categories",
            "Categories with fewer rows than this are learned as one.",
            options={
                "auto": "Fewer than 1% of the rows",
                "paper": "The paper’s rule: 1%, and at least 30 rows",
                2: "Fewer than 2 rows",
                5: "Fewer than 5 rows",
                10: "Fewer than 10 rows",
                30: "Fewer than 30 rows",
                100: "Fewer than 100 rows",
            },
        ),
    ),
    "Masking in training": (
        Setting(
            "p_obs",
            "Observed shares",
            "Where the share of rows in which a column is observed comes from.",
            options={
                "batch": "From the rows of each step, as in the paper",
                "table": "From the whole table",
            },
        ),
        Setting(
            "copy_share",
            "Rows that copy another row’s holes",
            "In this share of rows the masked cells are the holes of another row, so that the "
            "network practises on the patterns that the table really has.",
            low=0.0,
            high=1.0,
            step=0.05,
        ),
    ),
}

LENGTHS: Mapping[str, tuple[Setting, Setting]] = {
    "steps": (
        Setting(
            "steps",
            "Steps",
            "How often the network corrects itself, at most.",
            low=1,
            high=1_000_000,
            step=100,
        ),
        Setting(
            "warmup_steps",
            "Steps of warm-up",
            "The learning rate rises from 0 over so many steps.",
            low=0,
            high=100_000,
            step=10,
        ),
    ),
    "epochs": (
        Setting(
            "epochs",
            "Epochs",
            "How often the network sees the whole table, at most.",
            low=1,
            high=100_000,
            step=10,
        ),
        Setting(
            "warmup_epochs",
            "Epochs of warm-up",
            "The learning rate rises from 0 over so many epochs.",
            low=0,
            high=10_000,
            step=5,
        ),
    ),
}
LENGTH_DEFAULTS = {"steps": 1000, "warmup_steps": 50, "epochs": 300, "warmup_epochs": 20}

PRECISION = Setting(
    "precision",
    "Number format",
    "bfloat16 is faster on new GPUs and a little less exact.",
    options={
        "auto": "As the device does best",
        "float32": "float32, 7 digits",
        "bfloat16": "bfloat16, 3 digits",
    },
)


def preset_values(preset: str, n_rows: int) -> dict[str, Any]:
    """Return every setting of a preset as its widget shows it; none of "no such thing" is 0."""
    values = resolve_settings(preset, {}, n_rows)
    for name in ("patience", "average_decay", "mixing_width"):
        values[name] = values[name] or 0
    return values


def length_unit(values: Mapping[str, Any]) -> str:
    """Return in what the length of a training is counted."""
    return "epochs" if values["epochs"] is not None else "steps"


def changed_settings(
    chosen: Mapping[str, Any], preset: str, n_rows: int, *, unit: str
) -> dict[str, Any]:
    """Return what goes into the job: the settings that are not those of the preset.

    Examples
    --------
    >>> values = preset_values("fast", 100)
    >>> changed_settings({**values, "width": 64}, "fast", 100, unit="steps")
    {'width': 64}
    """
    values = preset_values(preset, n_rows)
    own = unit == length_unit(values)
    other = {"steps": ("epochs", "warmup_epochs"), "epochs": ("steps", "warmup_steps")}[unit]
    lengths = {setting.name for setting in LENGTHS[unit]}
    changed = {
        name: value
        for name, value in chosen.items()
        if name not in other and (value != values.get(name) or (not own and name in lengths))
    }
    if not own:
        changed[other[1]] = 0  # that of the preset would be added to the chosen one
    return changed


def problems(settings: Mapping[str, Any], architecture: str) -> list[str]:
    """Return why a network cannot be built like this, as sentences."""
    found = []
    if settings["width"] % 2:
        found.append(f"The width must be even, and {settings['width']} is not.")
    if architecture == "transformer" and settings["width"] % settings["heads"]:
        found.append(
            f"{settings['heads']} attention heads do not divide a width of {settings['width']}. "
            "Take a width that they divide, such as 32 with 4 heads."
        )
    if settings["start"] == "gaussian" and settings["categorical"] == "scalar":
        found.append(
            "A start from a joint normal distribution needs categories as categories. "
            "Change one of the two."
        )
    return found


# Masking


@dataclass(frozen=True)
class TrainingMasking:
    """A masking for the job's parameters, in words, and what could not be taken over."""

    params: Mapping[str, Any]
    words: str
    note: str = ""


def training_masking(masking: Masking) -> TrainingMasking:
    """Return a masking of the lab as a training takes it.

    Examples
    --------
    >>> training_masking(Masking("constant", {"rate": 0.3})).params
    {'masking': 'logit', 'a': 0.0, 'b': 0.3}
    """
    values = masking.values()
    words = ", ".join(f"{name} = {value:g}" for name, value in values.items())
    title = masking.info.title + (f" with {words}" if words else "")
    if masking.function == "logit":
        return TrainingMasking({"masking": "logit", "a": values["a"], "b": values["b"]}, title)
    if masking.function == "constant":
        # The logit without a slope masks the same cells with the same probability.
        return TrainingMasking({"masking": "logit", "a": 0.0, "b": values["rate"]}, title)
    changed = [name for name in values if values[name] != masking.info.parameters[name]]
    note = ""
    if changed:
        defaults = " and ".join(f"{masking.info.parameters[name]:g}" for name in changed)
        names = " and ".join(code(name) for name in changed)
        note = f"Training uses {names} = {defaults}, the paper’s; the lab’s own is for looking."
    return TrainingMasking({"masking": masking.function}, masking.info.title, note)


def lab_masking(settings: Mapping[str, Any]) -> Masking | None:
    """Return what was chosen in the masking lab; None if nothing was, or it makes no sense."""
    if not settings:
        return None
    known = {function.name: function for function in list_masking_functions()}
    function = known.get(settings.get("function", "logit"))
    if function is None:
        return None
    given = {name: settings.get(name, default) for name, default in function.parameters.items()}
    if not all(isinstance(value, int | float) for value in given.values()):
        return None
    if not {"function", *function.parameters} & set(settings):
        return None  # the lab was visited, and nothing in it set
    return Masking(function.name, {name: float(value) for name, value in given.items()})


# The job in words


def job_words(method: str, table: str, preset: str, seed: int) -> str:
    """Return what to call a training.

    Examples
    --------
    >>> job_words("pmae-mix", "penguins", "fast", 3)
    'PMAE (mixer) on penguins, fast, seed 3'
    """
    title = {"pmae-mix": "PMAE (mixer)", "pmae-trf": "PMAE (transformer)"}.get(method, method)
    return f"{title} on {table}, {preset}, seed {seed}"


def differences(first: JobSpec, second: JobSpec) -> list[tuple[str, Any, Any]]:
    """Return in what two trainings differ: the name, its value in the first and in the second."""
    flat = [
        {"method": spec.params["method"], "seed": spec.seed, "table": spec.table}
        | dict(spec.params["params"])
        for spec in (first, second)
    ]
    names = list(dict.fromkeys([*flat[0], *flat[1]]))
    values = [(name, *(one.get(name) for one in flat)) for name in names]
    return [row for row in values if row[1] != row[2]]
