"""Do 95% confidence intervals from pooled imputations contain the truth in 95% of tables?

Three designs with a known truth (`benchmarks.coverage_designs`): a linear one, a non-linear one,
and one with a skewed column, a category and an interaction. Every table is imputed ten times;
estimates are pooled by Rubin's rules with Barnard and Rubin's degrees of freedom. `complete` are
the tables before cells were made missing, `complete-cases` only the rows without missing cells,
`r-mice` and `r-mice-norm` are R's package mice (predictive mean matching and normal draws) on the
same tables; `benchmarks.other_packages` says how to install them. Its other packages that impute
at random are run if named.

A fourth part, `distribution`, asks whether imputed values have the shape of observed ones.

Every finished run is appended to `coverage_runs.jsonl`, and the same command resumes where it was
stopped. Several commands may run at a time with different methods. All on one thread.

    python -m benchmarks.accuracy.coverage
    python -m benchmarks.accuracy.coverage --methods mice,r-mice --designs linear --replications 50
    python -m benchmarks.accuracy.coverage --only-summary
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student
from threadpoolctl import threadpool_limits

from benchmarks.coverage_designs import Design, Quantity, designs
from benchmarks.distribution_tables import shape_tables
from benchmarks.other_packages import PEERS, impute_with, worker_command
from benchmarks.recording import RESULTS, append_records, read_records, write_result
from benchmarks.variants import make_variant
from pmae_core.inference import Pooled, pool_estimates
from pmae_core.inference.estimands import Estimate
from pmae_core.table import Schema

RUNS = RESULTS / "coverage_runs.jsonl"
DISTRIBUTION = "distribution"
N_IMPUTATIONS = 10
N_ROUNDS_OF_R = 10
# Tables per shape; each has 150 missing cells, imputed ten times.
SHAPE_REPLICATIONS = 10

TRUTH, CASES = "complete", "complete-cases"
IN_PACKAGES = {
    **{name: peer for name, peer in PEERS.items() if peer.draws},
    **{
        name: replace(PEERS["r-mice"], options=(str(N_ROUNDS_OF_R), numbers))
        for name, numbers in {"r-mice": "pmm", "r-mice-norm": "norm"}.items()
    },
}
METHODS = (
    *(TRUTH, CASES, "r-mice", "r-mice-norm"),
    *("em", "mice", "miceforest", "masked-trees", "pmae"),
)


def impute(method: str, table: pd.DataFrame, roles: dict[str, str], seed: int) -> list:
    """Return ten imputations of a table."""
    if method in IN_PACKAGES:
        schema = Schema.infer(table, roles=roles)
        imputations, _ = impute_with(
            IN_PACKAGES[method], table, schema, seed, n_imputations=N_IMPUTATIONS
        )
        return imputations
    # The imputations of miceforest do not come from the tables that fit aggregates, so one of
    # them suffices.
    params = {"n_datasets": 1} if method == "miceforest" else {}
    imputer = make_variant(method, schema=roles, random_state=seed, **params)
    return imputer.fit(table).sample(table, N_IMPUTATIONS)


def interval(quantity: Quantity, value: float, variance: float, df: float) -> list[float]:
    """Return an estimate and the limits of its 95% confidence interval."""
    half = student.ppf(0.975, df) * math.sqrt(variance)
    return [round(quantity.on_own_scale(one), 6) for one in (value, value - half, value + half)]


def pooled_estimate(estimates: list[Estimate]) -> Pooled:
    """Return estimates from several imputations, pooled."""
    return pool_estimates(
        [one.value for one in estimates], [one.variance for one in estimates], estimates[0].df
    )


def cpu_seconds() -> float:
    """Return seconds of the processor so far, of R too."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def run_design(design: Design, method: str, seed: int) -> dict[str, Any]:
    """Return the intervals of one method from one table."""
    complete, incomplete = design.tables(seed)
    if method in (TRUTH, CASES):
        found = design.estimates(complete if method == TRUTH else incomplete.dropna())
        estimates = {
            name: interval(design.quantities[name], one.value, one.variance, one.df)
            for name, one in found.items()
        }
        return {"estimates": estimates}
    started = cpu_seconds()
    imputations = impute(method, incomplete, design.roles(), seed)
    spent = cpu_seconds() - started
    each = [design.estimates(one) for one in imputations]
    estimates = {}
    for name, quantity in design.quantities.items():
        one = pooled_estimate([found[name] for found in each])
        estimates[name] = interval(quantity, one.estimate, one.total, one.df)
    return {"estimates": estimates, "cpu_seconds": round(spent, 2)}


