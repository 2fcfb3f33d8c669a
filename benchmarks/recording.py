"""Measure one imputation, and write results as data."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from pmae_core.evaluation import score_imputation
from pmae_core.imputers import BaseImputer, PMAENetworkImputer
from pmae_core.table import Schema

RESULTS = Path(__file__).parent / "results"


def measure_imputation(
    imputer: PMAENetworkImputer,
    truth: pd.DataFrame,
    incomplete: pd.DataFrame,
    missing: pd.DataFrame,
    schema: Schema,
) -> dict[str, Any]:
    """Impute one table; return accuracy, seconds and the steps of the training."""
    imputed, seconds = timed_imputation(imputer, incomplete)
    score = score_imputation(truth, imputed, missing, schema).overall
    result = imputer.training_result_
    return {
        "imputation_accuracy": round(score["imputation_accuracy"], 4),
        **seconds,
        "steps": result.step,
        "best_step": result.best_step,
    }


def timed_imputation(
    imputer: BaseImputer, incomplete: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Return the imputed table, and its seconds on the clock and of the processor."""
    imputed, wall, cpu = timed(lambda: imputer.fit_transform(incomplete))
    return imputed, {"seconds": round(wall, 1), "cpu_seconds": round(cpu, 1)}


def timed(function: Callable[[], Any]) -> tuple[Any, float, float]:
    """Call a function; return its result, and its seconds on the clock and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def write_result(name: str, result: dict[str, Any]) -> None:
    """Write a result as JSON under ``benchmarks/results``."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n")
