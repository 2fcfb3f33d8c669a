"""What the network adds to the blend in small tables, by the number of rows.

Missing values are simulated in the tables to choose on, sampled down to some numbers of rows. A fit
of `pmae` gives an answer before its network and one after; both are scored on observed cells that
were held out. The truth of the missing cells is never used, so a rule may be chosen by this.

    python -m benchmarks.accuracy.network_by_rows
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import sys
import time
from collections.abc import Sequence
from itertools import product
from typing import Any

from benchmarks.held_out import held_out_cells
from benchmarks.recording import RESULTS, write_result
from benchmarks.tables import TO_CHOOSE_ON
from pmae_core.evaluation import score_imputation
from pmae_core.evaluation.skill import impute_with_mean, skill_over_mean
from pmae_core.imputers import PMAEImputer

NAME = "network_by_rows"
ROWS = (50, 100, 200, 400)

Run = dict[str, Any]


def measure(dataset: str, n_rows: int, seed: int) -> Run:
    """Return skill over the mean and processor seconds, without and with the network."""
    held_out, schema = held_out_cells(dataset, seed, n_rows)

    def score(imputed: Any) -> Any:
        return score_imputation(held_out.truth, imputed, held_out.missing, schema)

    of_mean = score(impute_with_mean(held_out.incomplete, schema))
    found: Run = {}
    started, paused = time.process_time(), 0.0

    def at_answer(event: Any) -> None:
        nonlocal paused
        if not hasattr(event, "members"):
            return
        now = time.process_time()
        skills = skill_over_mean(score(imputer.transform(held_out.incomplete)), of_mean)
        label = "with" if "network" in event.members else "without"
        found[label] = {
            "skill": round(float(skills.clip(lower=-1).mean()), 4),
            "cpu_seconds": round(now - started - paused, 2),
        }
        paused += time.process_time() - now

    imputer = PMAEImputer(schema=schema, random_state=seed)
    imputer.fit(held_out.incomplete, callbacks=[at_answer])
    return {"dataset": dataset, "max_rows": n_rows, "seed": seed, **found}


def summary(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return for each number of rows what the network adds, in points of skill, and its cost."""
    lines = []
    for n_rows in sorted({run["max_rows"] for run in runs}):
        alike = [run for run in runs if run["max_rows"] == n_rows]
        gains = [100 * (run["with"]["skill"] - run["without"]["skill"]) for run in alike]
        lines.append(
            {
                "max_rows": n_rows,
                "tables_and_seeds": len(alike),
                "network_adds": round(statistics.mean(gains), 2),
                "standard_error": round(statistics.stdev(gains) / len(gains) ** 0.5, 2),
                **{
                    f"{what}_{label}_network": round(
                        statistics.mean(run[label][what] for run in alike), 3
                    )
                    for what, label in product(("skill", "cpu_seconds"), ("without", "with"))
                },
            }
        )
    return lines


def main(arguments: list[str] | None = None) -> int:
    """Measure what has no result yet; write results as they come."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--datasets", default=",".join(TO_CHOOSE_ON), help="names, commas")
    parser.add_argument("--rows", default=",".join(map(str, ROWS)), help="numbers, commas")
    parser.add_argument("--seeds", type=int, default=2, help="how many")
    parser.add_argument("--anew", action="store_true", help="discard what was measured before")
    options = parser.parse_args(arguments)
    path = RESULTS / f"{NAME}.json"
    runs: list[Run] = []
    if path.exists() and not options.anew:
        runs = json.loads(path.read_text())["runs"]
    given = [f"--{name}={getattr(options, name)}" for name in ("datasets", "rows", "seeds")]
    numbers = [int(number) for number in options.rows.split(",")]
    for seed, n_rows, dataset in product(
        range(options.seeds), numbers, options.datasets.split(",")
    ):
        key = {"dataset": dataset, "max_rows": n_rows, "seed": seed}
        if any(key.items() <= run.items() for run in runs):
            continue
        runs.append(measure(**{"dataset": dataset, "n_rows": n_rows, "seed": seed}))
        print(runs[-1], flush=True)
        if len([run for run in runs if run["max_rows"] == n_rows]) > 1:
            write_result(
                NAME,
                {
                    "what": "skill over the mean of pmae without and with its network, on held-out "
                    "observed cells (general, nested, MNAR) of tables to choose on; differences "
                    "in points (skill × 100)",
                    "command": shlex.join(["python", "-m", f"benchmarks.accuracy.{NAME}", *given]),
                    "summary": summary([run for run in runs if "with" in run]),
                    "runs": runs,
                },
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
