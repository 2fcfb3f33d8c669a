"""Time and memory of PMAE from a thousand to a million rows and from 10 to 500 columns.

Every table is imputed in its own process with one thread, which gives its own peak memory.

    python -m benchmarks.speed.scale
    python -m benchmarks.speed.scale --sizes 1000000x50 --steps 400
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import resource
import shlex
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.recording import timed, write_result
from pmae_core.imputers import PMAENetworkImputer

SIZES = (
    "1000x10",
    "10000x10",
    "100000x10",
    "1000000x10",
    "1000x50",
    "10000x50",
    "100000x50",
    "1000000x50",
    "10000x100",
    "10000x200",
    "10000x500",
)
STEPS = 100
SHARE_MISSING = 0.2
FACTORS = 5
LEAST_SECONDS = 2.0
MEGABYTE = 2**20
WANTED_TABLES_OF_MEMORY = 3.0


def make_table(n_rows: int, n_columns: int) -> pd.DataFrame:
    """Return a table whose columns share a few factors, with values missing at random."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n_rows, FACTORS))
    # Nothing but the table itself is large, or making it would set the peak memory.
    table = np.empty((n_rows, n_columns), order="F")
    for j in range(n_columns):
        values = factors @ rng.normal(size=FACTORS) + rng.normal(size=n_rows)
        values[rng.random(n_rows) < SHARE_MISSING] = np.nan
        table[:, j] = values
    return pd.DataFrame(table, columns=[f"x{j}" for j in range(n_columns)], copy=False)


def impute_one(size: str, steps: int) -> dict[str, Any]:
    """Impute one table in this process; return seconds and megabytes."""
    n_rows, n_columns = map(int, size.split("x"))
    # A small table loads and warms up the libraries before anything is measured; the memory of a
    # wide one would be counted as theirs.
    PMAENetworkImputer(steps=5, random_state=0).fit_transform(make_table(200, 10))
    base = peak_megabytes()
    table = make_table(n_rows, n_columns)
    table_megabytes = table.memory_usage().sum() / MEGABYTE
    imputer = PMAENetworkImputer(preset="fast", steps=steps, patience=0, random_state=0)
    _, fit_seconds, fit_cpu_seconds = timed(lambda: imputer.fit(table))
    transform_seconds, transform_cpu_seconds = _time_imputation(imputer, table)
    extra = peak_megabytes() - base
    return {
        "rows": n_rows,
        "columns": n_columns,
        "steps": steps,
        "fit_seconds": round(fit_seconds, 2),
        "transform_seconds": round(transform_seconds, 4),
        "fit_cpu_seconds": round(fit_cpu_seconds, 2),
        "transform_cpu_seconds": round(transform_cpu_seconds, 4),
        "table_megabytes": round(table_megabytes, 1),
        "libraries_megabytes": round(base, 1),
        "peak_above_libraries_megabytes": round(extra, 1),
        "peak_in_tables": round(extra / table_megabytes, 2),
    }


def _time_imputation(imputer: PMAENetworkImputer, table: pd.DataFrame) -> tuple[float, float]:
    """Return the seconds of one imputation on the clock and of the processor: medians of several.

    A single imputation of a small table is too short to time.
    """
    found: list[tuple[float, float]] = []
    while sum(wall for wall, _ in found) < LEAST_SECONDS:
        imputed, wall, cpu = timed(lambda: imputer.transform(table))
        if imputed.isna().any(axis=None):
            raise AssertionError("Some cells are still missing.")
        found.append((wall, cpu))
        del imputed  # or two imputed tables would exist at once
    wall, cpu = np.median(found, axis=0).tolist()
    return wall, cpu


def peak_megabytes() -> float:
    """Return the most memory that this process has used so far."""
    # Linux counts kilobytes here, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE


def growth(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how time grows with the rows, between neighboring sizes; exponent 1 is linear."""
    found = []
    for columns in sorted({run["columns"] for run in runs}):
        same = sorted((r for r in runs if r["columns"] == columns), key=lambda r: r["rows"])
        for small, large in itertools.pairwise(same):
            ratio = math.log(large["rows"] / small["rows"])
            found.append(
                {
                    "columns": columns,
                    "rows": [small["rows"], large["rows"]],
                    **{
                        f"{part}_exponent": round(
                            math.log(large[f"{part}_cpu_seconds"] / small[f"{part}_cpu_seconds"])
                            / ratio,
                            2,
                        )
                        for part in ("fit", "transform")
                        if small[f"{part}_cpu_seconds"] > 0
                    },
                }
            )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Impute every table; write results after each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default=",".join(SIZES), help="ROWSxCOLUMNS, commas between")
    parser.add_argument("--steps", type=int, default=STEPS, help="steps of training")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(impute_one(options.one, options.steps)))
        return 0
    runs: list[dict[str, Any]] = []
    for size in options.sizes.split(","):
        command = [sys.executable, "-m", "benchmarks.speed.scale", "--one", size]
        finished = subprocess.run(
            [*command, "--steps", str(options.steps)],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        runs.append(json.loads(finished.stdout.splitlines()[-1]))
        print(runs[-1], flush=True)
        given = [f"--sizes={options.sizes}", f"--steps={options.steps}"]
        write_result(
            "scale",
            {
                "what": "PMAE (fast, a fixed number of steps) by the size of the table",
                "command": shlex.join(["python", "-m", "benchmarks.speed.scale", *given]),
                "wanted": {"peak_in_tables_plus_a_constant": WANTED_TABLES_OF_MEMORY},
                "runs": runs,
                "growth": growth(runs),
            },
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
