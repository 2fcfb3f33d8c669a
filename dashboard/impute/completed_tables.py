"""Imputed tables: which there are, and what they left on disk."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import runs
from dashboard.compare.results import read_results
from dashboard.runs.staleness import digest_of, schema_of
from dashboard.state import session
from dashboard.state.table_state import OpenTable
from dashboard.widgets.methods import known_methods
from pmae_core.errors import DamagedFileError
from pmae_core.evaluation import Comparison
from pmae_core.explain import column_notes
from pmae_core.jobs import JobKind, JobRecord, JobState
from pmae_core.jobs.worker.answers import ANSWER_FOLDER, read_answer
from pmae_core.jobs.worker.results import (
    IMPUTED_FILE,
    MODEL_FILE,
    RESULT_FOLDER,
    WAS_IMPUTED_FILE,
    imputation_file,
    read_frame,
)
from pmae_core.table import Schema

MOST_RUNS = 50


# Which there are


def imputation_runs() -> list[JobRecord]:
    """Return the jobs that impute a table, in any state, and trainings that did; newest first.

    A training that has not ended belongs to the page Train.
    """
    found = runs.records(kinds=[JobKind.IMPUTE, JobKind.TRAIN], limit=2 * MOST_RUNS)
    return [one for one in found if one.kind is JobKind.IMPUTE or is_done(one)][:MOST_RUNS]


def is_done(record: JobRecord) -> bool:
    """Say whether there is an imputed table."""
    n_imputed = (record.result or {}).get("n_imputed")
    return record.state is JobState.SUCCEEDED and n_imputed is not None


def answer_of(record: JobRecord) -> JobRecord | None:
    """Return an unfinished run with its newest answer as its result; None without one."""
    if record.state is JobState.SUCCEEDED:
        return None
    answer = read_answer(record.folder)
    return None if answer is None else replace(record, result=answer)


def trained_models(digest: str) -> list[JobRecord]:
    """Return the finished trainings on a table, newest first."""
    trained = runs.records(kinds=[JobKind.TRAIN], states=[JobState.SUCCEEDED], limit=MOST_RUNS)
    return [one for one in trained if one.spec.table == digest]


def method_of(record: JobRecord) -> str | None:
    """Return the method of a job; None if it applies a model and has not come to it yet."""
    return record.spec.params.get("method") or (record.result or {}).get("method")


def title_of(method: str) -> str:
    """Return a method's name for readers."""
    info = known_methods().get(method)
    return method if info is None else info.title


# What they left on disk


