"""Our methods beside other packages, on the very same masks.

Missing values are simulated in every table (general pattern, nested, MNAR); every method imputes
the same cells and is scored against their true values. Each run has a process of its own with one
thread, which measures its processor time and memory. How the other packages are used is in
`benchmarks.other_packages`. How often their intervals contain the truth is measured by
`benchmarks.accuracy.coverage`.

Every run that ended is kept in the result, failed ones too, and the same command resumes where it
was stopped. A run is skipped where a package cannot be installed or a table cannot be loaded; the
next command tries it again. After a change to a method, measure it again with --anew.

    python -m benchmarks.accuracy.peers
    python -m benchmarks.accuracy.peers --methods=pmae --peers= --anew
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.exchange import read_ours, write_ours
from benchmarks.missingness import MISSINGNESS
from benchmarks.other_packages import PEERS, RunFailed, RunSkipped, impute_with, run_worker
from benchmarks.recording import RESULTS, write_result
from benchmarks.tables import FURTHER, TO_REPORT_ON, load_table
from benchmarks.variants import VARIANTS
from pmae_core import ampute
from pmae_core.amputation import Amputation
from pmae_core.errors import PMAEError
from pmae_core.evaluation import score_imputation
from pmae_core.imputers import list_imputers
from pmae_core.table import Schema
from pmae_core.table.samples.datasets import BENCHMARK_NAMES

NAME = "peers"
METHODS = ("pmae", "pmae-fast", "masked-trees", "missforest")
ACCURACY = "imputation_accuracy_x100"

Run = dict[str, Any]


def simulate(name: str, max_rows: int, seed: int) -> tuple[Amputation, Schema]:
    """Return a table with simulated missing values."""
    table = load_table(name, max_rows, seed)
    return ampute(table.frame, **MISSINGNESS, seed=seed, schema=table.schema), table.schema


def impute_ours(
    method: str, amputed: Amputation, schema: Schema, seed: int, limit: float
) -> tuple[Any, Run]:
    """Return what one of our methods imputed, and its cost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_ours(folder, amputed.incomplete, schema)
        module = "benchmarks.peers.ours.impute"
        command = [sys.executable, "-m", module, name, str(seed), method]
        cost = run_worker(command, folder, limit)
        return read_ours(folder), cost


def impute_peer(
    peer: str, amputed: Amputation, schema: Schema, seed: int, limit: float
) -> tuple[Any, Run]:
    """Return what another package imputed, and its cost."""
    (imputed,), cost = impute_with(PEERS[peer], amputed.incomplete, schema, seed, limit)
    return imputed, cost


def measure(
    impute: Callable[..., tuple[Any, Run]],
    amputed: Amputation,
    schema: Schema,
    seed: int,
    limit: float,
) -> Run:
    """Impute one table; return status, accuracy and cost, or a sentence that says what failed."""
    try:
        imputed, cost = impute(amputed=amputed, schema=schema, seed=seed, limit=limit)
        score = score_imputation(amputed.truth, imputed, amputed.missing, schema).overall
    except RunSkipped as error:
        return {"status": "skipped", "sentence": str(error)}
    except (RunFailed, PMAEError) as error:
        return {"status": "failed", "sentence": str(error)}
    return {
        "status": "done",
        "sentence": "",
        ACCURACY: round(100 * score["imputation_accuracy"], 2),
        **cost,
    }


def imputers(options: argparse.Namespace) -> dict[str, Callable[..., tuple[Any, Run]]]:
    """Return what imputes under each name in the results: peers first."""
    peers = {peer: partial(impute_peer, peer) for peer in options.peers}
    return {**peers, **{method: partial(impute_ours, method) for method in options.methods}}


def measure_all(options: argparse.Namespace, runs: list[Run]) -> Iterator[Run]:
    """Yield the runs that are asked for and not among `runs`."""
    for seed in range(options.seeds):
        for table in options.tables:
            key = {"table": table, "seed": seed, "max_rows": options.max_rows}
            open_methods = {
                method: impute
                for method, impute in imputers(options).items()
                if not any({**key, "method": method}.items() <= run.items() for run in runs)
            }
            if not open_methods:
                continue
            try:
                amputed, schema = simulate(table, options.max_rows, seed)
            except PMAEError as error:
                outcome = {"status": "skipped", "sentence": str(error)}
                yield from ({**key, "method": method, **outcome} for method in open_methods)
                continue
            for method, impute in open_methods.items():
                found = measure(impute, amputed, schema, seed, options.time_limit)
                yield {**key, "method": method, "rows": len(amputed.truth), **found}


def summary(runs: list[Run]) -> dict[str, Any]:
    """Return the mean figures of each method on what all methods finished, and by pairs.

    A method that finished nothing has no part in what is shared; its failures are counted.
    """
    by_method: dict[str, list[Run]] = {}
    for run in runs:
        by_method.setdefault(run["method"], []).append(run)
    done = {method: _done(some) for method, some in by_method.items()}
    finished = [set(some) for some in done.values() if some]
    shared = sorted(set.intersection(*finished)) if finished else []
    return {
        "shared": [{"table": table, "seed": seed} for table, seed in shared],
        "methods": [
            {
                "method": method,
                **{status: _count(some, status) for status in ("done", "failed", "skipped")},
                "mean_accuracy_x100": _mean(done[method], shared, ACCURACY),
                "mean_cpu_seconds": _mean(done[method], shared, "cpu_seconds"),
                "mean_peak_megabytes": _mean(done[method], shared, "peak_megabytes"),
                "mean_libraries_megabytes": _mean(done[method], shared, "libraries_megabytes"),
            }
            for method, some in by_method.items()
        ],
        "pairs": list(_pairs(done)),
    }


