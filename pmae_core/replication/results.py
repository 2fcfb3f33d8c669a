"""Results of the experiments as tidy data: one JSON and one CSV file per experiment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pmae_core.errors import ScoringError
from pmae_core.evaluation.store import read_json
from pmae_core.replication.experiments import EXPERIMENTS
from pmae_core.storage.files import write_whole
from pmae_core.storage.json_values import without_nan

Row = dict[str, Any]
# Rows that agree in all of these belong to the same task; others are kept side by side.
TASK_KEY = ("dataset", "pattern", "mechanism", "coupling", "max_rows", "method", "variant", "seed")
DIGITS = 6


class ResultFile:
    """The results of one experiment on disk.

    Existing rows stay, unless their task has a new result; a failure never replaces a result.

    Parameters
    ----------
    folder : path
        Where the results of all experiments are.
    experiment : str
        Name of the experiment.
    """

    def __init__(self, folder: str | Path, experiment: str) -> None:
        self.experiment = EXPERIMENTS[experiment]
        self.path = Path(folder) / f"paper_{experiment}.json"
        self._new: dict[tuple[Any, ...], list[Row]] = {}

    def add(self, rows: Iterable[Row]) -> None:
        """Add the rows of one or more tasks; :meth:`write` puts them on disk."""
        for key, task_rows in _by_task(rows).items():
            self._new[key] = [_rounded(row) for row in task_rows]

    def write(self, run: Mapping[str, Any]) -> None:
        """Merge the rows with those on disk, and write JSON and CSV.

        Parameters
        ----------
        run : mapping
            How the new rows were made: JSON-able, with the command, settings and versions.
        """
        if not self._new:
            return
        content = self._content()
        runs: list[Any] = content["runs"]
        plain_run = json.loads(json.dumps(run))
        if plain_run not in runs:
            runs.append(plain_run)
        number = runs.index(plain_run)
        tasks = _by_task(content["rows"])
        for key, rows in self._new.items():
            before = tasks.get(key, [])
            if _without_run(before) == _without_run(rows) or (_is_done(before) > _is_done(rows)):
                continue
            tasks[key] = [{**row, "run": number} for row in rows]
        self._replace(runs, [row for rows in tasks.values() for row in rows])
        self._new = {}

    def table(self) -> pd.DataFrame:
        """Return the rows on disk, or an empty table if there are no results yet."""
        return pd.DataFrame(self._content()["rows"])

    def runs(self) -> list[dict[str, Any]]:
        """Return the runs to which the column ``run`` of the rows refers, from 0."""
        return list(self._content()["runs"])

    def _content(self) -> dict[str, Any]:
        if not self.path.exists():
            return {"runs": [], "rows": []}
        content = read_json(self.path)
        if not isinstance(content.get("rows"), list) or not isinstance(content.get("runs"), list):
            raise ScoringError(
                f"{self.path} does not hold results of an experiment. Move it elsewhere."
            )
        return content

    def _replace(self, runs: list[Any], rows: list[Row]) -> None:
        used = sorted({row["run"] for row in rows})
        rows = [{**row, "run": used.index(row["run"])} for row in rows]
        rows.sort(key=_order)
        content = {
            "experiment": self.experiment.name,
            "what": f"{self.experiment.title}; in the paper: {self.experiment.in_paper}",
            **({"note": self.experiment.note} if self.experiment.note else {}),
            "runs": [runs[number] for number in used],
            "rows": rows,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # One row per line: small files, and readable differences.
        lines = ",\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
        head = json.dumps({**content, "rows": []}, indent=1, ensure_ascii=False)
        text = head.removesuffix("[]\n}") + f"[\n{lines}\n]\n}}\n"
        write_whole(self.path, text, lasting=True)
        write_whole(self.path.with_suffix(".csv"), pd.DataFrame(rows).to_csv(index=False))


def _by_task(rows: Iterable[Row]) -> dict[tuple[Any, ...], list[Row]]:
    tasks: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        tasks.setdefault(tuple(row.get(name) for name in TASK_KEY), []).append(row)
    return tasks


def _is_done(rows: list[Row]) -> bool:
    return any(row.get("status") == "done" for row in rows)


def _without_run(rows: list[Row]) -> list[Row]:
    return [{name: value for name, value in row.items() if name != "run"} for row in rows]


def _rounded(row: Mapping[str, Any]) -> Row:
    """Return a row with fewer digits, and with None instead of nan, which JSON lacks."""
    rounded: Row = without_nan(
        {
            name: float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
            for name, value in row.items()
        }
    )
    return rounded


def _order(row: Row) -> tuple[str, ...]:
    return tuple(str(row.get(name)) for name in TASK_KEY)
