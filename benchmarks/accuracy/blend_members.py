"""Which member of the blend counts in each column, and how soon each answer is there.

Three tables with simulated missing values (general, nested, MNAR), imputed by `pmae` once each. Run
it on a quiet machine: the seconds are those of the clock.

    PMAE_DATA_DIR=<folder of the tables> python -m benchmarks.accuracy.blend_members
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from benchmarks.missingness import MISSINGNESS
from benchmarks.recording import write_result
from benchmarks.tables import load_table
from pmae_core import ampute
from pmae_core.evaluation import score_imputation
from pmae_core.events import AnswerImproved
from pmae_core.imputers import PMAEImputer

TABLES = ("wine", "shoppers", "thresholds")
MAX_ROWS = 2_000


def measure(dataset: str, seed: int = 0) -> dict[str, Any]:
    """Impute one table; return shares by column, and seconds, skill and accuracy by answer."""
    table = load_table(dataset, max_rows=MAX_ROWS, seed=seed)
    amputed = ampute(table.frame, **MISSINGNESS, seed=seed, schema=table.schema)
    answers: list[dict[str, Any]] = []

    def at_answer(event: Any) -> None:
        if not isinstance(event, AnswerImproved):
            return
        imputed = imputer.transform(amputed.incomplete)
        score = score_imputation(amputed.truth, imputed, amputed.missing, table.schema)
        answers.append(
            {
                "members": event.members,
                "seconds": round(event.seconds, 2),
                "skill_on_held_out_cells": None if event.skill is None else round(event.skill, 3),
                "accuracy": round(100 * score.overall["imputation_accuracy"], 2),
            }
        )

    imputer = PMAEImputer(schema=table.schema, random_state=seed)
    imputer.fit(amputed.incomplete, callbacks=[at_answer])
    shares = imputer.shares_.round(3)
    return {
        "dataset": dataset,
        "rows": len(table.frame),
        "columns": table.frame.shape[1],
        "answers": answers,
        "shares": {str(name): row.to_dict() for name, row in shares.iterrows()},
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure the tables, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--datasets", default=",".join(TABLES), help="names, commas")
    options = parser.parse_args(arguments)
    found = []
    for dataset in options.datasets.split(","):
        found.append(measure(dataset))
        print(found[-1], flush=True)
    write_result(
        "blend_members",
        {
            "what": "pmae (balanced) on tables of at most 2,000 rows (general, nested, MNAR, one "
            "seed): how much each member counts in each column, and each answer's seconds on the "
            "clock, skill on held-out cells and accuracy × 100 on the missing ones",
            "command": "python -m benchmarks.accuracy.blend_members",
            "tables": found,
        },
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
