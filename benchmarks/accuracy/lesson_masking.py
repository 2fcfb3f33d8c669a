"""Uniform against proportional masking on the table of the dashboard's lesson.

python -m benchmarks.accuracy.lesson_masking
"""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Any

import torch

from benchmarks.recording import write_result
from dashboard.learn.masking import TARGET, make_trader
from pmae_core.imputers import PMAENetworkImputer

MASKINGS = {"uniform": "constant", "proportional": "logit"}
# The paper's training with a smaller network, and without dropout, which would blur the difference.
NETWORK = {
    "preset": "paper-steps",
    "numeric": "rank",
    "encoder_depth": 1,
    "decoder_depth": 1,
    "dropout": 0.0,
    "warmup_steps": 20,
    "learning_rate": 5e-3,
    "device": "cpu",
}


def measure(masking: str, seed: int, steps: int) -> dict[str, Any]:
    """Train one network; return its R² on the missing values of the target."""
    trader = make_trader(seed)
    imputer = PMAENetworkImputer(
        **NETWORK, masking=MASKINGS[masking], steps=steps, random_state=seed
    )
    imputed = imputer.fit_transform(trader.incomplete)
    missing = trader.incomplete[TARGET].isna()
    truth = trader.truth.loc[missing, TARGET]
    errors = ((truth - imputed.loc[missing, TARGET]) ** 2).sum()
    r2 = 1 - errors / ((truth - truth.mean()) ** 2).sum()
    run = {"steps": steps, "seed": seed, "masking": masking, "r2": round(float(r2), 4)}
    print(run, flush=True)
    return run


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds (default 5)")
    parser.add_argument(
        "--steps",
        type=int,
        nargs="+",
        default=[400, 4000],
        help="lengths of training (default 400 and 4,000)",
    )
    parser.add_argument("--threads", type=int, default=1, help="torch threads")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    runs = [
        measure(masking, seed, steps)
        for steps in options.steps
        for seed in range(options.seeds)
        for masking in MASKINGS
    ]
    given = ["--seeds", str(options.seeds), "--steps", *map(str, options.steps)]
    write_result(
        "lesson_masking",
        {
            "what": "R² of the missing gain in the lesson's table, uniform beside proportional",
            "command": shlex.join(["python", "-m", "benchmarks.accuracy.lesson_masking", *given]),
            "network": NETWORK,
            "runs": runs,
        },
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
