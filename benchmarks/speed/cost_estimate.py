"""How accurate estimates of cost are: actual over estimated seconds, by method.

All methods are estimated at once, as before a comparison; then each imputes the table. Diabetes is
numerical, obesity is half categorical; general pattern, nested, MNAR.

The process has the priority of a job. Other work on the machine changes the seconds. So there is a
second ratio: processor seconds over the estimate for an idle machine.

    PMAE_DATA_DIR=<folder of the benchmark tables> python -m benchmarks.speed.cost_estimate
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import sys
import time
import warnings
from typing import Any

import pandas as pd
import psutil
from threadpoolctl import threadpool_limits

from benchmarks.missingness import MISSINGNESS
from benchmarks.recording import write_result
from pmae_core.amputation import ampute
from pmae_core.errors import Cancelled, PMAEError
from pmae_core.evaluation import benchmark_table
from pmae_core.evaluation.memory import PeakMemory
from pmae_core.imputers import list_imputers, make_imputer
from pmae_core.jobs.cost import MethodCost, estimate_cost
from pmae_core.jobs.engines.local import NICENESS
from pmae_core.table import Schema

DATASETS = ("diabetes", "obesity")
MEGABYTE = 1024 * 1024


def measure(
    method: str, frame: pd.DataFrame, schema: Schema, options: argparse.Namespace
) -> dict[str, Any]:
    """Return the actual cost of a method, or the error it raised."""
    imputer = make_imputer(method, schema=schema, random_state=options.seed)
    base = psutil.Process().memory_info().rss / MEGABYTE
    started, cpu = time.perf_counter(), time.process_time()

    def stop() -> bool:
        return time.perf_counter() - started > options.method_budget

    try:
        with warnings.catch_warnings(), PeakMemory() as peak, threadpool_limits(options.threads):
            warnings.simplefilter("ignore")
            imputer.fit(frame, cancel=stop)
            imputer.transform(frame)
    except Cancelled:
        return {"error": f"Stopped after {options.method_budget:g} s."}
    except PMAEError as error:
        return {"error": str(error)}
    return {
        "actual_seconds": round(time.perf_counter() - started, 3),
        "actual_cpu_seconds": round(time.process_time() - cpu, 3),
        "actual_memory_mb": round(base + (peak.megabytes or 0.0), 1),
    }


def row(dataset: str, cost: MethodCost, actual: dict[str, Any]) -> dict[str, Any]:
    """Return estimated and actual cost of one method."""
    seconds, took = cost.seconds, actual.get("actual_seconds")
    is_known = seconds is not None and took is not None
    return {
        "dataset": dataset,
        "method": cost.method,
        "estimated_seconds": seconds and round(seconds, 3),
        "low": cost.low and round(cost.low, 3),
        "high": cost.high and round(cost.high, 3),
        "ratio": round(took / seconds, 3) if is_known else None,
        "ratio_alone": round(_alone(cost, actual), 3) if is_known else None,
        "busy": round(cost.busy, 2),
        "within_range": cost.low <= took <= cost.high if is_known else None,
        "estimated_memory_mb": cost.memory_mb and round(cost.memory_mb, 1),
        **actual,
        "how": cost.how,
        "no_estimate": cost.error,
    }


def _alone(cost: MethodCost, actual: dict[str, Any]) -> float:
    """Return the ratio for an idle machine; the estimate assumes that it stays ``busy``."""
    return actual["actual_cpu_seconds"] * cost.busy / cost.seconds


def compared(dataset: str, options: argparse.Namespace) -> dict[str, Any]:
    """Estimate all methods on one table, then run them."""
    table = benchmark_table(dataset, max_rows=options.max_rows, seed=options.seed)
    amputed = ampute(table.frame, **MISSINGNESS, seed=options.seed, schema=table.schema)
    frame = amputed.incomplete
    load = os.getloadavg()[0]
    estimate = estimate_cost(
        frame,
        options.methods,
        schema=table.schema,
        threads=options.threads,
        budget_seconds=options.budget,
    )
    rows = []
    for cost in estimate.per_method:
        rows.append(row(dataset, cost, measure(cost.method, frame, table.schema, options)))
        print({name: rows[-1].get(name) for name in ("method", "estimated_seconds", "ratio")})
    return {
        "dataset": dataset,
        "n_rows": len(frame),
        "n_columns": frame.shape[1],
        "probe_seconds": estimate.probe_seconds,
        "load_average_before": round(load, 2),
        "load_average_after": round(os.getloadavg()[0], 2),
        "rows": rows,
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return how good the estimates are over all methods and tables."""
    known = [one for one in rows if one["ratio"] is not None]
    return {
        "n_estimates": len(known),
        "n_without": sum(one["estimated_seconds"] is None for one in rows),
        "share_within_range": _rounded(_mean([one["within_range"] for one in known])),
        **{name: _misses([one[name] for one in known]) for name in ("ratio", "ratio_alone")},
    }


def _misses(ratios: list[float]) -> dict[str, Any]:
    misses = sorted(max(ratio, 1 / ratio) for ratio in ratios)
    return {
        "geometric_mean": _rounded(_geometric_mean(ratios)),
        "share_within_factor_2": _rounded(_mean([miss <= 2 for miss in misses])),
        "median_miss": _rounded(misses[len(misses) // 2] if misses else None),
        "worst_miss": _rounded(misses[-1] if misses else None),
    }


def _mean(values: list[Any]) -> float | None:
    return sum(values) / len(values) if values else None


def _geometric_mean(values: list[float]) -> float | None:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", help="names with commas between; all methods by default")
    parser.add_argument("--datasets", default=",".join(DATASETS), help="names with commas between")
    parser.add_argument("--max-rows", type=int, help="random rows at the most; all by default")
    parser.add_argument("--budget", type=float, help="seconds for the estimate of each table")
    parser.add_argument("--method-budget", type=float, default=900.0, metavar="SECONDS")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", default="cost_estimate", help="name of the result")
    options = parser.parse_args(arguments)
    known = [info.name for info in list_imputers()]
    options.methods = options.methods.split(",") if options.methods else known
    return options


def main(arguments: list[str] | None = None) -> int:
    """Estimate, run, and write both; return 1 if nothing could be compared."""
    options = parse(arguments)
    psutil.Process().nice(NICENESS)
    given = sys.argv[1:] if arguments is None else arguments
    tables = [compared(dataset, options) for dataset in options.datasets.split(",")]
    rows = [one for table in tables for one in table["rows"]]
    result = {
        "what": "actual over estimated seconds of one imputation; 2 means twice as slow",
        "command": shlex.join(["python", "-m", "benchmarks.speed.cost_estimate", *given]),
        "settings": {
            **MISSINGNESS,
            "seed": options.seed,
            "threads": options.threads,
            "budget_seconds": options.budget,
            "method_budget_seconds": options.method_budget,
            "cores": os.cpu_count(),
        },
        "summary": summary(rows),
        "tables": tables,
    }
    write_result(options.output, result)
    print(result["summary"])
    return 0 if result["summary"]["n_estimates"] else 1


if __name__ == "__main__":
    sys.exit(main())
