"""Observed cells to choose settings on: the truth of the missing cells is never used."""

from __future__ import annotations

from typing import Any

from benchmarks.missingness import MISSINGNESS
from benchmarks.recording import timed_imputation
from benchmarks.tables import load_table
from pmae_core import ampute
from pmae_core.evaluation import score_imputation
from pmae_core.evaluation.holdout import Holdout, hold_out_like_mine
from pmae_core.imputers import BaseImputer
from pmae_core.table import Schema

SHARE_HELD_OUT = 0.1


def held_out_cells(dataset: str, seed: int, max_rows: int) -> tuple[Holdout, Schema]:
    """Return a table with simulated missing values and held-out observed cells."""
    table = load_table(dataset, max_rows=max_rows, seed=seed)
    amputed = ampute(table.frame, **MISSINGNESS, seed=seed, schema=table.schema)
    other = seed + 1000  # other random numbers than those of the missing values
    held_out = hold_out_like_mine(
        amputed.incomplete, table.schema, share=SHARE_HELD_OUT, seed=other
    )
    return held_out, table.schema


def score_held_out(imputer: BaseImputer, held_out: Holdout, schema: Schema) -> dict[str, Any]:
    """Impute one table; score the held-out cells."""
    imputed, seconds = timed_imputation(imputer, held_out.incomplete)
    score = score_imputation(held_out.truth, imputed, held_out.missing, schema).overall
    return {
        "imputation_accuracy": round(score["imputation_accuracy"], 4),
        "cpu_seconds": seconds["cpu_seconds"],
    }
