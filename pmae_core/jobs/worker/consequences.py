"""What follows from the imputations of a comparison: predictions of a target, and conclusions.

Methods are evaluated one by one, and the rows of each are written at once, so that the work can be
resumed.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from pmae_core.errors import Cancelled, DamagedFileError, LeakageWarning, PMAEError
from pmae_core.events import Event, FitProgress
from pmae_core.jobs.worker.context import JobContext, PhaseStarted
from pmae_core.jobs.worker.task_times import seconds_left
from pmae_core.storage.checksums import read_document, undamaged
from pmae_core.storage.files import read_sealed, report_damage, write_sealed
from pmae_core.storage.json_values import without_nan

FOLDER = "consequences"
FILE = "consequences.json"
PARTS = ("downstream", "conclusions")
_PART_WORDS = {"downstream": "downstream scores", "conclusions": "conclusions"}
OUT_OF_TIME = "not run: time budget"
# Conclusions of methods whose last run took at most this long are drawn at once.
QUICK_SECONDS = 5.0
# What identifies a row; references come with every method, and count once.
_KEYS = {"downstream": ["method", "model", "seed"], "conclusions": ["estimand", "method"]}


@dataclass(frozen=True)
class Consequences:
    """What follows from the imputations.

    Attributes
    ----------
    downstream : DataFrame
        As from :func:`pmae_core.evaluation.downstream_scores`; empty if not requested.
    conclusions : DataFrame
        As from :func:`pmae_core.inference.conclusion_stability`; empty if not requested.
    notes : list of str
        What could not be done, in sentences.
    """

    downstream: pd.DataFrame = field(default_factory=pd.DataFrame)
    conclusions: pd.DataFrame = field(default_factory=pd.DataFrame)
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return them as JSON-able data; numbers that are not finite become None."""
        parts = {part: _records(getattr(self, part)) for part in PARTS}
        return {**parts, "notes": list(self.notes)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Consequences:
        """Return the object that `to_dict` wrote."""
        downstream, conclusions = (pd.DataFrame(data.get(part) or []) for part in PARTS)
        return cls(downstream, conclusions, list(data.get("notes") or []))


def read_consequences(folder: str | Path) -> Consequences:
    """Return what a comparison's job has found so far.

    Parameters
    ----------
    folder : path
        The job's folder. While the job runs, these are the rows of the methods that are done.

    Raises
    ------
    DamagedFileError
        If the file of the result is damaged.
    """
    final = Path(folder) / "result" / FILE
    with suppress(FileNotFoundError), undamaged(final):
        return Consequences.from_dict(read_document(final))
    rows: dict[str, list[dict[str, Any]]] = {part: [] for part in PARTS}
    for path in sorted((Path(folder) / FOLDER).glob("*-*.json")):
        part = path.name.partition("-")[0]
        if part in rows:
            with suppress(FileNotFoundError, DamagedFileError):  # the job computes it again
                rows[part] += read_sealed(path)["rows"]
    return Consequences.from_dict({part: _distinct(part, found) for part, found in rows.items()})


def compute_consequences(
    params: Mapping[str, Any],
    arguments: Mapping[str, Any],
    context: JobContext,
    *,
    seed: int = 0,
    deadline: float | None = None,
    run_seconds: Mapping[str, float] | None = None,
) -> Consequences:
    """Compute for each method of a comparison what follows from its imputation.

    Parameters
    ----------
    params : mapping
        Of the job: ``downstream``, ``conclusions`` and ``conclusion_imputations`` say what to
        compute.
    arguments : mapping
        Of :func:`pmae_core.evaluation.compare`: the table, its roles, methods and seeds.
    context : JobContext
        The folder for the rows, the listeners, and the request to stop.
    seed : int
        Seed of the conclusions.
    deadline : float, optional
        When to stop, on the clock of ``time.monotonic``.
    run_seconds : mapping of method to float, optional
        How long a run of each method took, for the time that is left.

    Raises
    ------
    Cancelled
        If the user asked to stop; the files in the folder stay.
    """
    evaluators = _evaluators(params, arguments, seed)
    if not evaluators:
        return Consequences()
    found: dict[str, Any] = {"notes": []}
    for part, evaluate in evaluators.items():
        context.emit(PhaseStarted(phase=part))
        methods = list(arguments["methods"])
        try:
            with _leaks_noted(found["notes"]):
                found[part] = _evaluate_all(
                    part, evaluate, methods, context, deadline, run_seconds or {}
                )
        except PMAEError as error:
            if isinstance(error, Cancelled):
                raise
            found["notes"].append(f"{part.capitalize()}: {error}")
    return Consequences.from_dict(found)


class EarlyConclusions:
    """Listens to a comparison, and draws the conclusions of quick methods as soon as they have run.

    Their rows are written where :func:`compute_consequences` finds them, which computes the rest
    and reports what cannot be computed. Parameters are those of that function.
    """

    def __init__(
        self,
        params: Mapping[str, Any],
        arguments: Mapping[str, Any],
        context: JobContext,
        *,
        seed: int = 0,
        deadline: float | None = None,
    ) -> None:
        self._params, self._arguments, self._context = params, arguments, context
        self._seed, self._deadline = seed, deadline
        self._n_done: Counter[str] = Counter()

    def __call__(self, event: Event) -> None:
        """Count the finished tasks of a method, and draw its conclusions after the last."""
        from pmae_core.evaluation import TaskFinished

        if not isinstance(event, TaskFinished) or not self._params.get("conclusions"):
            return
        result = event.result
        self._n_done[result.method] += 1
        is_last = self._n_done[result.method] == len(set(self._arguments["seeds"]))
        seconds = (result.fit_seconds or 0.0) + (result.impute_seconds or 0.0)
        if is_last and result.status == "done" and seconds <= QUICK_SECONDS:
            self._conclude(result.method)

    def _conclude(self, method: str) -> None:
        path = _rows_path(self._context, "conclusions", method)
        if path.exists():
            return
        try:
            asked = {**self._params, "downstream": False}
            evaluate = _evaluators(asked, self._arguments, self._seed)["conclusions"]
            _evaluate_one(evaluate, method, path, self._context, self._deadline)
        except Cancelled:
            raise
        except PMAEError:
            return  # compute_consequences meets the same error, and notes it


@contextmanager
def _leaks_noted(notes: list[str]) -> Iterator[None]:
    """Add each warning of a leaking feature to the notes once; leave other warnings as they are."""
    with warnings.catch_warnings():
        show_other = warnings.showwarning

        def show(message: Any, category: type[Warning], *args: Any, **kwargs: Any) -> None:
            if not issubclass(category, LeakageWarning):
                show_other(message, category, *args, **kwargs)
            elif str(message) not in notes:
                notes.append(str(message))

        warnings.simplefilter("always", LeakageWarning)
        warnings.showwarning = show
        yield


_Evaluator = Callable[..., pd.DataFrame]


def _evaluators(
    params: Mapping[str, Any], arguments: Mapping[str, Any], seed: int
) -> dict[str, _Evaluator]:
    """Return for each requested part the function that computes its rows for some methods."""
    from pmae_core.evaluation import downstream_scores
    from pmae_core.inference import conclusion_stability
    from pmae_core.storage.json_values import from_json_value

    if not params.get("downstream") and not params.get("conclusions"):
        return {}
    frame, truth, schema = _incomplete_table(arguments)
    same: dict[str, Any] = {
        "truth": truth,
        "schema": schema,
        "method_params": arguments.get("method_params"),
    }
    evaluators: dict[str, _Evaluator] = {}
    if params["downstream"]:
        evaluators["downstream"] = partial(
            downstream_scores, frame, arguments["target"], seeds=arguments["seeds"], **same
        )
    if params["conclusions"]:
        estimands = [
            (kind, *map(from_json_value, columns)) for kind, *columns in params["conclusions"]
        ]
        n_imputations = params["conclusion_imputations"]
        evaluators["conclusions"] = partial(
            conclusion_stability,
            frame,
            estimands,
            n_imputations=n_imputations,
            seed=seed,
            **same,
        )
    return evaluators


def _incomplete_table(
    arguments: Mapping[str, Any],
) -> tuple[pd.DataFrame, pd.DataFrame | None, Any]:
    """Return the table with missing values, its truth if it is known, and its roles.

    Simulated missing values are those of the first seed; the target gets none.
    """
    from pmae_core.evaluation import HoldoutPlan
    from pmae_core.table import Schema

    table: pd.DataFrame = arguments["table"]
    target, truth = arguments.get("target"), arguments.get("truth")
    schema = arguments.get("schema") or Schema.infer(table)
    if truth is not None:
        absent = [name for name in table.columns if name not in truth.columns]
        return table, pd.concat([truth, table[absent]], axis=1), schema
    if arguments.get("amputation") is None:
        return table, None, schema
    table = table.reset_index(drop=True)  # rows that lose every cell are dropped by their number
    features = table.drop(columns=target) if target is not None else table
    part = schema.only(features.columns)
    plan = HoldoutPlan(kind="amputation", amputation=arguments["amputation"])
    made = plan.make(features, part, int(arguments["seeds"][0]))
    if target is None:
        return made.incomplete, made.truth, schema
    label = table.loc[made.truth.index, [target]]
    incomplete, complete = (
        pd.concat([cells, label], axis=1)[list(table.columns)]
        for cells in (made.incomplete, made.truth)
    )
    return incomplete, complete, schema


def _evaluate_all(
    part: str,
    evaluate: _Evaluator,
    methods: Sequence[str],
    context: JobContext,
    deadline: float | None,
    run_seconds: Mapping[str, float],
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    paths = {method: _rows_path(context, part, method) for method in methods}
    evaluated: dict[str, float] = {}
    for n_done, (method, path) in enumerate(paths.items(), start=1):
        stored = _stored_rows(path, context)
        if stored is None:
            started = time.monotonic()
            stored = _evaluate_one(evaluate, method, path, context, deadline)
            evaluated[method] = time.monotonic() - started
        rows += stored
        left = [name for name in methods[n_done:] if not paths[name].exists()]
        context.emit(
            FitProgress(
                done=n_done,
                total=len(methods),
                unit=f"{part}: method",
                eta_seconds=seconds_left(left, evaluated, run_seconds),
            )
        )
    return _distinct(part, rows)


def _rows_path(context: JobContext, part: str, method: str) -> Path:
    return context.folder / FOLDER / f"{part}-{method}.json"


def _stored_rows(path: Path, context: JobContext) -> list[dict[str, Any]] | None:
    """Return the rows that an earlier attempt wrote; None if there are none, or damaged ones."""
    try:
        return list(read_sealed(path)["rows"])
    except FileNotFoundError:
        return None
    except DamagedFileError:
        part, _, method = path.stem.partition("-")
        stored = f"The stored {_PART_WORDS[part]} of {method}"
        report_damage((context.emit,), f"{stored} are damaged, so they are computed again.")
        return None


def _evaluate_one(
    evaluate: _Evaluator, method: str, path: Path, context: JobContext, deadline: float | None
) -> list[dict[str, Any]]:
    def out_of_time() -> bool:
        return deadline is not None and time.monotonic() > deadline

    if context.cancel():
        raise Cancelled("The comparison was stopped.")
    late = [{"method": method, "kind": "method", "status": "failed", "error": OUT_OF_TIME}]
    if out_of_time():
        return late
    try:
        rows = _records(evaluate([method], cancel=lambda: context.cancel() or out_of_time()))
    except Cancelled:
        if context.cancel():
            raise
        return late
    path.parent.mkdir(exist_ok=True)
    write_sealed(path, {"rows": rows})
    return rows


def _distinct(part: str, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows in order, each once, those of one conclusion together."""
    once: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        once.setdefault(tuple(row.get(key) for key in _KEYS[part]), row)
    distinct = list(once.values())
    if part == "conclusions":
        order = list(dict.fromkeys(row.get("estimand") for row in distinct))
        distinct.sort(key=lambda row: order.index(row.get("estimand")))
    return distinct


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = without_nan(frame.to_dict("records"))
    return rows
