"""From the controls of the page to a job: method, number of imputations, what to leave missing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard.impute.completed_tables import title_of
from dashboard.state.table_state import OpenTable
from dashboard.widgets.methods import known_methods
from pmae_core.explain import StructuralMissingness, find_structural_missingness
from pmae_core.jobs import JobRecord
from pmae_core.table import Schema
from pmae_core.words import count

FIRST_METHOD = "pmae"
MODEL = "model:"
# Conditions are looked for in so many rows; in all they would take half a minute of a large table.
STRUCTURAL_ROWS = 100_000


@dataclass(frozen=True)
class Source:
    """What imputes the table: a method, or a trained model.

    Attributes
    ----------
    key : str
        The name of the method, or ``model:`` and the id of the training.
    method : str
        The method's name.
    model : JobRecord, optional
        The training.
    """

    key: str
    method: str
    model: JobRecord | None = None

    @property
    def title(self) -> str:
        """What to call it in a list."""
        if self.model is None:
            return title_of(self.method)
        return f"Trained: {self.model.name or self.model.id[:8]}"

    @property
    def makes_imputations(self) -> bool:
        """Whether it can make several plausible imputations."""
        return known_methods()[self.method].draws_samples


def sources(models: Sequence[JobRecord]) -> dict[str, Source]:
    """Return all that can impute a table, trained models first."""
    methods = known_methods()
    trained = [
        Source(f"{MODEL}{one.id}", one.spec.params["method"], one)
        for one in models
        if one.spec.params["method"] in methods
    ]
    rest = [name for name in methods if name != FIRST_METHOD]
    untrained = [Source(name, name) for name in (FIRST_METHOD, *rest)]
    return {source.key: source for source in (*trained, *untrained)}


@dataclass(frozen=True)
class ImputationPlan:
    """An imputation as it is set on the page."""

    source: Source
    n_imputations: int = 0
    seed: int = 0
    leave_alone: tuple[StructuralMissingness, ...] = ()

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the job."""
        by = (
            {"method": self.source.method}
            if self.source.model is None
            else {"model": self.source.model.id}
        )
        left = [finding.to_dict() for finding in self.leave_alone]
        return {**by, "imputations": self.n_imputations, "left_alone": left}

    def name(self, table: str) -> str:
        """Return what to call the job."""
        trained = "" if self.source.model is None else ", already trained"
        several = f", {count(self.n_imputations, 'imputation')}" if self.n_imputations else ""
        return f"{title_of(self.source.method)} on {table}{trained}{several}, seed {self.seed}"


# What stays missing


def structural_missingness(table: OpenTable) -> list[StructuralMissingness]:
    """Return the missing values of the open table that another column explains."""
    return _structural(table.digest, table)


@st.cache_data(max_entries=8, show_spinner="Checking for values that are missing by design …")
def _structural(digest: str, _table: OpenTable) -> list[StructuralMissingness]:
    return find_structural_missingness(_table.frame, _table.schema, max_rows=STRUCTURAL_ROWS)


def finding_name(finding: StructuralMissingness) -> str:
    """Return a short name that the same finding always has."""
    text = json.dumps(finding.to_dict(), sort_keys=True)
    return f"leave_{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def stays_missing(schema: Schema) -> dict[str, str]:
    """Return the incomplete columns that no method imputes, and why, in words."""
    return {
        str(name): reason.clause
        for name, reason in schema.not_imputed().items()
        if schema[name].n_observed < schema[name].n_rows
    }
