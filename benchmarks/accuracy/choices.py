"""The choices behind our presets, each against its opposite, on held-out cells.

Missing values are simulated in every table. Settings are then scored on observed cells that are
held out in the same patterns; the truth of the missing cells is never used, so settings may be
chosen by these scores. Every finished fit is kept in the result, and the same command resumes
where it was stopped. After a change to the network or the presets, start with --anew.

    PMAE_DATA_DIR=<folder of the tables> python -m benchmarks.accuracy.choices
"""

from __future__ import annotations

import sys
from typing import Any

import torch

from benchmarks.choosing import Choice, ChoiceBenchmark, parser
from pmae_core.table.samples.datasets import BENCHMARK_NAMES

AS_IT_IS = "as it is"
# Settings that override the preset; the preset itself comes first.
SETTINGS: dict[str, dict[str, Any]] = {
    AS_IT_IS: {},
    "no correction of means": {"correct_means": False},
    "batch 64, learning rate 0.002": {"batch_size": 64, "learning_rate": 2e-3},
    "no Gaussian start": {"start": "none"},
    "no copied patterns": {"copy_share": 0.0},
    "copied patterns only": {"copy_share": 1.0},
    "no average of weights": {"average_decay": 0.0},
    "no early stopping": {"patience": 0},
    "dropout 0.1": {"dropout": 0.1},
    "width 64": {"width": 64},
    "paper's depth": {"encoder_depth": 6, "decoder_depth": 4},
    "paper's mixing width": {"mixing_width": 0},
    "paper's scaling": {"numeric": "quantile"},
    "categories as numbers": {"categorical": "scalar"},
}
BENCHMARK = ChoiceBenchmark(
    name="choices",
    what="settings against the preset",
    choices={
        name: Choice(method="pmae-mix", settings=settings, against=AS_IT_IS)
        for name, settings in SETTINGS.items()
    },
    shared=("preset",),
)


def main(arguments: list[str] | None = None) -> int:
    """Measure every choice; write results as they come."""
    options = parser(__doc__.split("\n")[0], datasets=BENCHMARK_NAMES, seeds=2, max_rows=8000)
    options.add_argument("--preset", default="fast", help="the preset that the choices override")
    torch.set_num_threads(1)
    BENCHMARK.measure(options.parse_args(arguments), fixed={"device": "cpu"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