def _pairs(done: dict[str, dict[tuple[str, int], Run]]) -> Iterator[dict[str, Any]]:
    """Compare each of our methods with each peer on all that these two finished."""
    peers = [method for method in done if method in PEERS]
    for method in (method for method in done if method not in peers):
        for peer in peers:
            both = sorted(done[method].keys() & done[peer].keys())
            if both:
                ours, theirs = (_mean(done[name], both, ACCURACY) for name in (method, peer))
                yield {
                    "method": method,
                    "against": peer,
                    "tables_and_seeds": len(both),
                    "difference": round(ours - theirs, 2),
                    "better_on": sum(
                        done[method][key][ACCURACY] > done[peer][key][ACCURACY] for key in both
                    ),
                    "mean_cpu_seconds": _mean(done[method], both, "cpu_seconds"),
                    "mean_cpu_seconds_of_peer": _mean(done[peer], both, "cpu_seconds"),
                }


def _done(runs: list[Run]) -> dict[tuple[str, int], Run]:
    return {(run["table"], run["seed"]): run for run in runs if run["status"] == "done"}


def _count(runs: list[Run], status: str) -> int:
    return sum(run["status"] == status for run in runs)


def _mean(done: dict[tuple[str, int], Run], keys: list[tuple[str, int]], figure: str) -> Any:
    """Return a mean over tables and seeds; None if a figure is not there for all of them."""
    figures = [done[key].get(figure) for key in keys] if done else []
    if not figures or None in figures:
        return None
    return round(statistics.mean(figures), 2)


def write(options: argparse.Namespace, runs: list[Run], versions: dict[str, Any]) -> None:
    """Write all runs, and a summary of those with as many rows."""
    alike = [run for run in runs if run["max_rows"] == options.max_rows]
    write_result(
        NAME,
        {
            "what": "imputation accuracy (x100) of our methods and of other packages on the same "
            "masks (general, nested, MNAR); a process with one thread for each run",
            "command": command(alike, options.max_rows),
            "settings": {
                **MISSINGNESS,
                "time_limit_seconds": options.time_limit,
                "peers": {name: peer.how for name, peer in PEERS.items()},
                "cpu_seconds": "imputation alone, without imports and reading",
                "peak_megabytes": "of the whole process with its libraries, which include torch "
                "for those of our methods that need it",
            },
            "versions": versions,
            "summary": summary(alike),
            "runs": runs,
        },
    )


def command(runs: list[Run], max_rows: int) -> str:
    """Return the command that makes all these runs, whatever commands made them."""
    names = list(dict.fromkeys(run["method"] for run in runs))
    given = {
        "tables": ",".join(dict.fromkeys(run["table"] for run in runs)),
        "methods": ",".join(name for name in names if name not in PEERS),
        "peers": ",".join(peer for peer in PEERS if peer in names),
        "seeds": 1 + max(run["seed"] for run in runs),
        "max-rows": max_rows,
    }
    flags = [f"--{flag}={value}" for flag, value in given.items()]
    return shlex.join(["python", "-m", "benchmarks.accuracy.peers", *flags])


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options; end with an error for names that nothing has."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", type=_names, default=list(TO_REPORT_ON), help="commas")
    parser.add_argument("--methods", type=_names, default=list(METHODS), help="ours, commas")
    parser.add_argument("--peers", type=_names, default=list(PEERS), help="others, commas")
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--max-rows", type=int, default=1000, help="larger tables are sampled")
    parser.add_argument("--time-limit", type=float, default=1800.0, help="seconds per run")
    parser.add_argument("--anew", action="store_true", help="repeat the runs asked for")
    options = parser.parse_args(arguments)
    known = {
        "tables": (*BENCHMARK_NAMES, *FURTHER),
        "methods": [*(info.name for info in list_imputers()), *VARIANTS],
        "peers": list(PEERS),
    }
    for kind, names in known.items():
        unknown = [name for name in getattr(options, kind) if name not in names]
        if unknown:
            parser.error(f"unknown {kind}: {', '.join(unknown)}. Choose from {', '.join(names)}.")
    return options


def kept(options: argparse.Namespace) -> tuple[list[Run], dict[str, Any]]:
    """Return the runs of earlier commands that need not be repeated, and the versions they used."""
    path = RESULTS / f"{NAME}.json"
    if not path.exists():
        return [], {}
    result = json.loads(path.read_text())

    def is_asked_for(run: Run) -> bool:
        return (
            run["table"] in options.tables
            and run["seed"] < options.seeds
            and run["max_rows"] == options.max_rows
            and run["method"] in imputers(options)
        )

    runs = [
        run
        for run in result["runs"]
        if not (is_asked_for(run) and (options.anew or run["status"] == "skipped"))
    ]
    return runs, result["versions"]


def main(arguments: list[str] | None = None) -> int:
    """Run every method on every table; write results as they come."""
    options = parse(arguments)
    runs, versions = kept(options)
    for run in measure_all(options, list(runs)):
        if "versions" in run:
            versions[run["method"]] = run.pop("versions")
        runs.append(run)
        print(run, flush=True)
        write(options, runs, versions)
    return 0


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


if __name__ == "__main__":
    sys.exit(main())
