"""What can be set before a training, each with a sentence, and what follows for the job.

Settings start from a preset. Only what differs from it goes into the job, so that the job's
document says what its user chose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.masking.lab import Masking, lab_settings, masking_from
from dashboard.state.allowed_values import usable
from dashboard.text import code
from pmae_core.imputers.masked.presets import resolve_settings
from pmae_core.jobs import JobSpec

METHODS = {"mixer": "pmae-mix", "transformer": "pmae-trf", "blend": "pmae"}

ARCHITECTURES = {
    "mixer": "Mixer: a small dense network mixes the columns. Fast, and good on most tables.",
    "transformer": "Transformer: attention mixes the columns. Slower; it can pay off on tables "
    "with many related columns.",
    "blend": "Blend: the mixer together with trees and a Gaussian, weighted per column. Often the "
    "most accurate.",
}
PRESETS = {
    "fast": "Quick: a smaller network and fewer steps, for a first look.",
    "balanced": "Balanced: a good model in minutes. Training stops when held-out cells get no "
    "better.",
    "paper": "Paper: 600 epochs, exactly as published. It takes hours without a GPU.",
}
LOSSES = {
    "paper": "Per column: every column counts the same.",
    "grouped": "In two groups: columns with and without missing values, as in the released code "
    "of the paper.",
    "remasker": "Per cell: every cell counts the same, so complete columns weigh more.",
}
# What all members of a blend share, and its network cannot set.
SHARED_IN_A_BLEND = ("categorical", "numeric", "min_category_count", "validation_share")
_MEMBERS = ("network", "gaussian", "trees")


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
            "Numbers per cell inside the network. A wider network can learn more and takes longer.",
            low=2,
            high=512,
            step=2,
        ),
        Setting(
            "encoder_depth",
            "Depth of the encoder",
            "Layers that read the observed cells of a row.",
            low=1,
            high=24,
            step=1,
        ),
        Setting(
            "decoder_depth",
            "Depth of the decoder",
            "Layers that turn the encoding into values.",
            low=1,
            high=24,
            step=1,
        ),
        Setting(
            "heads",
            "Attention heads",
            "Attention patterns per layer of a transformer; must divide the width.",
            low=1,
            high=64,
            step=1,
        ),
        Setting(
            "mlp_ratio",
            "Inner width",
            "Width of the inner layers as a multiple of the network’s width.",
            low=0.5,
            high=16.0,
            step=0.5,
        ),
        Setting(
            "mixing_width",
            "Limit of mixing width",
            "Most hidden units of a mixer’s layers across columns, which keeps tables with "
            "hundreds of columns affordable; 0 for no limit.",
            low=0,
            high=65536,
            step=16,
        ),
        Setting(
            "dropout",
            "Dropout",
            "Share of the network switched off at random in each step, against overfitting on "
            "small tables.",
            low=0.0,
            high=0.9,
            step=0.05,
        ),
        Setting(
            "start",
            "Start",
            "What the network improves on: the prediction of a joint normal distribution, which "
            "helps on small tables, or nothing.",
            options={"gaussian": "From a joint normal distribution", "none": "From scratch"},
        ),
    ),
    "Length and pace": (
        Setting(
            "batch_size",
            "Rows per step",
            "Rows that the network sees before its weights change.",
            low=1,
            high=65536,
            step=1,
        ),
        Setting(
            "learning_rate",
            "Learning rate",
            "How far the weights move in a step. Too large and the curves jump; too small and "
            "nothing is learned.",
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
            "How strongly weights are pulled toward 0, which keeps the network simple.",
            low=0.0,
            high=1.0,
            step=0.01,
            format="%.4f",
        ),
        Setting(
            "average_decay",
            "Weight averaging",
            "The model is a moving average of its weights with this decay, which smooths it; 0 "
            "uses the last weights.",
            low=0.0,
            high=0.9999,
            step=0.01,
            format="%.4f",
        ),
    ),
    "Validation": (
        Setting(
            "validation_share",
            "Rows with held-out cells",
            "In this share of rows, some observed cells are held out to score the network; 0 for "
            "none.",
            low=0.0,
            high=0.9,
            step=0.05,
        ),
        Setting(
            "validate_every",
            "Steps between validations",
            "How often the held-out cells are predicted and scored.",
            low=1,
            high=100_000,
            step=5,
        ),
        Setting(
            "patience",
            "Patience",
            "Training stops after this many validations without improvement; 0 never stops early.",
            low=0,
            high=10_000,
            step=1,
        ),
        Setting(
            "correct_means",
            "Numbers are imputed as",
            "In a skewed column such as income, the mean is far from the median. Held-out cells "
            "show by how much.",
            options={True: "The expected mean", False: "Close to the median"},
        ),
    ),
    "Cells": (
        Setting(
            "categorical",
            "Categories",
            "How the network represents categories.",
            options={
                "softmax": "As categories, with a probability for each",
                "scalar": "As numbers, the paper’s way",
            },
        ),
        Setting(
            "numeric",
            "Numbers",
            "How numbers are scaled for the network; imputed values are in the original units.",
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
            "Which rows each column’s observed share is taken from.",
            options={
                "batch": "From the rows of each step, as in the paper",
                "table": "From the whole table",
            },
        ),
        Setting(
            "copy_share",
            "Rows with another row’s pattern",
            "In this share of rows, the masked cells are the missing cells of another row, so "
            "that the network trains on patterns that the table has.",
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
            "Weight updates, at most.",
            low=1,
            high=1_000_000,
            step=100,
        ),
        Setting(
            "warmup_steps",
            "Warm-up steps",
            "The learning rate rises over this many steps.",
            low=0,
            high=100_000,
            step=10,
        ),
    ),
    "epochs": (
        Setting(
            "epochs",
            "Epochs",
            "Passes over the table, at most.",
            low=1,
            high=100_000,
            step=10,
        ),
        Setting(
            "warmup_epochs",
            "Warm-up epochs",
            "The learning rate rises over this many epochs.",
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
    "bfloat16 is faster on recent GPUs and slightly less exact.",
    options={
        "auto": "Best for the device",
        "float32": "float32, 7 digits",
        "bfloat16": "bfloat16, 3 digits",
    },
)


def preset_values(preset: str, n_rows: int) -> dict[str, Any]:
    """Return every setting of a preset as its widget shows it; 0 stands for none."""
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
        found.append(f"The width must be even; {settings['width']} is odd.")
    if architecture == "transformer" and settings["width"] % settings["heads"]:
        found.append(
            f"{settings['heads']} attention heads do not divide a width of {settings['width']}. "
            "Choose a width that they divide, such as 32 with 4 heads."
        )
    if settings["start"] == "gaussian" and settings["categorical"] == "scalar":
        found.append(
            "A start from a joint normal distribution needs categories as categories. "
            "Change either setting."
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
        note = (
            f"Training uses {names} = {defaults}, as in the paper; the lab’s value is for "
            "exploring only."
        )
    return TrainingMasking({"masking": masking.function}, masking.info.title, note)


def lab_masking(settings: Mapping[str, Any]) -> Masking | None:
    """Return what was chosen in the masking lab; None if nothing was, or it makes no sense."""
    declared = lab_settings()
    chosen = {name: value for name, value in settings.items() if name in declared}
    if usable(chosen, declared) != chosen:
        return None
    masking = masking_from(chosen)
    # Without one of these, the lab was visited, and nothing in it set.
    return masking if chosen.keys() & {"function", *masking.params} else None


# The job


def job_params(
    architecture: str,
    preset: str,
    masking: Mapping[str, Any],
    changes: Mapping[str, Any],
    device: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the parameters of the imputer.

    Parameters
    ----------
    architecture, preset : str
        Of ``METHODS`` and ``PRESETS``.
    masking, changes, device : mapping
        The masking, settings that differ from the preset, and where to train.

    Examples
    --------
    >>> job_params("mixer", "fast", {"masking": "logit"}, {"width": 64}, {})
    {'masking': 'logit', 'preset': 'fast', 'width': 64}
    """
    if architecture != "blend":
        return {**masking, "preset": preset, **changes, **device}
    own = {name: value for name, value in changes.items() if name not in SHARED_IN_A_BLEND}
    # The quick blend would leave the network out, and this page is about it.
    return {
        "preset": preset,
        "members": list(_MEMBERS),
        "network_params": {**masking, **own},
        **device,
    }


