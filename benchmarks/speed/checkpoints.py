"""What a checkpoint costs beside the steps between two checkpoints.

Each is written with its checksum, and the disk is waited for. Times are medians on the clock, with
the waiting and without. A slower disk may take `one_percent_ms` until the training takes 1% longer.

    python -m benchmarks.speed.checkpoints
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.recording import write_result
from benchmarks.speed.threads import network_of
from pmae_core.masking import MaskSampler
from pmae_core.training import Trainer, TrainingConfig

# (columns, rows of a batch)
SHAPES = ((10, 64), (60, 128), (200, 128))
SHARE_OBSERVED = 0.8


def trainer_of(columns: int, batch: int, folder: Path) -> Trainer:
    """Return a training with checkpoints in a folder."""
    rng = np.random.default_rng(0)
    values = rng.random((8 * batch, columns)).astype(np.float32)
    observed = rng.random(values.shape) < SHARE_OBSERVED
    config = TrainingConfig(steps=10_000, batch_size=batch, device="cpu")
    sampler = MaskSampler().fit(observed)
    network = network_of(columns)
    return Trainer(network, values, observed, sampler, config, checkpoint_dir=folder)


def milliseconds(action: Callable[[], None], rounds: int) -> float:
    """Return the median time of an action."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return 1000 * statistics.median(taken)


def measure(columns: int, batch: int, rounds: int, folder: Path) -> dict[str, Any]:
    """Time a step and a checkpoint of one shape."""
    trainer = trainer_of(columns, batch, folder)
    step = milliseconds(trainer.run_step, rounds)
    saved = milliseconds(trainer.save_checkpoint, rounds)
    with mock.patch("pmae_core.storage.files.sync"):
        not_awaited = milliseconds(trainer.save_checkpoint, rounds)
    between = trainer.config.checkpoint_every * step
    assert trainer.checkpoint_path is not None
    return {
        "columns": columns,
        "batch": batch,
        "steps_between": trainer.config.checkpoint_every,
        "step_ms": round(step, 2),
        "file_kb": round(trainer.checkpoint_path.stat().st_size / 1000),
        "checkpoint_ms": round(saved, 2),
        "without_waiting_ms": round(not_awaited, 2),
        "share_of_training": round(saved / between, 4),
        "one_percent_ms": round(0.01 * between, 1),
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure every shape."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=100, help="steps and checkpoints of each")
    options = parser.parse_args(arguments)
    runs = []
    for columns, batch in SHAPES:
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            runs.append(measure(columns, batch, options.rounds, Path(folder)))
        print(runs[-1], flush=True)
    write_result(
        "checkpoints",
        {
            "what": "a checkpoint beside the steps between two of them, on the clock",
            "command": f"python -m benchmarks.speed.checkpoints --rounds={options.rounds}",
            "runs": runs,
        },
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
