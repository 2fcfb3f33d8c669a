"""The headline in a few minutes: PMAE beside other methods on small tables that were kept aside.

These are the tables of `benchmarks.tables.TO_REPORT_ON` with at most 700 rows, with the general
pattern. They are also part of `benchmarks.accuracy.blend`, whose recorded figures for the very same
missing cells are shown beside those measured now. Random numbers are seeded, but other versions of
libraries or other processors may round differently, and a network amplifies that.

    python -m benchmarks.accuracy.bench_quick
    python -m benchmarks.accuracy.bench_quick --tables wine-recognition --methods pmae-fast,knn
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.accuracy import blend
from benchmarks.recording import machine, write_result
from benchmarks.tables import TO_REPORT_ON, load_table
from pmae_core.words import duration

NAME = "bench_quick"
METHODS = ("pmae", "pmae-fast", "missforest", "knn", "em")
MAX_ROWS = 700
CASE = {"part": "report", "pattern": "general", "seed": 0}


def small_tables() -> list[str]:
    """Return the tables kept aside that need no sampling of rows."""
    return [name for name in TO_REPORT_ON if len(load_table(name).frame) <= MAX_ROWS]


def recorded(table: str, method: str) -> float | None:
    """Return the accuracy that the long benchmark has for the same missing cells, if any."""
    wanted = {**CASE, "dataset": table, "method": method}
    same = [run["accuracy"] for run in blend.recorded() if wanted.items() <= run.items()]
    return same[-1] if same else None


def measure(table: str, method: str) -> dict[str, Any]:
    """Impute one table with one method; return what it reaches, beside what is recorded."""
    most_rows = blend.PARTS[CASE["part"]].rows_of(table)
    runs = blend.run_method(method, table, CASE["pattern"], CASE["seed"], most_rows)
    # A fit of the blend also gives its earlier answers; the last one under its own name counts.
    (run,) = (run for run in runs if run["method"] == method)
    return {
        "table": table,
        "method": method,
        "accuracy_x100": run["accuracy"],
        "recorded_x100": recorded(table, method),
        "cpu_seconds": run["cpu_seconds"],
    }


def summary(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the means of each method; a recorded mean only if every table has it."""
    return [
        {
            "method": method,
            "tables": len(own),
            "mean_accuracy_x100": round(float(own["accuracy_x100"].mean()), 2),
            "recorded_x100": None
            if own["recorded_x100"].isna().any()
            else round(float(own["recorded_x100"].mean()), 2),
            "mean_cpu_seconds": round(float(own["cpu_seconds"].mean()), 2),
        }
        for method, own in pd.DataFrame(runs).groupby("method", sort=False)
    ]


def show(lines: list[dict[str, Any]]) -> None:
    """Print one line per method."""
    header = ("method", "accuracy x 100", "recorded", "CPU s per table")
    print("{:12}{:>16}{:>12}{:>18}".format(*header))
    for line in lines:
        known = line["recorded_x100"]
        print(
            f"{line['method']:12}{line['mean_accuracy_x100']:16.1f}"
            f"{'' if known is None else f'{known:.1f}':>12}{line['mean_cpu_seconds']:18.1f}"
        )


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", default="", help="names, commas; all small ones by default")
    parser.add_argument("--methods", default=",".join(METHODS), help="names, commas")
    options = parser.parse_args(arguments)
    tables = options.tables.split(",") if options.tables else small_tables()
    load_before, started = os.getloadavg()[0], time.monotonic()
    runs = []
    with threadpool_limits(1):
        for table in tables:
            for method in options.methods.split(","):
                runs.append(measure(table, method))
                print(runs[-1], flush=True)
    seconds = time.monotonic() - started
    lines = summary(runs)
    given = [f"--tables={','.join(tables)}", f"--methods={options.methods}"]
    write_result(
        NAME,
        {
            "what": "imputation accuracy (x100) on small tables that were kept aside (general, "
            "nested, MNAR, seed 0), beside the figures of blend_runs.jsonl for the same cells",
            "command": shlex.join(["python", "-m", "benchmarks.accuracy.bench_quick", *given]),
            "machine": machine(load_before),
            "seconds": round(seconds, 1),
            "summary": lines,
            "runs": runs,
        },
    )
    show(lines)
    print(f"{len(tables)} tables, measured in {duration(seconds)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
