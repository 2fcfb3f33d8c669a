"""Events that long work reports while it runs."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ProgressUpdate:
    """How far some work is, as a bar shows it.

    ``done`` and ``total`` count a ``unit`` of work ("round", "run"); they are ``None`` in an update
    that brings a new ``note`` only. ``eta_seconds`` is ``None`` while it is not known.
    """

    done: int | None = None
    total: int | None = None
    unit: str = ""
    eta_seconds: float | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of all events."""

    def progress_update(self) -> ProgressUpdate | None:
        """Return how far the work is, if the event says so."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the event as plain data with the name of its class."""
        return {"event": type(self).__name__, **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class FitProgress(Event):
    """Progress of a method that is not trained by our loop, in its own units of work.

    ``unit`` names what is counted ("round", "column", "epoch"). ``total`` is an upper bound
    if the method may stop earlier.
    """

    done: int
    total: int
    unit: str
    eta_seconds: float

    def progress_update(self) -> ProgressUpdate:
        """Return the units of work that are done."""
        return ProgressUpdate(
            done=self.done, total=self.total, unit=self.unit, eta_seconds=self.eta_seconds
        )


@dataclass(frozen=True, kw_only=True)
class TrainingStarted(Event):
    """Training starts, or resumes at ``first_step`` from a checkpoint."""

    first_step: int
    total_steps: int
    device: str
    precision: str
    n_rows: int
    n_parameters: int


@dataclass(frozen=True, kw_only=True)
class TrainingProgress(Event):
    """Progress of training; losses are means since the last event.

    ``column_losses`` has one ``(prediction, reconstruction)`` pair per column, ``None`` where
    the batches had no such cell. ``validation_score`` is the mean error on held-out cells
    (lower is better) of the newest validation, ``None`` before the first.
    """

    step: int
    total_steps: int
    prediction_loss: float | None
    reconstruction_loss: float | None
    column_losses: list[tuple[float | None, float | None]]
    validation_score: float | None
    learning_rate: float
    rows_per_second: float
    eta_seconds: float

    def progress_update(self) -> ProgressUpdate:
        """Return the steps that are done, and the newest error."""
        return ProgressUpdate(
            done=self.step,
            total=self.total_steps,
            unit="step",
            eta_seconds=self.eta_seconds,
            note=self._newest_error(),
        )

    def _newest_error(self) -> str:
        """Return the error on held-out cells or, before there is one, on masked cells."""
        if self.validation_score is not None:
            return f"held-out error {self.validation_score:.3g}"
        return "" if self.prediction_loss is None else f"error {self.prediction_loss:.3g}"


@dataclass(frozen=True, kw_only=True)
class ReferencesScored(Event):
    """What simple methods score on the held-out cells; a training says so when it starts.

    Names of references are ``"mean"`` (mean imputation; class frequencies for categories) and
    ``"gaussian"`` (what the network starts from, if it starts from one). ``scores`` are comparable
    with those of :class:`ValidationScored`; ``column_scores`` has one per column, ``None`` where
    ``n_cells`` says that no cell of it is held out.
    """

    n_cells: list[int]
    scores: dict[str, float]
    column_scores: dict[str, list[float | None]]


@dataclass(frozen=True, kw_only=True)
class ValidationScored(Event):
    """The network was scored on the held-out cells, at step 0 and regularly afterwards.

    ``score`` is the mean error, lower is better, and ``is_best`` says whether it is the lowest so
    far: its weights are kept. ``noise`` is the standard error of the difference between ``score``
    and the score of the network's start (of mean imputation, if it starts from nothing).
    ``column_scores`` is given for kept weights only.
    """

    step: int
    score: float
    is_best: bool
    noise: float | None
    column_scores: list[float | None] | None


@dataclass(frozen=True, kw_only=True)
class CheckpointSaved(Event):
    """A checkpoint was written; training can resume from ``step``."""

    step: int
    path: str


@dataclass(frozen=True, kw_only=True)
class DamageFound(Event):
    """A file of earlier work is damaged; ``sentence`` says how the work goes on without it."""

    sentence: str


@dataclass(frozen=True, kw_only=True)
class BatchReduced(Event):
    """The device ran out of memory; batches are split into pieces of ``batch_size`` rows."""

    step: int
    batch_size: int


@dataclass(frozen=True, kw_only=True)
class TrainingFinished(Event):
    """Training ended: ``completed``, ``early`` (no more improvement) or ``cancelled``."""

    reason: str
    step: int
    best_step: int
    best_score: float | None
    seconds: float


@dataclass(frozen=True, kw_only=True)
class AnswerImproved(Event):
    """A fit has a better answer than before, which can be used while it goes on.

    ``members`` are those that the answer blends, the newest last. ``skill`` is 1 less the mean
    squared error on held-out cells, in units of each column's variance; ``None`` where too few
    cells could be held out. ``column_skill`` is the same by column. The share of a network is
    learned on the same cells, so the skill of an answer with one is a little too high. ``to_come``
    are the members that are fitted next, in this order.
    """

    members: list[str]
    skill: float | None
    column_skill: dict[str, float]
    seconds: float
    to_come: list[str] = field(default_factory=list)

    def progress_update(self) -> ProgressUpdate | None:
        """Return the skill of the newest answer, if it is known."""
        if self.skill is None:
            return None
        return ProgressUpdate(note=f"skill so far {self.skill:.2f}")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "AnswerImproved":
        """Return the event that :meth:`to_dict` described."""
        return cls(**{name: data[name] for name in data if name != "event"})


Callback = Callable[[Event], None]