def run_distribution(method: str, seed: int) -> dict[str, Any]:
    """Return the figures of shape of one method, from one table per shape."""
    figures = {}
    for table in shape_tables(seed):
        roles = {
            name: "numerical" if pd.api.types.is_numeric_dtype(cells) else "categorical"
            for name, cells in table.complete.items()
        }
        imputed = (
            [table.complete] if method == TRUTH else impute(method, table.incomplete, roles, seed)
        )
        each = pd.DataFrame([table.figures(one) for one in imputed])
        figures |= each.mean().round(4).to_dict()
    return {"figures": figures}


def tasks(methods: list[str], names: list[str], replications: int) -> Iterator[dict[str, Any]]:
    """Yield what there is to run, one replication of everything before the next."""
    for seed, name, method in product(range(replications), names, methods):
        if name == DISTRIBUTION and (seed >= SHAPE_REPLICATIONS or method == CASES):
            continue
        # Normal draws are the yardstick where everything is normal.
        if method == "r-mice-norm" and name != "linear":
            continue
        yield {"design": name, "replication": seed, "method": method}


def recorded() -> list[dict[str, Any]]:
    """Return all runs so far."""
    return read_records(RUNS)


def is_left_out(method: str) -> bool:
    """Whether a package is not there; say so."""
    command = worker_command(IN_PACKAGES[method].folder) if method in IN_PACKAGES else []
    if isinstance(command, str):
        print(f"{method}: {command}")
    return isinstance(command, str)


def measure(options: argparse.Namespace) -> None:
    """Run what is not recorded yet."""
    methods = [name for name in options.methods.split(",") if not is_left_out(name)]
    key = ("design", "replication", "method")
    done = {tuple(run[name] for name in key) for run in recorded()}
    for task in tasks(methods, options.designs.split(","), options.replications):
        if tuple(task.values()) in done:
            continue
        name, seed, method = task.values()
        found = (
            run_distribution(method, seed)
            if name == DISTRIBUTION
            else run_design(designs()[name], method, seed)
        )
        append_records(RUNS, [{**task, **found}])


def intervals(runs: list[dict[str, Any]], name: str) -> pd.DataFrame:
    """Return one row per run and quantity of a design: estimate, limits, width and truth."""
    truths = designs()[name].truths
    rows = [
        (run["method"], run["replication"], quantity, *limits, truths[quantity])
        for run in runs
        for quantity, limits in run["estimates"].items()
    ]
    columns = ["method", "replication", "quantity", "estimate", "low", "high", "truth"]
    found = pd.DataFrame(rows, columns=columns)
    found["covers"] = found["low"].le(found["truth"]) & found["truth"].le(found["high"])
    return found.assign(width=found["high"] - found["low"])


