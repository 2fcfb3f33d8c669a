"""Measure one imputation, and write results as data."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, BinaryIO

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


def append_records(path: Path, records: Sequence[dict[str, Any]]) -> None:
    """Append records to a file with one JSON object per line; several processes may do so."""
    lines = "".join(json.dumps(record) + "\n" for record in records)
    with path.open("a+b") as file:
        # A process that was killed may have left half a line, which must not spoil this one.
        if file.seek(0, os.SEEK_END) and _last_byte(file) != b"\n":
            lines = "\n" + lines
        file.write(lines.encode())


def _last_byte(file: BinaryIO) -> bytes:
    file.seek(-1, os.SEEK_END)
    return file.read(1)


def read_records(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file; half a line of a process that was killed is reported."""
    lines = path.read_bytes().splitlines() if path.exists() else []
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            if line:
                records.append(json.loads(line))
        except ValueError:
            print(f"Line {number} of {path.name} is damaged; its run is repeated.", flush=True)
    return records


def machine(load_before: float, **more: Any) -> dict[str, Any]:
    """Return what the seconds of a benchmark depend on, and how busy the machine was before it."""
    return {
        "cores": os.cpu_count(),
        "load_average_before": round(load_before, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **more,
    }


def commit(tree: Path) -> str:
    """Return what is checked out; "-dirty" if something but results changed; "unknown" without git.

    A long benchmark writes its results again and again, which must not make its checkout dirty.
    """
    if shutil.which("git") is None:
        return "unknown"

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(tree), *arguments]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    name = git("describe", "--always", "--exclude=*")
    changed = git(
        "status", "--porcelain", "--untracked-files=no", ":/", ":(exclude,top,glob)**/results/**"
    )
    return f"{name}-dirty" if changed else name or "unknown"


def write_result(name: str, result: dict[str, Any]) -> None:
    """Write a result as JSON under ``benchmarks/results``, with the day, checkout and machine."""
    written = {
        "on": date.today().isoformat(),
        "commit": commit(Path(__file__).parent),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({**result, "written": written}, indent=2)
    (RESULTS / f"{name}.json").write_text(text + "\n")
