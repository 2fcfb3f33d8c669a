"""Structural missingness: cells without a value because another column says there is none.

The number of cigarettes per day is missing for those who do not smoke. Such cells have no true
value, and imputing them would invent one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import SchemaError
from pmae_core.explain._condition_search import RuleLimits, proposals
from pmae_core.explain.conditions import BoolArray, Condition
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table import Schema
from pmae_core.words import count


@dataclass(frozen=True)
class StructuralMissingness:
    """A column that is missing wherever a condition on another column holds.

    Attributes
    ----------
    column
        The column with the missing values.
    condition : Condition
        When it is missing.
    n_rows : int
        Rows in which the condition holds.
    n_exceptions : int
        Those among them in which the column is observed nevertheless.
    n_other_missing : int
        Missing cells in the other rows, which the condition does not explain.
    """

    column: Hashable
    condition: Condition
    n_rows: int
    n_exceptions: int = 0
    n_other_missing: int = 0

    @property
    def sentence(self) -> str:
        """The finding in words."""
        if self.n_exceptions:
            rows = f"{self.n_rows - self.n_exceptions:,} of the {self.n_rows:,} rows"
        else:
            rows = f"all {self.n_rows:,} rows"
        n_else = self.n_other_missing
        rest = f"in {count(n_else, 'other row')}" if n_else else "nowhere else"
        found = f"{self.column} is missing in {rows} where {self.condition.words}, and {rest}."
        if self.condition.relation == "is missing":
            found += " Cells that are missing together may still have true values."
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON-able data."""
        return {
            "column": to_json_value(self.column),
            "condition": self.condition.to_dict(),
            "n_rows": self.n_rows,
            "n_exceptions": self.n_exceptions,
            "n_other_missing": self.n_other_missing,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> StructuralMissingness:
        """Return the finding that `to_dict` wrote."""
        try:
            return cls(
                column=from_json_value(data["column"]),
                condition=Condition.from_dict(data["condition"]),
                n_rows=int(data["n_rows"]),
                n_exceptions=int(data["n_exceptions"]),
                n_other_missing=int(data["n_other_missing"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise SchemaError(
                f"This is not a saved finding of structural missingness: {error!r}."
            ) from None


def find_structural_missingness(
    frame: pd.DataFrame,
    schema: Schema | None = None,
    *,
    min_rows: int = 20,
    max_exceptions: float = 0.01,
    max_other_missing: float = 0.05,
    by_missingness: bool = False,
    max_rows: int | None = None,
) -> list[StructuralMissingness]:
    """Find columns that are missing because of the value of another column.

    The column must be missing (almost) whenever a condition holds, and (almost) never otherwise.
    A finding is a suggestion: only you can know whether such a cell has no value at all.

    Parameters
    ----------
    frame : DataFrame
        The table with its missing values.
    schema : Schema, optional
        Roles of the columns; inferred if not given. Identifiers explain nothing.
    min_rows : int, default 20
        The condition must hold in at least this many rows, and the column must be observed in at
        least this many others.
    max_exceptions : float, default 0.01
        Share of the rows of a condition in which the column may be observed nevertheless.
    max_other_missing : float, default 0.05
        Share of the other rows in which the column may be missing. These are never more than the
        rows explained.
    by_missingness : bool, default False
        Also report columns that are missing whenever another one is. That alone is no reason to
        leave them out: cells that are missing together may still have true values.
    max_rows : int, optional
        In larger tables, search for conditions in a random sample of this many rows, then check
        them in all rows.

    Returns
    -------
    list of StructuralMissingness
        At most one per column, in the table's order: explained by a value rather than by another
        missing cell, then with the fewest exceptions, then the simplest.

    Examples
    --------
    >>> table = pd.DataFrame({"smoker": ["no", "yes"] * 30, "packs": [None, 1.5] * 30})
    >>> [finding.sentence for finding in find_structural_missingness(table)]
    ['packs is missing in all 30 rows where smoker is no, and nowhere else.']
    """
    schema = Schema.infer(frame) if schema is None else schema
    limits = RuleLimits(min_rows, max_exceptions, max_other_missing, by_missingness)
    if max_rows is not None and len(frame) > max_rows:
        rows = np.sort(np.random.default_rng(0).choice(len(frame), max_rows, replace=False))
        found = _found_in(frame.iloc[rows], schema, limits)
        measured = (
            _measured(
                one.column,
                one.condition,
                one.condition.holds(frame),
                frame[one.column].isna().to_numpy(),
            )
            for one in found
        )
        return [one for one in measured if _is_rule(one, len(frame), limits)]
    return _found_in(frame, schema, limits)


def leave_alone(frame: pd.DataFrame, findings: Iterable[StructuralMissingness]) -> pd.DataFrame:
    """Return a table that is True for the missing cells that these findings explain.

    ``imputed.mask(leave_alone(frame, findings))`` is the imputed table without these cells.

    Parameters
    ----------
    frame : DataFrame
        The table with its missing values.
    findings : iterable of StructuralMissingness
        From :func:`find_structural_missingness`.
    """
    left = pd.DataFrame(False, index=frame.index, columns=frame.columns)
    for finding in findings:
        name = finding.column
        if name not in frame.columns:
            raise SchemaError(f"The table has no column {name!r} to leave missing.")
        explained = finding.condition.holds(frame) & frame[name].isna().to_numpy()
        left[name] = left[name].to_numpy() | explained
    return left


def _found_in(
    frame: pd.DataFrame, schema: Schema, limits: RuleLimits
) -> list[StructuralMissingness]:
    min_rows = limits.min_rows
    missing = frame.isna()
    n_missing = missing.sum()
    most = len(frame) - min_rows
    columns = [name for name in frame.columns if min_rows <= n_missing[name] <= most]
    if not columns:
        return []
    is_missing = missing[columns].to_numpy()
    best: dict[Hashable, tuple[tuple[int, ...], StructuralMissingness]] = {}
    imputable = set(schema.imputable())
    for reason in schema:
        if reason.name not in imputable:
            continue
        for j, condition in proposals(frame[reason.name], reason, is_missing, limits):
            column = columns[j]
            if column == reason.name:
                continue
            finding = _measured(column, condition, condition.holds(frame), is_missing[:, j])
            if _is_rule(finding, len(frame), limits):
                rank = _rank(finding)
                if column not in best or rank < best[column][0]:
                    best[column] = (rank, finding)
    return [best[column][1] for column in columns if column in best]


def _is_rule(finding: StructuralMissingness, n_rows: int, limits: RuleLimits) -> bool:
    n_others = n_rows - finding.n_rows
    return (
        finding.n_rows >= limits.min_rows
        and n_others - finding.n_other_missing >= limits.min_rows
        and finding.n_exceptions <= limits.max_exceptions * finding.n_rows
        and finding.n_other_missing <= limits.max_other_missing * n_others
        and finding.n_other_missing <= finding.n_rows - finding.n_exceptions
    )


def _measured(
    column: Hashable, condition: Condition, holds: BoolArray, missing: BoolArray
) -> StructuralMissingness:
    n_rows, n_explained = int(holds.sum()), int((holds & missing).sum())
    return StructuralMissingness(
        column=column,
        condition=condition,
        n_rows=n_rows,
        n_exceptions=n_rows - n_explained,
        n_other_missing=int(missing.sum()) - n_explained,
    )


def _rank(finding: StructuralMissingness) -> tuple[int, ...]:
    """Return a key that sorts the findings of one column, best first."""
    condition = finding.condition
    by_missingness = condition.relation == "is missing"
    lengths = {"is": len(condition.values), "is not": 1 + len(condition.values)}
    n_misfits = finding.n_exceptions + finding.n_other_missing
    return by_missingness, n_misfits, lengths.get(condition.relation, 2)