def coverage_of(own: pd.DataFrame, widths: dict[str, pd.Series]) -> dict[str, Any]:
    """Return coverage, bias and width of one method on one design.

    Parameters
    ----------
    own : DataFrame
        Its intervals.
    widths : dict
        Widths of other methods by replication and quantity, to divide by.
    """
    by_quantity = own.groupby("quantity", sort=False)
    coverage = by_quantity["covers"].mean()
    own_width = own.set_index(["replication", "quantity"])["width"]

    def relative(other: str) -> pd.Series:
        return (own_width / widths[other]).groupby("quantity").mean()

    quantities: dict[str, dict[str, float]] = {
        name: {
            "coverage": round(float(coverage[name]), 3),
            "truth": round(float(rows["truth"].iloc[0]), 4),
            "bias": round(float((rows["estimate"] - rows["truth"]).mean()), 4),
            **{
                f"width_over_{other}": round(float(relative(other)[name]), 3)
                for other in widths
                if np.isfinite(relative(other)[name])
            },
        }
        for name, rows in by_quantity
    }
    return {
        "replications": int(own["replication"].nunique()),
        "mean_coverage": round(float(coverage.mean()), 3),
        "lowest_coverage": round(float(coverage.min()), 3),
        **{
            f"width_over_{other}": round(float(relative(other).mean()), 3)
            for other in widths
            if relative(other).notna().any()
        },
        "quantities": quantities,
    }


def mean_cost(runs: list[dict[str, Any]], method: str) -> dict[str, float]:
    """Return the mean seconds of the processor per table, where they were measured."""
    spent = [run["cpu_seconds"] for run in runs if run["method"] == method and "cpu_seconds" in run]
    return {"cpu_seconds": round(float(np.mean(spent)), 2)} if spent else {}


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what every method reaches on every design that has runs."""
    found: dict[str, Any] = {}
    for name in designs():
        own = [run for run in runs if run["design"] == name]
        if not own:
            continue
        table = intervals(own, name)
        widths = {
            yardstick: rows.set_index(["replication", "quantity"])["width"]
            for yardstick, rows in table.groupby("method")
            if yardstick in (TRUTH, "r-mice")
        }
        found[name] = {
            method: {**coverage_of(rows, widths), **mean_cost(own, method)}
            for method, rows in table.groupby("method", sort=False)
        }
    shapes = [run for run in runs if run["design"] == DISTRIBUTION]
    if shapes:
        table = pd.DataFrame([{"method": run["method"], **run["figures"]} for run in shapes])
        means = table.groupby("method", sort=False).mean().round(3)
        found[DISTRIBUTION] = means.to_dict(orient="index")
    return found


def commands(runs: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Return the commands that make all these runs, whatever commands made them."""
    table = pd.DataFrame(runs)
    replications = table.groupby(["method", "design"], sort=False)["replication"].max() + 1
    alike: dict[tuple[str, int], list[str]] = {}
    for method, own in replications.groupby("method", sort=False):
        for n, some in own.groupby(own, sort=False):
            names = ",".join(some.index.get_level_values("design"))
            alike.setdefault((names, int(n)), []).append(str(method))
    return [
        {
            "command": shlex.join(
                [
                    *("python", "-m", "benchmarks.accuracy.coverage"),
                    f"--methods={','.join(methods)}",
                    f"--designs={names}",
                    f"--replications={n}",
                ]
            )
        }
        for (names, n), methods in alike.items()
    ]


def show(found: dict[str, Any]) -> None:
    """Print the main figures."""
    for name, methods in found.items():
        print(name)
        for method, figures in methods.items():
            each = figures.get("quantities", {})
            more = {quantity: one["coverage"] for quantity, one in each.items()}
            main = {key: value for key, value in figures.items() if key != "quantities"}
            print(f"  {method}: {main} {more}")


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing, and summarize."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", default=",".join(METHODS), help="names, commas")
    parser.add_argument(
        "--designs", default=",".join([*designs(), DISTRIBUTION]), help="names, commas"
    )
    parser.add_argument("--replications", type=int, default=200, help="tables per design")
    parser.add_argument("--only-summary", action="store_true", help="run nothing")
    options = parser.parse_args(arguments)
    if not options.only_summary:
        with threadpool_limits(1):
            measure(options)
    result = summary(recorded())
    write_result(
        "coverage",
        {
            "what": "share of nominal 95% confidence intervals that contain the truth, from ten "
            "imputations pooled by Rubin's rules; its standard error is .015 at 200 replications "
            "(n = 300, 30 or 35% missing in three columns, MAR)",
            "commands": commands(recorded()),
            "designs": result,
        },
    )
    show(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
