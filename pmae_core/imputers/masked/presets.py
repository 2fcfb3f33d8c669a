"""Named settings of the masked autoencoders."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

# The paper and its release to the letter; with a batch that grows with the table.
PAPER: dict[str, Any] = {
    "loss": "paper",
    "categorical": "scalar",
    "numeric": "quantile",
    "min_category_count": "paper",
    "width": 32,
    "encoder_depth": 6,
    "decoder_depth": 4,
    "heads": 4,
    "mlp_ratio": 4.0,
    "dropout": 0.1,
    "mixing_width": None,
    "start": "none",
    "p_obs": "batch",
    "copy_share": 0.0,
    "epochs": 600,
    "warmup_epochs": 40,
    "batch_size": "paper",
    "learning_rate": 1e-3,
    "final_learning_rate": 1e-5,
    "weight_decay": 0.01,
    "average_decay": None,
    "validation_share": 0.0,
    "validate_every": 25,
    "patience": None,
    "correct_means": False,
}

# The paper's epochs take hours on a CPU; a thousand small steps learn a good part of the same.
PAPER_STEPS: dict[str, Any] = PAPER | {
    "epochs": None,
    "warmup_epochs": 0,
    "steps": 1000,
    "warmup_steps": 50,
    "batch_size": 64,
}

# Softmax heads, a Gaussian to start from, early stopping on held-out cells.
BALANCED: dict[str, Any] = PAPER_STEPS | {
    "categorical": "softmax",
    "numeric": "rank",
    "min_category_count": "auto",
    "encoder_depth": 3,
    "decoder_depth": 1,
    "dropout": 0.0,
    "mixing_width": 128,
    "start": "gaussian",
    "copy_share": 0.5,
    "steps": "balanced",
    "batch_size": "ours",
    "learning_rate": "ours",
    "average_decay": 0.98,
    "validation_share": 0.2,
    "patience": 20,
    "correct_means": True,
}

FAST: dict[str, Any] = BALANCED | {
    "encoder_depth": 2,
    "steps": "fast",
    "patience": 16,
}

# Steps of our presets for small and for large tables. There is more to learn from more rows; where
# there is not, training stops early.
STEPS = {"balanced": (1500, 2500), "fast": (400, 1600)}
SMALL_ROWS, LARGE_ROWS = 5_000, 40_000
# Larger steps learn more in the same time where there are enough rows not to overfit.
BATCH_AND_LEARNING_RATE = {"small": (64, 2e-3), "large": (128, 4e-3)}

# A step takes up to twenty products with a matrix of this size; a wider table starts from nothing.
MOST_COORDINATES = 1000

PRESETS: dict[str, dict[str, Any]] = {
    "paper": PAPER,
    "paper-steps": PAPER_STEPS,
    "balanced": BALANCED,
    "fast": FAST,
}

SETTINGS = tuple(sorted({name for preset in PRESETS.values() for name in preset}))


def resolve_settings(preset: str, overrides: Mapping[str, Any], n_rows: int) -> dict[str, Any]:
    """Return the settings of a preset, replaced by a user's own where given.

    Parameters
    ----------
    preset : {"paper", "paper-steps", "balanced", "fast"}
        The settings to start from.
    overrides : mapping
        Settings by name; ``None`` means "as in the preset".
    n_rows : int
        Rows of the table; our steps, batch size and learning rate and the paper's batch size
        depend on them.

    Examples
    --------
    >>> resolve_settings("paper", {"epochs": 300}, n_rows=442)["batch_size"]
    128
    """
    if preset not in PRESETS:
        raise ValueError(f"There is no preset {preset!r}. Choose one of: {', '.join(PRESETS)}.")
    given = {name: value for name, value in overrides.items() if value is not None}
    settings = {**dict.fromkeys(SETTINGS), **PRESETS[preset], **given}
    if given.get("steps") is not None and given.get("epochs") is not None:
        raise ValueError("Give either steps or epochs, not both.")
    if "steps" in given:
        settings["epochs"] = None
    if "epochs" in given:
        settings["steps"] = None
    for name in ("warmup_steps", "warmup_epochs"):
        settings[name] = settings[name] or 0
    for name in ("average_decay", "patience", "mixing_width"):
        settings[name] = settings[name] or None  # 0 means "none" for a user
    if settings["categorical"] == "scalar" and "start" not in given:
        settings["start"] = "none"  # categories as numbers have no Gaussian to start from
    batch_size, learning_rate = BATCH_AND_LEARNING_RATE["small" if n_rows < SMALL_ROWS else "large"]
    if settings["batch_size"] == "paper":
        settings["batch_size"] = paper_batch_size(n_rows)
    if settings["batch_size"] == "ours":
        settings["batch_size"] = batch_size
    if settings["learning_rate"] == "ours":
        settings["learning_rate"] = learning_rate
    if settings["steps"] in STEPS:
        settings["steps"] = usual_steps(settings["steps"], n_rows)
    return settings


def usual_steps(preset: str, n_rows: int) -> int:
    """Return the steps of one of our presets for a table of that many rows."""
    small, large = STEPS[preset]
    share = math.log(max(n_rows, SMALL_ROWS) / SMALL_ROWS) / math.log(LARGE_ROWS / SMALL_ROWS)
    # In tens: the last digit would suggest a precision that is not there.
    return int(round(small * (large / small) ** min(share, 1.0), -1))


def paper_batch_size(n_rows: int) -> int:
    """Return the paper's batch size for a table of that many rows."""
    for limit, batch_size in ((1000, 128), (2500, 256), (5000, 512), (10000, 1024), (20000, 2048)):
        if n_rows < limit:
            return batch_size
    return 4096