def presets_of(architecture: str) -> list[str]:
    """Return the presets that a model has: the paper knows no blend."""
    return [name for name in PRESETS if architecture != "blend" or name != "paper"]


def preset_title(preset: str) -> str:
    """Return the name of a preset for readers."""
    return PRESETS.get(preset, preset).partition(":")[0]


def job_words(method: str, table: str, preset: str, seed: int) -> str:
    """Return what to call a training.

    Examples
    --------
    >>> job_words("pmae-mix", "penguins", "fast", 3)
    'PMAE (mixer) on penguins, Quick, seed 3'
    """
    return f"{method_title(method)} on {table}, {preset_title(preset)}, seed {seed}"


def method_title(method: str) -> str:
    """Return the name of a method for readers."""
    return {
        "pmae-mix": "PMAE (mixer)",
        "pmae-trf": "PMAE (transformer)",
        "pmae": "PMAE blend",
    }.get(method, method)


def chosen_params(spec: JobSpec) -> dict[str, Any]:
    """Return what was chosen for a training in one mapping, that of a blend's network included."""
    params = dict(spec.params["params"])
    return params | dict(params.pop("network_params", None) or {})


def differences(first: JobSpec, second: JobSpec) -> list[tuple[str, Any, Any]]:
    """Return in what two trainings differ: the name, its value in the first and in the second."""
    flat = [
        {"method": spec.params["method"], "seed": spec.seed, "table": spec.table}
        | chosen_params(spec)
        for spec in (first, second)
    ]
    names = list(dict.fromkeys([*flat[0], *flat[1]]))
    values = [(name, *(one.get(name) for one in flat)) for name in names]
    return [row for row in values if row[1] != row[2]]
