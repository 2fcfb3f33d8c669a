"""The choices behind masked trees and the blend, on held-out cells of tables to choose on.

Missing values are simulated in the nine tables and in the further tables of
`benchmarks.tables.TO_CHOOSE_ON`. Settings are scored on observed cells that are held out in the
same patterns; the truth of the missing cells is never used, so settings may be chosen by these
scores. Every finished fit is kept in the result, and the same command resumes where it was stopped.
After a change to the methods, start with --anew.

    PMAE_DATA_DIR=<folder of the tables> python -m benchmarks.accuracy.blend_choices
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import sys
from typing import Any

from benchmarks.held_out import held_out_cells, score_held_out
from benchmarks.recording import RESULTS, write_result
from benchmarks.tables import TO_CHOOSE_ON
from pmae_core.evaluation.holdout import Holdout
from pmae_core.imputers import make_imputer
from pmae_core.table import Schema
from pmae_core.table.samples.datasets import BENCHMARK_NAMES

NAME = "blend_choices"
TREES = "masked-trees"
TREES_AS_THEY_ARE, FAST = "trees as they are", "Gaussians and trees"
CHOICES: dict[str, tuple[str, dict[str, Any]]] = {
    TREES_AS_THEY_ARE: (TREES, {}),
    "trees without a Gaussian": (TREES, {"gaussian": False}),
    "a third of the inputs per split": (TREES, {"max_features": 0.33}),
    "all inputs per split": (TREES, {"max_features": 1.0}),
    "leaves of 3": (TREES, {"min_leaf": 3}),
    "leaves of 10": (TREES, {"min_leaf": 10}),
    "200 trees": (TREES, {"n_trees": 200}),
    "one mask per row": (TREES, {"n_copies": 1}),
    "eight masks per row": (TREES, {"n_copies": 8}),
    "half of the masks by the masking function": (TREES, {"copy_share": 0.5}),
    FAST: ("pmae", {"preset": "fast"}),
    "Gaussians alone": ("pmae", {"members": ("gaussian",)}),
    "trees alone, with the blend's settings": ("pmae", {"members": ("trees",)}),
    "one method per column (auto)": ("auto", {"method_params": {"pmae": {"preset": "fast"}}}),
}


def measure(held_out: Holdout, schema: Schema, seed: int, choice: str) -> dict[str, Any]:
    """Impute one table; score the held-out cells."""
    method, params = CHOICES[choice]
    imputer = make_imputer(method, schema=schema, random_state=seed, **params)
    return score_held_out(imputer, held_out, schema)


def summary(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each choice's mean accuracy, its difference to what is in use, and its cost.

    Trees are compared with the trees as they are, all others with the blend of `fast`.
    """
    by_choice = {
        choice: {(r["dataset"], r["seed"]): r for r in runs if r["choice"] == choice}
        for choice in CHOICES
    }
    found = []
    for choice, own in by_choice.items():
        usual = by_choice[TREES_AS_THEY_ARE if CHOICES[choice][0] == TREES else FAST]
        shared = [key for key in own if key in usual]
        if not shared:
            continue
        differences = [
            100 * (own[key]["imputation_accuracy"] - usual[key]["imputation_accuracy"])
            for key in shared
        ]
        error = statistics.stdev(differences) / len(shared) ** 0.5 if len(shared) > 1 else None
        mean = statistics.mean(own[key]["imputation_accuracy"] for key in shared)
        found.append(
            {
                "choice": choice,
                "method": CHOICES[choice][0],
                "settings": CHOICES[choice][1],
                "tables_and_seeds": len(shared),
                "mean_accuracy": round(100 * mean, 2),
                "difference": round(statistics.mean(differences), 2),
                "standard_error": None if error is None else round(error, 2),
                "mean_cpu_seconds": round(
                    statistics.mean(own[key]["cpu_seconds"] for key in shared), 1
                ),
            }
        )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measure every choice; write results as they come."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    every = ",".join((*TO_CHOOSE_ON, *BENCHMARK_NAMES))
    parser.add_argument("--datasets", default=every, help="names, commas")
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--max-rows", type=int, default=1500, help="larger tables are sampled")
    parser.add_argument("--anew", action="store_true", help="discard what was measured before")
    options = parser.parse_args(arguments)
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
                    "choice": choice,
                }
                if any(key.items() <= run.items() for run in runs):
                    continue
                runs.append({**key, **measure(held_out, schema, seed, choice)})
                print(runs[-1], flush=True)
                write(options, runs)
    return 0


def write(options: argparse.Namespace, runs: list[dict[str, Any]]) -> None:
    """Write all runs, and a summary of the choices."""
    given = ["datasets", "seeds", "max_rows"]
    flags = [f"--{name.replace('_', '-')}={getattr(options, name)}" for name in given]
    alike = [run for run in runs if run["max_rows"] == options.max_rows]
    write_result(
        NAME,
        {
            "what": "settings of masked trees and of the blend, scored on held-out observed cells "
            "(general, nested, MNAR); differences in points of accuracy",
            "command": shlex.join(["python", "-m", "benchmarks.accuracy.blend_choices", *flags]),
            "summary": summary(alike),
            "runs": runs,
        },
    )


if __name__ == "__main__":
    sys.exit(main())
