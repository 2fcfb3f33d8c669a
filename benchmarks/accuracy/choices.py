"""The choices behind our presets, each against its opposite, on held-out cells.

Missing values are simulated in every table. Settings are then scored on observed cells that are
held out in the same patterns; the truth of the missing cells is never used, so settings may be
chosen by these scores. Every finished fit is kept in the result, and the same command resumes
where it was stopped. After a change to the network or the presets, start with --anew.

    PMAE_DATA_DIR=<folder of the tables> python -m benchmarks.accuracy.choices
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import sys
from typing import Any

import torch

from benchmarks.held_out import held_out_cells, score_held_out
from benchmarks.recording import RESULTS, write_result
from pmae_core.evaluation.holdout import Holdout
from pmae_core.imputers import PMAENetworkImputer
from pmae_core.table import Schema
from pmae_core.table.samples.datasets import BENCHMARK_NAMES

NAME = "choices"
# Settings that override the preset; the preset itself comes first.
CHOICES: dict[str, dict[str, Any]] = {
    "as it is": {},
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


def measure(
    held_out: Holdout, schema: Schema, preset: str, seed: int, choice: str
) -> dict[str, Any]:
    """Impute one table; score the held-out cells."""
    imputer = PMAENetworkImputer(
        preset=preset, device="cpu", schema=schema, random_state=seed, **CHOICES[choice]
    )
    return score_held_out(imputer, held_out, schema)


def summary(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each choice's mean accuracy and its difference to the preset's, in points."""
    by_choice = {
        choice: {
            (run["dataset"], run["seed"]): run["imputation_accuracy"]
            for run in runs
            if run["choice"] == choice
        }
        for choice in CHOICES
    }
    found = []
    for choice, scores in by_choice.items():
        shared = [key for key in scores if key in by_choice["as it is"]]
        if not shared:
            continue
        differences = [100 * (scores[key] - by_choice["as it is"][key]) for key in shared]
        error = statistics.stdev(differences) / len(shared) ** 0.5 if len(shared) > 1 else None
        found.append(
            {
                "choice": choice,
                "settings": CHOICES[choice],
                "tables_and_seeds": len(shared),
                "mean_accuracy": round(100 * statistics.mean(scores[key] for key in shared), 2),
                "difference": round(statistics.mean(differences), 2),
                "standard_error": None if error is None else round(error, 2),
            }
        )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measure every choice; write results as they come."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--datasets", default=",".join(BENCHMARK_NAMES), help="names, commas")
    parser.add_argument("--seeds", type=int, default=2, help="how many")
    parser.add_argument("--max-rows", type=int, default=8000, help="larger tables are sampled")
    parser.add_argument("--preset", default="fast", help="the preset that the choices override")
    parser.add_argument("--anew", action="store_true", help="discard what was measured before")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    kept = RESULTS / f"{NAME}.json"
    runs = [] if options.anew or not kept.exists() else json.loads(kept.read_text())["runs"]
    for seed in range(options.seeds):
        for dataset in options.datasets.split(","):
            held_out, schema = held_out_cells(dataset, seed, options.max_rows)
            for choice in CHOICES:
                key = {
                    "dataset": dataset,
                    "seed": seed,
                    "max_rows": options.max_rows,
                    "preset": options.preset,
                    "choice": choice,
                }
                if any(key.items() <= run.items() for run in runs):
                    continue
                runs.append({**key, **measure(held_out, schema, options.preset, seed, choice)})
                print(runs[-1], flush=True)
                write(options, runs)
    return 0


def write(options: argparse.Namespace, runs: list[dict[str, Any]]) -> None:
    """Write all runs, and a summary of the choices."""
    given = ["datasets", "seeds", "max_rows", "preset"]
    flags = [f"--{name.replace('_', '-')}={getattr(options, name)}" for name in given]
    # Earlier runs with another preset or other rows are kept, but not compared with these.
    asked_for = {"max_rows": options.max_rows, "preset": options.preset}
    alike = [run for run in runs if asked_for.items() <= run.items()]
    write_result(
        NAME,
        {
            "what": "settings against the preset, scored on held-out observed cells "
            "(general, nested, MNAR); differences in points of accuracy",
            "command": shlex.join(["python", "-m", "benchmarks.accuracy.choices", *flags]),
            "summary": summary(alike),
            "runs": runs,
        },
    )


if __name__ == "__main__":
    sys.exit(main())
