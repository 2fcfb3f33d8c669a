"""All methods on the small tables of the paper, our figures beside the printed ones.

Diabetes, wine and obesity; monotone, quasi-monotone and general patterns; nested, MNAR. Every
finished task is kept under build/, so that the same command resumes where it was stopped, and
beside the results, so that it resumes on another machine, too. After a change to a method, give its
name to --anew. `pmae benchmark` runs the larger tables and the other experiments of the paper.

    export PMAE_DATA_DIR=<folder of the benchmark tables>
    python -m benchmarks.accuracy.small_tables
    python -m benchmarks.accuracy.small_tables --anew pmae-mix
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from pmae_core.evaluation import Comparison
from pmae_core.evaluation.tasks import TaskFinished
from pmae_core.events import Event
from pmae_core.imputers import list_imputers
from pmae_core.replication import Runner, Variant
from pmae_core.replication.printed_figures import NOTES, PATTERNS, REASONS, printed_figure
from pmae_core.replication.run import PAPER_SCORES, Cell
from pmae_core.replication.variants import AUTOENCODERS
from pmae_core.storage.files import read_sealed, write_sealed

ROOT = Path(__file__).parents[2]
DATASETS = ("diabetes", "wine", "obesity")
METHOD_BUDGET_SECONDS = 900.0
FAR_POINTS = 5.0
QUICK_STEPS = {"steps": 20, "encoder_depth": 1, "decoder_depth": 1}


def compared(cell: Cell, variants: list[Variant], options: argparse.Namespace) -> Comparison:
    """Run or resume all methods on one table with one pattern of missingness."""

    def show(event: Event) -> None:
        if isinstance(event, TaskFinished) and not event.from_disk:
            task = event.result
            accuracy = task.scores.get("imputation_accuracy")
            outcome = task.error if accuracy is None else f"{100 * accuracy:.1f}"
            where = f"{cell.dataset}, {cell.pattern}, {task.method}, seed {task.seed}"
            print(f"{where}: {outcome}", flush=True)

    runner = Runner(
        tasks_dir=options.results_dir,
        results_dir=options.output.parent,
        retry_failed=options.retry_failed,
        n_jobs=options.jobs,
    )
    return runner.compare_cell(
        cell,
        cell.load(),
        variants,
        seeds=options.seeds,
        budget_seconds=options.method_budget,
        callbacks=(show,),
    )


def variants_of(methods: list[str], quick: bool) -> list[Variant]:
    """Return the methods with their defaults, or with small networks for a quick run."""
    return [
        Variant(name, QUICK_STEPS if quick and name in AUTOENCODERS else {}) for name in methods
    ]


def tidy_rows(
    cell: Cell, variants: list[Variant], comparison: Comparison
) -> Iterator[dict[str, Any]]:
    """Yield one row per method: ranks, scores, costs, and the paper's figure."""
    imputers = {variant.label: variant.imputer for variant in variants}
    for label, row in comparison.summary("imputation_accuracy").iterrows():
        method = imputers[str(label)]
        ours = 100 * row["imputation_accuracy"]
        printed = printed_figure(method, cell.dataset, cell.pattern)
        yield {
            "dataset": cell.dataset,
            **cell.amputation,
            "method": method,
            "n_seeds": row["n_tasks"],
            "n_done": row["n_done"],
            **{
                name: None if pd.isna(row[name]) else int(row[name])
                for name in ("rank", "tie_group")
            },
            "imputation_accuracy_x100": round(ours, 2),
            "standard_error_x100": round(100 * row["imputation_accuracy_se"], 2),
            "paper_x100": printed,
            "minus_paper_x100": None if printed is None else round(ours - printed, 2),
            **{name: round(row[name], 4) for name in PAPER_SCORES[1:]},
            "fit_seconds": round(row["fit_seconds"], 2),
            "impute_seconds": round(row["impute_seconds"], 2),
            "peak_memory_mb": round(row["peak_memory_mb"], 1),
            "remark": row["remark"],
        }


def mean_ranks(tidy: pd.DataFrame) -> list[dict[str, Any]]:
    """Return for each method its mean rank over tables and patterns, best first.

    ``mean_rank`` ranks accuracies as the paper does (equal ones share their mean rank);
    ``mean_rank_with_ties`` gives tied methods the best rank of their group. A method without a
    result on all seeds has the last rank.
    """
    n_methods = tidy["method"].nunique()
    whole = tidy["n_done"] == tidy["n_seeds"]
    accuracy = tidy["imputation_accuracy_x100"].astype(float).where(whole, float("-inf"))
    place = accuracy.groupby([tidy["dataset"], tidy["pattern"]]).rank(ascending=False)
    ranks = pd.DataFrame(
        {
            "method": tidy["method"],
            "mean_rank": place.where(whole, n_methods),
            "mean_rank_with_ties": tidy["rank"].astype(float).where(whole, n_methods),
            "mean_accuracy_x100": tidy["imputation_accuracy_x100"].astype(float),
            "n_tables": whole.astype(int),
        }
    )
    by_method = ranks.groupby("method").agg(
        {
            "mean_rank": "mean",
            "mean_rank_with_ties": "mean",
            "mean_accuracy_x100": "mean",
            "n_tables": "sum",
        }
    )
    rows: list[dict[str, Any]] = (
        by_method.sort_values("mean_rank").round(2).reset_index().to_dict(orient="records")
    )
    return [{key: None if pd.isna(value) else value for key, value in row.items()} for row in rows]


