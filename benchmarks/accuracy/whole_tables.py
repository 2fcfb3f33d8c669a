"""Table 2 of the paper on whole tables: nothing sampled, no time limit but hyperimpute's.

The nine tables with all rows, three patterns (nested, MNAR) and two seeds; the paper's own preset,
600 epochs, on four tables with the general pattern. That takes days of one core. So the parts,
one method on one table with one pattern, come in the order of their expected cost, and the same
command resumes: parts that `paper_table2.json` has from this version of the library are done.

    PMAE_DATA_DIR=<folder of the tables> python -m benchmarks.accuracy.whole_tables [--minutes 60]
    python -m benchmarks.accuracy.whole_tables --list
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.recording import RESULTS
from pmae_core.errors import Cancelled
from pmae_core.evaluation import benchmark_table
from pmae_core.jobs.spec import installed_versions
from pmae_core.replication import EXPERIMENTS, Runner, Selection
from pmae_core.replication.printed_figures import DATASETS, PATTERNS
from pmae_core.replication.results import ResultFile

EXPERIMENT = "table2"
TASKS = Path("build") / "benchmark"
SEEDS = 2


@dataclass(frozen=True)
class Method:
    """A method of the benchmark.

    Attributes
    ----------
    name : str
        Name of the imputer.
    seconds : float
        Rough processor seconds per million cells, which decide the order only.
    params : mapping
        Its parameters.
    growth : float
        The power of the cells with which its time grows.
    budget_seconds : float, optional
        Time limit of a fit, for a method that would not end on some tables.
    """

    name: str
    seconds: float
    params: Mapping[str, Any] = field(default_factory=dict)
    growth: float = 1.0
    budget_seconds: float | None = None


METHODS = (
    Method("naive", 1),
    Method("em", 2),
    Method("softimpute", 3),
    Method("mice", 8),
    Method("knn", 60, growth=2.0),
    Method("pmae", 300, {"preset": "fast"}),
    Method("masked-trees", 300),
    Method("pmae-mix", 500),
    Method("missforest", 800),
    Method("pmae", 900),
    Method("pmae-trf", 1500),
    Method("miceforest", 2500),
    Method("hyperimpute", 4000, budget_seconds=3600.0),
)
PAPER = Method("pmae-mix", 60_000, {"preset": "paper"})
PAPER_TABLES = ("diabetes", "wine", "obesity", "bike")


@dataclass(frozen=True)
class Part:
    """One method on one table with one pattern, all seeds."""

    method: Method
    dataset: str
    pattern: str
    n_cells: int

    @property
    def expected_seconds(self) -> float:
        """Rough processor seconds, which decide the order only."""
        return SEEDS * self.method.seconds * (self.n_cells / 1e6) ** self.method.growth

    @property
    def selection(self) -> Selection:
        """What to run."""
        name, params = self.method.name, dict(self.method.params)
        return Selection(
            datasets=[self.dataset],
            patterns=[self.pattern],
            methods=[name],
            presets=[params.pop("preset")] if name == PAPER.name and params else None,
            method_params={name: params} if params else {},
            seeds=SEEDS,
            budget_seconds=self.method.budget_seconds,
        )

    def is_done(self, results: ResultFile, version: str) -> bool:
        """Say whether all seeds have a result of this version of the library."""
        (variant,) = EXPERIMENTS[EXPERIMENT].plan(self.selection).variants
        versions = [run["versions"]["pmae"] for run in results.runs()]
        table = results.table()
        if table.empty:
            return False
        own = table[
            (table["variant"] == variant.label)
            & (table["dataset"] == self.dataset)
            & (table["pattern"] == self.pattern)
            & table["max_rows"].isna()
            & table["run"].map(lambda run: versions[run] == version)
        ]
        return set(own["seed"]) >= set(range(SEEDS))


def parts() -> list[Part]:
    """Return all parts, the cheapest first."""
    n_cells = {name: benchmark_table(name).frame.size for name in DATASETS}
    cases = [*product(METHODS, DATASETS, PATTERNS), *product([PAPER], PAPER_TABLES, ["general"])]
    found = [Part(method, name, pattern, n_cells[name]) for method, name, pattern in cases]
    return sorted(found, key=lambda part: part.expected_seconds)


def missing_parts() -> Iterator[Part]:
    """Yield the parts without a result of this version, the cheapest first."""
    version = installed_versions()["pmae"]
    for part in parts():
        if not part.is_done(ResultFile(RESULTS, EXPERIMENT), version):
            yield part


def run(part: Part, deadline: float, n_jobs: int) -> None:
    """Run one part, its seeds at once if there are several jobs, and add it to the results."""
    command = shlex.join(["python", "-m", "benchmarks.accuracy.whole_tables"])
    runner = Runner(
        tasks_dir=TASKS,
        results_dir=RESULTS,
        about={"command": command, "versions": dict(installed_versions())},
        n_jobs=n_jobs,
        cancel=lambda: time.monotonic() > deadline,
    )
    runner.run(EXPERIMENTS[EXPERIMENT].plan(part.selection))


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing, as far as time allows."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after these")
    parser.add_argument("--jobs", type=int, default=1, help="seeds at a time")
    parser.add_argument("--methods", default="", help="names, commas; all by default")
    parser.add_argument("--list", action="store_true", help="list what is missing, run nothing")
    options = parser.parse_args(arguments)
    deadline = time.monotonic() + 60 * options.minutes
    wanted = set(filter(None, options.methods.split(",")))
    for part in missing_parts():
        if wanted and part.method.name not in wanted:
            continue
        print(part.method.name, dict(part.method.params), part.dataset, part.pattern, flush=True)
        if options.list:
            continue
        try:
            run(part, deadline, options.jobs)
        except Cancelled:
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
