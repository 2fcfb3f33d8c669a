"""The blend beside its members and other methods: on the paper's tables, and on tables kept aside.

Three parts, all nested and MNAR: the nine tables with at most 10,000 rows (news 4,000), the nine
with at most 500, and the tables of `benchmarks.tables.TO_REPORT_ON`, on which nothing was chosen.

One fit of `pmae` gives four figures: its answer after the Gaussians, that after the trees, its last
answer, and the imputation of its network alone, which is that of `pmae-mix` with the same seed (a
test shows it). Where `paper_table2.csv` has a method on the very same missing cells, its accuracy
is taken from there.

Every finished fit is appended to `blend_runs.jsonl`, and the same command resumes where it was
stopped. Several commands may run at a time on different tables or methods.

    PMAE_DATA_DIR=<folder of the tables> python -m benchmarks.accuracy.blend
    python -m benchmarks.accuracy.blend --only-summary
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pandas as pd

from benchmarks.recording import RESULTS, append_records, read_records, write_result
from benchmarks.tables import TO_REPORT_ON, load_table
from pmae_core import ampute
from pmae_core.amputation import Amputation
from pmae_core.evaluation import score_imputation
from pmae_core.events import AnswerImproved
from pmae_core.imputers import make_imputer
from pmae_core.replication.printed_figures import DATASETS, PATTERNS
from pmae_core.table import Schema

RUNS = RESULTS / "blend_runs.jsonl"
TABLE2 = RESULTS / "paper_table2.csv"
BLEND, FAST, NETWORK = "pmae", "pmae-fast", "pmae-mix"
FITTED: dict[str, tuple[str, dict[str, Any]]] = {
    BLEND: (BLEND, {}),
    FAST: (BLEND, {"preset": "fast"}),
    "missforest": ("missforest", {}),
    "naive": ("naive", {}),
    "knn": ("knn", {}),
    "em": ("em", {}),
    "mice": ("mice", {}),
    "without-trees": (BLEND, {"members": ("network", "gaussian")}),
    "without-gaussian": (BLEND, {"members": ("network", "trees")}),
}
ABLATIONS = ("without-trees", "without-gaussian")
STAGES = {"gaussian": "pmae-gaussian", "trees": "pmae-trees", "network": BLEND}
# A method is tied with the best if it is at most this many points of accuracy below it.
TIED_WITHIN = 0.5
CELL = ["part", "dataset", "pattern"]


@dataclass(frozen=True)
class Part:
    """Tables, patterns and seeds.

    Attributes
    ----------
    datasets, patterns : tuple of str
        The tables, and the patterns of their missing values.
    max_rows : int
        Larger tables are sampled down to this number.
    seeds : int
        How many.
    fewer_rows : dict
        Tables that are sampled down further.
    """

    datasets: tuple[str, ...]
    patterns: tuple[str, ...]
    max_rows: int
    seeds: int
    fewer_rows: dict[str, int] = field(default_factory=dict)

    @property
    def n_cases(self) -> int:
        """Number of tables, patterns and seeds."""
        return len(self.datasets) * len(self.patterns) * self.seeds

    def rows_of(self, dataset: str) -> int:
        """Return the maximum number of rows of a table."""
        return self.fewer_rows.get(dataset, self.max_rows)


PARTS = {
    "report": Part(TO_REPORT_ON, ("general", "quasi-monotone"), 2_000, 2),
    "few-rows": Part(DATASETS, PATTERNS, 500, 3),
    "nine": Part(DATASETS, PATTERNS, 10_000, 3, {"news": 4_000}),
}


def simulated(dataset: str, pattern: str, seed: int, max_rows: int) -> tuple[Amputation, Schema]:
    """Return a table with simulated missing values, and the roles of its columns."""
    table = load_table(dataset, max_rows=max_rows)
    amputed = ampute(
        table.frame,
        pattern=pattern,
        mechanism="MNAR",
        coupling="nested",
        seed=seed,
        schema=table.schema,
    )
    return amputed, table.schema


def accuracy_x100(amputed: Amputation, imputed: pd.DataFrame, schema: Schema) -> float:
    """Return the imputation accuracy × 100 of an imputed table."""
    score = score_imputation(amputed.truth, imputed, amputed.missing, schema)
    return round(100 * score.overall["imputation_accuracy"], 3)


def run_method(method: str, dataset: str, pattern: str, seed: int, max_rows: int) -> list[dict]:
    """Impute one table with one method; return one run per figure that the fit gives."""
    amputed, schema = simulated(dataset, pattern, seed, max_rows)

    def timed_accuracy(impute: Callable[[], pd.DataFrame]) -> tuple[float, float]:
        started = time.process_time()
        imputed = impute()
        return accuracy_x100(amputed, imputed, schema), time.process_time() - started

    found: list[dict] = []
    paused = 0.0

    def at_answer(event: Any) -> None:
        nonlocal paused
        if not isinstance(event, AnswerImproved):
            return
        seconds = time.process_time() - started - paused
        before = time.process_time()
        reached, took = timed_accuracy(lambda: imputer.transform(amputed.incomplete))
        found.append(
            {
                "method": STAGES[event.members[-1]],
                "accuracy": reached,
                "cpu_seconds": round(seconds + took, 2),
                "seconds_to_answer": round(event.seconds, 2),
            }
        )
        paused += time.process_time() - before

    name, params = FITTED[method]
    imputer = make_imputer(name, schema=schema, random_state=seed, **params)
    started = time.process_time()
    imputer.fit(amputed.incomplete, callbacks=[at_answer] if method == BLEND else [])
    if method != BLEND:
        spent = time.process_time() - started
        reached, took = timed_accuracy(lambda: imputer.transform(amputed.incomplete))
        return [{"method": method, "accuracy": reached, "cpu_seconds": round(spent + took, 2)}]
    found[-1]["shares"] = imputer.shares_.mean().round(3).to_dict()
    found[-1]["best_step"] = imputer.training_result_.best_step
    encoder = imputer.encoder_
    encoded = encoder.transform(amputed.incomplete)
    alone = encoder.decode(imputer.blend_.network.impute(encoded), amputed.incomplete)
    return [*found, {"method": NETWORK, "accuracy": accuracy_x100(amputed, alone, schema)}]


def tasks(parts: list[str], datasets: list[str], methods: list[str]) -> Iterator[dict[str, Any]]:
    """Yield what there is to run, one seed of everything before the next."""
    most_seeds = max(PARTS[name].seeds for name in parts)
    for seed, name, method in product(range(most_seeds), parts, methods):
        part = PARTS[name]
        if seed >= part.seeds:
            continue
        for dataset, pattern in product(part.datasets, part.patterns):
            if not datasets or dataset in datasets:
                yield {
                    "part": name,
                    "dataset": dataset,
                    "pattern": pattern,
                    "seed": seed,
                    "method": method,
                }


def recorded() -> list[dict[str, Any]]:
    """Return all runs so far."""
    return read_records(RUNS)


def from_table2(task: dict[str, Any]) -> dict[str, Any] | None:
    """Return the figure that `paper_table2.csv` has for the same missing cells, if any."""
    part = PARTS[task["part"]]
    if task["part"] == "report" or not TABLE2.exists() or task["method"] == BLEND:
        return None
    rows = pd.read_csv(TABLE2)
    most = part.rows_of(task["dataset"])
    same_rows = (rows["max_rows"] == most) | (rows["max_rows"].isna() & (rows["n_rows"] <= most))
    same = rows[
        same_rows
        & (rows["status"] == "done")
        & (rows["variant"] == task["method"])
        & (rows["dataset"] == task["dataset"])
        & (rows["pattern"] == task["pattern"])
        & (rows["seed"] == task["seed"])
    ]
    if same.empty:
        return None
    accuracy = round(100 * float(same["imputation_accuracy"].iloc[0]), 3)
    return {"method": task["method"], "accuracy": accuracy, "from": TABLE2.name}


def measure(options: argparse.Namespace) -> None:
    """Run what is not recorded yet."""
    key = ("part", "dataset", "pattern", "seed", "method")
    done = {tuple(run[name] for name in key) for run in recorded()}
    methods = options.methods.split(",")
    datasets = options.datasets.split(",") if options.datasets else []
    for task in tasks(options.parts.split(","), datasets, methods):
        if tuple(task[name] for name in key) in done:
            continue
        most = PARTS[task["part"]].rows_of(task["dataset"])
        known = from_table2(task)
        found = (
            [known]
            if known
            else run_method(task["method"], task["dataset"], task["pattern"], task["seed"], most)
        )
        records = [{**task, **one} for one in found]
        append_records(RUNS, records)
        print(*map(json.dumps, records), sep="\n", flush=True)


def accuracies(runs: pd.DataFrame) -> pd.DataFrame:
    """Return mean accuracies over seeds: one row per table and pattern, one column per method.

    Only seeds that every method of a table and pattern has are used, so that all means stand on the
    same missing cells. A method that lacks them all has none.
    """
    wide = runs.pivot_table(index=[*CELL, "seed"], columns="method", values="accuracy")
    was_run = wide.groupby(CELL).transform("count") > 0
    return wide[(wide.notna() | ~was_run).all(axis="columns")].groupby(CELL).mean()


def compare_blend(table: pd.DataFrame) -> dict[str, Any]:
    """Compare the blend with the other methods on some tables and patterns."""
    complete = table.dropna(axis="columns")
    own = (*STAGES.values(), FAST, *ABLATIONS)
    rivals = complete.drop(columns=[name for name in own if name in complete and name != BLEND])
    behind = _behind_the_best(rivals)
    means = complete.mean().round(2).sort_values(ascending=False)
    return {
        "tables_and_patterns": len(table),
        "mean_accuracy": means.to_dict(),
        "first_or_tied_on": int((behind <= TIED_WITHIN).sum()),
        "largest_distance_to_the_best": round(float(behind.max()), 2),
        "largest_distance_to_the_best_of_a_table": round(
            float(_behind_the_best(rivals.groupby("dataset").mean()).max()), 2
        ),
        "blend_above": {name: _above(complete, name) for name in complete if name != BLEND},
    }


def _behind_the_best(accuracy: pd.DataFrame) -> pd.Series:
    """Return how far the blend is behind the best method of each row."""
    return accuracy.max(axis="columns") - accuracy[BLEND]


def _above(accuracy: pd.DataFrame, method: str) -> dict[str, float]:
    """Return how far the blend is above a method: in points, and as a ratio of the means.

    The ratio of what both gain over the mean and the mode says more where these are already right
    in many cells.
    """
    means = accuracy.mean()
    found = {"points": means[BLEND] - means[method], "ratio": means[BLEND] / means[method]}
    if "naive" in means and method != "naive":
        gains = means - means["naive"]
        found["ratio_of_gains_over_naive"] = gains[BLEND] / gains[method]
    return {
        name: round(float(value), 2 if name == "points" else 3) for name, value in found.items()
    }


def cost(runs: pd.DataFrame) -> dict[str, Any]:
    """Return CPU seconds of each method, on the cases in which all of them were timed here."""
    timed = runs[runs["cpu_seconds"].notna()]
    wide = timed.pivot_table(index=[*CELL, "seed"], columns="method", values="cpu_seconds").dropna()
    means = wide.mean()
    found: dict[str, Any] = {"cases": len(wide), "mean_cpu_seconds": means.round(2).to_dict()}
    if {FAST, "missforest"} <= set(means.index):
        found["fast_over_missforest"] = round(float(means[FAST] / means["missforest"]), 3)
    return found


def summary(runs: pd.DataFrame) -> dict[str, Any]:
    """Return the comparison and the cost of every part that has runs."""
    runs = runs.reindex(columns=[*CELL, "seed", "method", "accuracy", "cpu_seconds"])
    found = {}
    for name in PARTS:
        part = runs[runs["part"] == name]
        if part.empty:
            continue
        whole = part.groupby([*CELL, "seed"])["method"].agg(set)
        cases = whole[whole.map(lambda methods: methods >= {BLEND, "missforest"})].index
        shared = part.set_index([*CELL, "seed"]).loc[cases].reset_index()
        if shared.empty:
            continue
        table = accuracies(shared)
        found[name] = {
            "cases": len(cases),
            "wanted_cases": PARTS[name].n_cases,
            "seeds": PARTS[name].seeds,
            "tied_within": TIED_WITHIN,
            **compare_blend(table),
            "cost": cost(shared),
            "by_table": [
                {**dict(zip(CELL, index, strict=True)), **row.round(2).dropna().to_dict()}
                for index, row in table.iterrows()
            ],
        }
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing, and summarize."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS), help="names, commas")
    parser.add_argument("--datasets", default="", help="names, commas; all by default")
    usual = ",".join(name for name in FITTED if name not in ABLATIONS)
    parser.add_argument("--methods", default=usual, help="names, commas")
    parser.add_argument("--only-summary", action="store_true", help="run nothing")
    options = parser.parse_args(arguments)
    if not options.only_summary:
        measure(options)
    result = summary(pd.DataFrame(recorded()))
    write_result(
        "blend",
        {
            "what": "imputation accuracy × 100 (nested, MNAR): pmae is `balanced`, pmae-gaussian "
            "and pmae-trees are its earlier answers, pmae-mix its network alone",
            "command": "python -m benchmarks.accuracy.blend",
            "parts": result,
        },
    )
    for name, part in result.items():
        print(name, {key: value for key, value in part.items() if key != "by_table"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
