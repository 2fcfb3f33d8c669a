"""Categories as softmax heads against categories as numbers, at the same number of steps.

PMAE_DATA_DIR=<folder of the benchmark tables> python -m benchmarks.accuracy.categories
"""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Any

import torch

from benchmarks.missingness import MISSINGNESS
from benchmarks.recording import measure_imputation, write_result
from pmae_core.amputation import ampute
from pmae_core.evaluation import benchmark_table
from pmae_core.imputers import PMAENetworkImputer

WANTED = {"letter": 0.33, "adult": 0.46}


def measure(name: str, seed: int) -> dict[str, Any]:
    """Return the scores of one table: ``balanced``, and ``scalar`` with as many steps."""
    table = benchmark_table(name)
    amputed = ampute(table.frame, **MISSINGNESS, seed=seed, schema=table.schema)
    cells = (amputed.truth, amputed.incomplete, amputed.missing, table.schema)
    common = {"schema": table.schema, "random_state": seed, "device": "cpu"}
    balanced = measure_imputation(PMAENetworkImputer(**common), *cells)
    scalar = measure_imputation(
        PMAENetworkImputer(**common, categorical="scalar", steps=balanced["steps"], patience=0),
        *cells,
    )
    figures = {"rows": len(amputed.truth), "balanced": balanced, "scalar": scalar}
    print(name, figures, flush=True)
    return figures


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write; return 1 if a target is missed at seed 0."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=1, help="number of seeds (default 1)")
    parser.add_argument("--threads", type=int, default=1, help="torch threads")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    runs = {name: [measure(name, seed) for seed in range(options.seeds)] for name in WANTED}
    given = [f"--seeds={options.seeds}", f"--threads={options.threads}"]
    write_result(
        "categories",
        {
            "what": "balanced (softmax heads) beside the same with scalar categories",
            "command": shlex.join(["python", "-m", "benchmarks.accuracy.categories", *given]),
            "missingness": MISSINGNESS,
            "wanted_at_seed_0": WANTED,
            "datasets": runs,
        },
    )
    reached = all(
        runs[name][0]["balanced"]["imputation_accuracy"] >= wanted
        for name, wanted in WANTED.items()
    )
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
