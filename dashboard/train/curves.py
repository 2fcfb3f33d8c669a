"""From the events of a training to curves: read one by one, drawn whenever needed."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.jobs import JobEvent
from pmae_core.jobs.store import DAMAGED_EVENT
from pmae_core.table import Schema

MOST_POINTS = 400
# References by their names in events; the network starts from the Gaussian.
MEAN, GAUSSIAN = "mean", "gaussian"


@dataclass(frozen=True)
class References:
    """What simple methods score on the held-out cells of a training.

    Attributes
    ----------
    scores : mapping of str to float
        Errors by method: ``MEAN``, and ``GAUSSIAN`` if the network starts from it.
    column_scores : mapping of str to list
        The same per column, None where none of its cells is held out.
    n_cells : list of int
        Held-out cells per column.
    """

    scores: Mapping[str, float]
    column_scores: Mapping[str, list[float | None]]
    n_cells: list[int]

    @property
    def baseline(self) -> str:
        """The reference that noise is measured against: where the network starts."""
        return GAUSSIAN if GAUSSIAN in self.scores else MEAN


@dataclass(frozen=True)
class Validation:
    """One scoring on the held-out cells; see :class:`pmae_core.events.ValidationScored`."""

    step: int
    score: float
    noise: float
    column_scores: list[float | None] | None


class Curves:
    """What the events of one training say so far.

    A training that was resumed begins again at its checkpoint. What came after the checkpoint in
    the attempt before is dropped, as the training itself has dropped it.

    Attributes
    ----------
    last_event
        Number of the last event read, to ask for those after it.
    device, precision, n_parameters, n_rows
        Of the newest attempt; None before it says so.
    total_steps, rows_per_second
        The planned length, and the newest speed; None before the first steps.
    batch_size
        After the device ran out of memory; None if it did not.
    references
        Scores of simple methods on the same cells; None without held-out cells, and in runs of
        older versions.
    answers
        Of a blend: its newest member and its skill on held-out cells, after each member.
    n_damaged
        How many events could not be read.
    """

    def __init__(self) -> None:
        self.last_event = 0
        self.device: str | None = None
        self.precision: str | None = None
        self.n_parameters: int | None = None
        self.n_rows: int | None = None
        self.total_steps: int | None = None
        self.rows_per_second: float | None = None
        self.batch_size: int | None = None
        self.references: References | None = None
        self.answers: list[tuple[str, float | None]] = []
        self.n_damaged = 0
        self._losses: list[tuple[int, float, float, float]] = []
        self._validations: list[Validation] = []
        self._lock = threading.Lock()

    def read(self, events: Iterable[JobEvent]) -> None:
        """Take events into account; those read already change nothing."""
        with self._lock:
            for event in events:
                if event.seq > self.last_event:
                    try:
                        self._read(event.kind, event.data)
                    except (KeyError, TypeError, ValueError, IndexError):
                        self.n_damaged += 1
                    self.last_event = event.seq

    def _read(self, kind: str, data: Mapping[str, Any]) -> None:
        if kind == "TrainingStarted":
            self.device, self.precision = data["device"], data["precision"]
            self.n_parameters, self.n_rows = data["n_parameters"], data["n_rows"]
            self.total_steps = int(data["total_steps"])
            self._drop_after(data["first_step"])
        elif kind == "TrainingProgress":
            self.total_steps = int(data["total_steps"])
            self.rows_per_second = data["rows_per_second"]
            names = ("prediction_loss", "reconstruction_loss", "validation_score")
            self._losses.append((data["step"], *(_number(data[name]) for name in names)))
        elif kind == "ReferencesScored":
            self.references = References(data["scores"], data["column_scores"], data["n_cells"])
        elif kind == "ValidationScored":
            self._validations.append(
                Validation(
                    step=data["step"],
                    score=data["score"],
                    noise=_number(data["noise"]),
                    column_scores=data["column_scores"],
                )
            )
        elif kind == "AnswerImproved":
            # A resumed blend begins again with its first member.
            self.answers = self.answers if len(data["members"]) > len(self.answers) else []
            self.answers.append((data["members"][-1], data["skill"]))
        elif kind == "BatchReduced":
            self.batch_size = data["batch_size"]
        elif kind == DAMAGED_EVENT:
            self.n_damaged += 1

    def _drop_after(self, step: int) -> None:
        self._losses = [row for row in self._losses if row[0] <= step]
        self._validations = [one for one in self._validations if one.step <= step]

    def __len__(self) -> int:
        return len(self._losses)

    def losses(self, most: int = MOST_POINTS) -> pd.DataFrame:
        """Return step, prediction and reconstruction; means of neighbors where there are many."""
        with self._lock:
            names = ["step", "prediction", "reconstruction", "validation"]
            table = pd.DataFrame(self._losses, columns=names, dtype=float)
        return _thinned(table[names[:3]], most)

    def validation(self) -> pd.DataFrame:
        """Return step, score and noise of each validation.

        Runs of older versions say a score with their losses only, and no noise.
        """
        with self._lock:
            if self._validations:
                rows = [(one.step, one.score, one.noise) for one in self._validations]
                return pd.DataFrame(rows, columns=["step", "score", "noise"], dtype=float)
            rows = [(step, score, math.nan) for step, _, _, score in self._losses]
        table = pd.DataFrame(rows, columns=["step", "score", "noise"], dtype=float)
        table = table.dropna(subset=["score"])
        return table[table["score"] != table["score"].shift()].reset_index(drop=True)

    @property
    def kept(self) -> Validation | None:
        """The validation of the model that is kept: the best so far."""
        with self._lock:
            return min(self._validations, key=lambda one: one.score, default=None)


def column_names(schema: Mapping[str, Any] | None, n_columns: int) -> list[str]:
    """Return the names of the columns that a network learns, in its order.

    Where the schema does not tell, they are numbered.
    """
    learned = [] if schema is None else Schema.from_dict(dict(schema)).learned()
    if len(learned) == n_columns:
        return [str(name) for name in learned]
    return [f"column {place}" for place in range(1, n_columns + 1)]


def smoothed(values: pd.Series) -> pd.Series:
    """Return a smoother curve: a moving average whose memory is a twentieth of the points."""
    return values.ewm(span=max(2.0, len(values) / 20), ignore_na=True).mean()


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _thinned(table: pd.DataFrame, most: int) -> pd.DataFrame:
    if len(table) <= most:
        return table
    group = np.arange(len(table)) * most // len(table)
    return table.groupby(group).mean().reset_index(drop=True)
