"""Time and memory of the blend without its network, on large tables, with all cores.

Every table is imputed in its own process, which gives its own peak memory. Run it on a quiet
machine: the seconds are those of the clock.

    python -m benchmarks.speed.blend_scale
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from typing import Any

from benchmarks.recording import timed, write_result
from benchmarks.speed.scale import MEGABYTE, make_table, peak_megabytes
from pmae_core.imputers import PMAEImputer

SIZES = ("10000x50", "100000x50", "1000000x50")
WANTED = {"seconds": 300, "peak_in_tables": 3.0}


def impute_one(size: str) -> dict[str, Any]:
    """Impute one table in this process; return seconds and megabytes."""
    n_rows, n_columns = map(int, size.split("x"))
    # A small table loads and warms up the libraries before anything is measured.
    PMAEImputer(preset="fast", n_trees=5, random_state=0).fit_transform(make_table(200, 10))
    base = peak_megabytes()
    table = make_table(n_rows, n_columns)
    table_megabytes = table.memory_usage().sum() / MEGABYTE
    imputer = PMAEImputer(preset="fast", random_state=0)
    _, fit_seconds, fit_cpu_seconds = timed(lambda: imputer.fit(table))
    imputed, transform_seconds, transform_cpu_seconds = timed(lambda: imputer.transform(table))
    if imputed.isna().any(axis=None):
        raise AssertionError("Some cells are still missing.")
    extra = peak_megabytes() - base
    return {
        "rows": n_rows,
        "columns": n_columns,
        "n_trees": imputer.settings_["n_trees"],
        "seconds_to_answers": [round(answer.seconds, 1) for answer in imputer.answers_],
        "fit_seconds": round(fit_seconds, 1),
        "transform_seconds": round(transform_seconds, 1),
        "seconds": round(fit_seconds + transform_seconds, 1),
        "cpu_seconds": round(fit_cpu_seconds + transform_cpu_seconds, 1),
        "table_megabytes": round(table_megabytes, 1),
        "peak_above_libraries_megabytes": round(extra, 1),
        "peak_in_tables": round(extra / table_megabytes, 2),
    }


def main(arguments: list[str] | None = None) -> int:
    """Impute every table; write results after each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default=",".join(SIZES), help="ROWSxCOLUMNS, commas between")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(impute_one(options.one)))
        return 0
    runs: list[dict[str, Any]] = []
    for size in options.sizes.split(","):
        command = [sys.executable, "-m", "benchmarks.speed.blend_scale", "--one", size]
        finished = subprocess.run(command, capture_output=True, text=True, check=True)
        runs.append(json.loads(finished.stdout.splitlines()[-1]))
        print(runs[-1], flush=True)
        write_result(
            "blend_scale",
            {
                "what": "pmae (fast) by the size of the table, with all cores; a fifth of the "
                "cells is missing",
                "command": shlex.join(
                    ["python", "-m", "benchmarks.speed.blend_scale", f"--sizes={options.sizes}"]
                ),
                "wanted_of_the_largest": WANTED,
                "runs": runs,
            },
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