@dataclass(frozen=True, eq=False)
class CompletedTable:
    """A table after its imputation; read-only, sessions share it.

    Attributes
    ----------
    record : JobRecord
        The job.
    frame, schema
        The table with its missing values and its roles, as they were.
    imputed_frame : DataFrame
        The table with its imputed values.
    was_imputed : DataFrame of bool
        True where a cell was imputed.
    n_imputed : Series
        How many cells were imputed, by column.
    """

    record: JobRecord
    frame: pd.DataFrame
    schema: Schema
    imputed_frame: pd.DataFrame
    was_imputed: pd.DataFrame
    n_imputed: pd.Series

    @property
    def key(self) -> tuple[Any, ...]:
        """What names a result of this table in caches: a resumed job may give another one."""
        return _key(self.record)

    @property
    def imputed_columns(self) -> list[str]:
        """The columns with imputed cells."""
        return [str(name) for name in self.n_imputed.index[self.n_imputed > 0]]

    @property
    def n_imputations(self) -> int:
        """How many imputations there are besides the best one."""
        return int((self.record.result or {}).get("n_imputations", 0))

    @property
    def model_file(self) -> Path | None:
        """The file of the model, where the method has one."""
        path = result_folder(self.record) / MODEL_FILE
        return path if path.is_file() else None

    def imputations(self, columns: Sequence[str], most: int | None = None) -> list[pd.DataFrame]:
        """Return some columns of the imputations."""
        n_read = self.n_imputations if most is None else min(most, self.n_imputations)
        return [self.imputation(number, columns) for number in range(n_read)]

    def imputation(self, number: int, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return an imputation by its number, from 0; all of its columns or some."""
        path = result_folder(self.record) / imputation_file(number + 1)
        return read_frame(path, columns)


def result_folder(record: JobRecord) -> Path:
    """Return where the result of a job lies, or the answer of one that has no result."""
    is_done = record.state is JobState.SUCCEEDED
    return record.folder / (RESULT_FOLDER if is_done else ANSWER_FOLDER)


def _key(record: JobRecord) -> tuple[Any, ...]:
    answers = (record.result or {}).get("answers", ())
    return record.id, record.finished_at, len(answers)


def load(record: JobRecord, table: OpenTable) -> CompletedTable:
    """Return the table of a finished run, or of an answer; an open table is not read again.

    Raises
    ------
    JobError
        If its files are gone.
    DamagedFileError
        If its files are not as they were written.
    """
    return _load(_key(record), record, table)


@st.cache_resource(max_entries=2, show_spinner="Opening the imputed table …")
def _load(key: tuple[Any, ...], _record: JobRecord, _table: OpenTable) -> CompletedTable:
    digest = _record.spec.table or ""
    is_open = digest == digest_of(_table)
    own = session.workspace().id
    frame = _table.frame if is_open else runs.store().get_table(digest, own)
    was_imputed = read_frame(result_folder(_record) / WAS_IMPUTED_FILE)
    return CompletedTable(
        record=_record,
        frame=frame,
        schema=schema_of(_record),
        imputed_frame=read_frame(result_folder(_record) / IMPUTED_FILE),
        was_imputed=was_imputed,
        n_imputed=was_imputed.sum(),
    )


def by_method(completed: CompletedTable) -> dict[str, JobRecord]:
    """Return all finished runs on the same cells by a name of their own, this one first.

    Of two that the same method made, the later has its seed, and if need be its number, in
    the name.
    """
    same = [
        one
        for one in imputation_runs()
        if is_done(one)
        and one.spec.table == completed.record.spec.table
        and one.id != completed.record.id
    ]
    named: dict[str, JobRecord] = {}
    for one in (completed.record, *same):
        title = title_of(method_of(one) or "")
        seeded = f"{title}, seed {one.spec.seed}"
        numbered = (f"{seeded} ({number})" for number in range(2, len(same) + 3))
        name = next(name for name in (title, seeded, *numbered) if name not in named)
        named[name] = one
    return named


# What a comparison says about them


def comparison_of(record: JobRecord) -> Comparison | None:
    """Return the newest finished comparison of methods on the table of a run."""
    run = _comparison_run(record)
    return None if run is None else _comparison((run.id, run.finished_at), run)


def comparison_key(record: JobRecord) -> tuple[Any, ...] | None:
    """Return what tells this comparison from others, for caches of what depends on it."""
    run = _comparison_run(record)
    return None if run is None else (run.id, run.finished_at)


def column_remarks(completed: CompletedTable) -> dict[Hashable, str]:
    """Return why to read some of the incomplete columns with care, in words."""
    return _remarks(completed.key, comparison_key(completed.record), completed)


@st.cache_data(max_entries=16, show_spinner=False)
def _remarks(
    key: tuple[Any, ...], comparison_key: tuple[Any, ...] | None, _completed: CompletedTable
) -> dict[Hashable, str]:
    incomplete = [name for name, cells in _completed.frame.items() if cells.isna().any()]
    notes = column_notes(comparison_of(_completed.record), _completed.frame[incomplete])
    return {name: note for name in incomplete if (note := notes.get(name)) is not None}


def _comparison_run(record: JobRecord) -> JobRecord | None:
    done = runs.records(kinds=[JobKind.COMPARE], states=[JobState.SUCCEEDED], limit=MOST_RUNS)
    for run in done:
        if run.spec.table != record.spec.table:
            continue
        try:
            comparison = _comparison((run.id, run.finished_at), run)
        except DamagedFileError:
            continue  # the page Compare says so
        if any(task.status == "done" for task in comparison.tasks):
            return run
    return None


@st.cache_resource(max_entries=8, show_spinner=False)
def _comparison(key: tuple[Any, ...], _run: JobRecord) -> Comparison:
    return read_results(_run).comparison
