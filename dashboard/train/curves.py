"""From the events of a training to curves: heard one by one, drawn whenever wished."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.jobs import JobEvent
from pmae_core.table import Schema

MOST_POINTS = 400


class Curves:
    """What the events of one training tell so far.

    A training that was resumed begins again at its checkpoint: what came after that in the
    attempt before is forgotten, as the training itself has forgotten it.

    Attributes
    ----------
    heard
        Number of the last event heard, to ask for those after it.
    device, precision, n_parameters, n_rows
        Of the newest attempt; None before it says so.
    total_steps, rows_per_second
        The planned length, and the newest speed; None before the first steps.
    batch_size
        After the device ran out of memory; None while it did not.
    """

    def __init__(self) -> None:
        self.heard = 0
        self.device: str | None = None
        self.precision: str | None = None
        self.n_parameters: int | None = None
        self.n_rows: int | None = None
        self.total_steps: int | None = None
        self.rows_per_second: float | None = None
        self.batch_size: int | None = None
        self._steps: list[int] = []
        self._prediction: list[float] = []
        self._reconstruction: list[float] = []
        self._validation: list[float] = []
        self._columns: list[np.ndarray] = []
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._steps)

    def hear(self, events: Iterable[JobEvent]) -> None:
        """Take events into account; those heard already change nothing."""
        with self._lock:
            for event in events:
                if event.seq > self.heard:
                    self._hear(event.kind, event.data)
                    self.heard = event.seq

    def _hear(self, kind: str, data: Mapping[str, Any]) -> None:
        if kind == "TrainingStarted":
            self.device, self.precision = data["device"], data["precision"]
            self.n_parameters, self.n_rows = data["n_parameters"], data["n_rows"]
            self.total_steps = data["total_steps"]
            self._forget_after(data["first_step"])
        elif kind == "TrainingProgress":
            self.total_steps = data["total_steps"]
            self.rows_per_second = data["rows_per_second"]
            self._steps.append(data["step"])
            self._prediction.append(_number(data["prediction_loss"]))
            self._reconstruction.append(_number(data["reconstruction_loss"]))
            self._validation.append(_number(data["validation_score"]))
            pairs = [[_number(value) for value in pair] for pair in data["column_losses"]]
            self._columns.append(np.array(pairs, dtype=np.float32).reshape(-1, 2))
        elif kind == "BatchReduced":
            self.batch_size = data["batch_size"]

    def _forget_after(self, step: int) -> None:
        n_kept = int(np.searchsorted(self._steps, step, side="right"))
        for values in (
            self._steps, self._prediction, self._reconstruction, self._validation, self._columns
        ):  # fmt: skip
            del values[n_kept:]

    def losses(self, most: int = MOST_POINTS) -> pd.DataFrame:
        """Return step, prediction and reconstruction; means of neighbors where there are many."""
        with self._lock:
            table = pd.DataFrame(
                {
                    "step": self._steps,
                    "prediction": self._prediction,
                    "reconstruction": self._reconstruction,
                },
                dtype=float,
            )
        return _thinned(table, most)

    def validation(self) -> pd.DataFrame:
        """Return step and score of each validation whose score was a new one."""
        with self._lock:
            table = pd.DataFrame({"step": self._steps, "score": self._validation}, dtype=float)
        table = table.dropna()
        return table[table["score"] != table["score"].shift()].reset_index(drop=True)

    def column(self, place: int, most: int = MOST_POINTS) -> pd.DataFrame:
        """Return step, prediction and reconstruction of one column."""
        with self._lock:
            pairs = [
                pair[place] if place < len(pair) else (math.nan, math.nan) for pair in self._columns
            ]
            table = pd.DataFrame({"step": self._steps}, dtype=float)
        table[["prediction", "reconstruction"]] = np.array(pairs, dtype=float).reshape(-1, 2)
        return _thinned(table, most)

    def columns(self, names: Sequence[str]) -> pd.DataFrame:
        """Return for each column its prediction loss at first and by now, the worst first.

        Both are means over a tenth of the events, since single ones are noisy.
        """
        with self._lock:
            seen = [pairs for pairs in self._columns if len(pairs) == len(names)]
        if not seen:
            return pd.DataFrame(columns=["column", "first", "now", "reconstruction"])
        n_side = max(1, len(seen) // 10)
        first, last = np.array(seen[:n_side]), np.array(seen[-n_side:])
        table = pd.DataFrame(
            {
                "column": list(names),
                "first": _mean(first[:, :, 0]),
                "now": _mean(last[:, :, 0]),
                "reconstruction": _mean(last[:, :, 1]),
            }
        )
        return table.sort_values("now", ascending=False, kind="stable", ignore_index=True)

    @property
    def n_columns(self) -> int:
        """How many columns the network learns; 0 before the first steps."""
        return len(self._columns[-1]) if self._columns else 0


def column_names(schema: Mapping[str, Any] | None, n_columns: int) -> list[str]:
    """Return the names of the columns that a network learns, in its order.

    Where the schema does not tell, they are numbered.
    """
    learned = [] if schema is None else Schema.from_dict(dict(schema)).learned()
    if len(learned) == n_columns:
        return [str(name) for name in learned]
    return [f"column {place}" for place in range(1, n_columns + 1)]


def smoothed(values: pd.Series) -> pd.Series:
    """Return a calmer curve: a moving average whose memory is a twentieth of the points."""
    return values.ewm(span=max(2.0, len(values) / 20), ignore_na=True).mean()


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _mean(values: np.ndarray) -> np.ndarray:
    """Return means over events, NaN where a column had none; without numpy's warning."""
    counts = np.isfinite(values).sum(axis=0)
    sums = np.nansum(values.astype(float), axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _thinned(table: pd.DataFrame, most: int) -> pd.DataFrame:
    if len(table) <= most:
        return table
    group = np.arange(len(table)) * most // len(table)
    return table.groupby(group).mean().reset_index(drop=True)