def far_from_paper(tidy: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the methods whose mean over tables and patterns is far from the printed one."""
    both = tidy.dropna(subset=["imputation_accuracy_x100", "paper_x100"])
    means = both.groupby("method")[["imputation_accuracy_x100", "paper_x100"]].mean()
    means["difference"] = means["imputation_accuracy_x100"] - means["paper_x100"]
    far = means[means["difference"].abs() > FAR_POINTS].round(2).reset_index()
    far["why"] = far["method"].map(REASONS).fillna("Not known.")
    return far.to_dict(orient="records")


def write(rows: list[dict[str, Any]], options: argparse.Namespace, command: str) -> dict[str, Any]:
    """Write the CSV and a JSON with mean ranks and the command."""
    tidy = pd.DataFrame(rows)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    tidy.to_csv(options.output, index=False)
    result = {
        "what": "imputation accuracy (x100) of all methods on small tables, beside the paper's",
        "command": command,
        "settings": {
            "mechanism": rows[0]["mechanism"],
            "coupling": rows[0]["coupling"],
            "datasets": list(dict.fromkeys(tidy["dataset"])),
            "patterns": list(dict.fromkeys(tidy["pattern"])),
            "seeds": list(range(options.seeds)),
            "method_budget_seconds": options.method_budget,
            "tasks_at_a_time": options.jobs,
            "quick": options.quick,
        },
        "mean_ranks": mean_ranks(tidy),
        "far_from_paper": far_from_paper(tidy),
        "notes": NOTES,
        "rows": json.loads(tidy.to_json(orient="records")),
    }
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    options.output.with_suffix(".json").write_text(text, encoding="utf-8")
    return result


def unpack_tasks(options: argparse.Namespace) -> None:
    """Restore finished tasks that are kept beside the results, except those to run anew."""
    if not options.tasks.exists():
        return
    for line in options.tasks.read_text(encoding="utf-8").splitlines():
        task = json.loads(line)
        path = options.results_dir / task["folder"] / task["file"]
        method = path.stem.rpartition("-seed")[0]
        if method not in options.anew and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_sealed(path, task["content"])


def pack_tasks(options: argparse.Namespace) -> None:
    """Keep all finished tasks beside the results, one line each, without single cells."""
    lines = []
    for path in sorted(options.results_dir.glob("*/*.json")):
        content = read_sealed(path)
        if "result" in content:
            content["result"]["points"] = {}
        task = {"folder": path.parent.name, "file": path.name, "content": content}
        lines.append(json.dumps(task, ensure_ascii=False))
    options.tasks.write_text("\n".join(lines) + "\n", encoding="utf-8")


def print_ranks(mean_ranks: list[dict[str, Any]]) -> None:
    """Print mean ranks as a table."""
    print(f"{'method':14}{'mean rank':>10}{'with ties':>10}{'accuracy':>10}{'tables':>8}")
    for row in mean_ranks:
        accuracy = row["mean_accuracy_x100"]
        print(
            f"{row['method']:14}{row['mean_rank']:10.2f}{row['mean_rank_with_ties']:10.2f}"
            f"{'' if accuracy is None else f'{accuracy:.1f}':>10}{row['n_tables']:8d}"
        )


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", help="names with commas between; all methods by default")
    parser.add_argument("--datasets", default=",".join(DATASETS), help="names with commas between")
    parser.add_argument("--patterns", default=",".join(PATTERNS), help="names with commas between")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds (default 3)")
    parser.add_argument(
        "--method-budget",
        type=float,
        default=METHOD_BUDGET_SECONDS,
        metavar="SECONDS",
        help=f"for each method and seed (default {METHOD_BUDGET_SECONDS:g})",
    )
    parser.add_argument("--jobs", type=int, default=1, help="tasks at a time (default 1)")
    parser.add_argument("--results-dir", type=Path, help="folder of finished tasks")
    parser.add_argument("--output", type=Path, help="the CSV to write, with a JSON beside it")
    parser.add_argument("--anew", default="", help="names of methods to run again")
    parser.add_argument("--retry-failed", action="store_true", help="run again what failed")
    parser.add_argument(
        "--quick", action="store_true", help="one table, one pattern, one seed, tiny networks"
    )
    return with_places(parser.parse_args(arguments))


def with_places(options: argparse.Namespace) -> argparse.Namespace:
    """Add the files and folders; a quick run has its own and does not touch the results."""
    if options.quick:
        options.datasets, options.patterns, options.seeds = "diabetes", "general", 1
    folder = "small_tables_quick" if options.quick else "small_tables"
    options.results_dir = options.results_dir or ROOT / "build" / folder
    finished = ROOT / "benchmarks" / "results" / "small_tables.csv"
    smoke = ROOT / "build" / folder / "small_tables.csv"
    options.output = options.output or (smoke if options.quick else finished)
    options.tasks = options.output.with_name(f"{options.output.stem}_tasks.jsonl")
    options.anew = options.anew.split(",")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Compare, and write results after every table; return 1 if there are none."""
    options = parse(arguments)
    given = sys.argv[1:] if arguments is None else arguments
    command = shlex.join(["python", "-m", "benchmarks.accuracy.small_tables", *given])
    known = [info.name for info in list_imputers()]
    methods = options.methods.split(",") if options.methods else known
    variants = variants_of(methods, options.quick)
    unpack_tasks(options)
    rows: list[dict[str, Any]] = []
    result: dict[str, Any] = {}
    for dataset in options.datasets.split(","):
        for pattern in options.patterns.split(","):
            cell = Cell(dataset, pattern)
            rows += tidy_rows(cell, variants, compared(cell, variants, options))
            result = write(rows, options, command)
            pack_tasks(options)
    print_ranks(result["mean_ranks"])
    return 0 if any(row["n_done"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
