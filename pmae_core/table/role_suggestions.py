"""Suggesting another role for a column whose numbers or words look like codes or levels."""

from __future__ import annotations

import re
from collections.abc import Container, Hashable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pmae_core.table.cells import CellKind, cell_kind, observed_cells
from pmae_core.table.levels import MOST_LEVELS, Levels, known_scale
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.roles import MOST_CODES, Role, looks_like_codes, looks_like_gapped_codes
from pmae_core.table.schema import ColumnSchema, Schema
from pmae_core.words import cell_text, listed

_CODE_WORDS = frozenset(
    {
        *("id", "ids", "code", "codes", "type", "kind", "class", "category", "cat", "group", "grp"),
        *("zip", "zipcode", "postcode", "postal", "plz", "fips", "icd", "naics", "sic"),
        *("region", "district", "state", "country", "county", "city", "cluster", "arm", "branch"),
    }
)
# The words of a name: "zip_code", "zipCode" and "ZIP code" have two each.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# A name says little about numbers that hardly repeat: they may be measurements.
_CELLS_PER_NAMED_CODE = 3
# So many cells show that only two values occur.
_FEWEST_CELLS_OF_TWO = 6
# Two words of a scale, such as low and high, may be categories as well.
_FEWEST_LEVELS = 3
_YES_NO = (
    *({"yes", "no"}, {"y", "n"}, {"true", "false"}, {"t", "f"}, {"on", "off"}),
    *({"1", "0"}, {"1.0", "0.0"}, {"ja", "nein"}, {"oui", "non"}, {"si", "no"}),
)


@dataclass(frozen=True)
class RoleSuggestion:
    """Another role that seems to fit a column better.

    Parameters
    ----------
    column
        Name of the column.
    current, suggested
        The role it has, and the one that seems to fit better.
    reason
        A sentence that says what the suggestion rests on.
    """

    column: Hashable
    current: Role
    suggested: Role
    reason: str


def suggest_roles(
    df: pd.DataFrame, schema: Schema | None = None, decided: Container[Hashable] = ()
) -> list[RoleSuggestion]:
    """Suggest roles for columns of codes, of levels, or of yes and no; nothing is changed.

    Parameters
    ----------
    df
        The table.
    schema
        Roles of its columns; inferred from the table if None.
    decided
        Names of the columns whose role somebody chose: nothing is suggested for them.

    Returns
    -------
    list of RoleSuggestion
        At most one per column, in the order of the columns.

    Notes
    -----
    Suggested are, with the first rule that applies:

    - boolean for two values that mean yes and no, such as 0 and 1;
    - ordinal for three or more words that all are levels of one known scale, such as low, medium
      and high;
    - categorical for a numerical column that holds

      - two different whole numbers,
      - whole numbers under a name such as ``zip`` or ``blood_type``, three cells for each of them
        on average, and
      - few whole numbers that are no counts: their shares neither rise to one peak and fall from
        it, nor do they skip numbers at equal distances, as doses do.

    Examples
    --------
    >>> df = pd.DataFrame({"trt": [1, 2, 2, 1, 1, 2], "children": [0, 2, 1, 0, 3, 1]})
    >>> for suggestion in suggest_roles(df):
    ...     print(suggestion.suggested, suggestion.reason)
    categorical `trt` has two values, 1 and 2.
    """
    schema = Schema.infer(df) if schema is None else schema
    asked = (c for c in schema if c.name in df.columns and c.name not in decided)
    return [suggestion for column in asked for suggestion in _suggestions(df[column.name], column)]


def _suggestions(series: pd.Series, column: ColumnSchema) -> Iterator[RoleSuggestion]:
    """Yield the suggestion for a column, if there is one."""
    if column.role not in (Role.NUMERICAL, Role.CATEGORICAL) or column.rules.derived is not None:
        return
    if _means_yes_or_no(series):
        yield RoleSuggestion(column.name, column.role, Role.BOOLEAN, _values_sentence(series))
    elif column.role is Role.CATEGORICAL and (scale := _scale_of(series)):
        in_order = f"{_column(series)} has the ordered levels {listed(scale, len(scale))}."
        yield RoleSuggestion(column.name, column.role, Role.ORDINAL, in_order)
    elif column.role is Role.NUMERICAL and (reason := _reason_for_codes(series)):
        yield RoleSuggestion(column.name, column.role, Role.CATEGORICAL, reason)


def _means_yes_or_no(series: pd.Series) -> bool:
    if cell_kind(series) not in (CellKind.NUMBER, CellKind.LABEL):
        return False
    if int(observed_cells(series).sum()) < _FEWEST_CELLS_OF_TWO or series.nunique() != 2:
        return False
    return {str(value).strip().casefold() for value in series.dropna().unique()} in _YES_NO


def _scale_of(series: pd.Series) -> Levels | None:
    """Return the values of a column in order if all of them are words of one known scale."""
    if cell_kind(series) is not CellKind.LABEL or series.nunique() < _FEWEST_LEVELS:
        return None
    if series.nunique() > MOST_LEVELS:
        return None
    return known_scale(series.dropna().unique().tolist())


def _reason_for_codes(series: pd.Series) -> str | None:
    """Return why numbers look like codes; None if they do not."""
    if cell_kind(series) is CellKind.DURATION:
        return None
    cells = NumberCells(integer=False, written_as="float").read(series)
    cells = cells[~np.isnan(cells)]
    if not len(cells) or (cells != np.rint(cells)).any():
        return None
    numbers, counts = np.unique(cells, return_counts=True)
    n_values, n_cells = len(numbers), len(cells)
    if n_values == 2:
        return _values_sentence(series) if n_cells >= _FEWEST_CELLS_OF_TWO else None
    word = _code_word(series.name)
    if word and 2 < n_values <= n_cells / _CELLS_PER_NAMED_CODE:
        return f'{_column(series)} holds whole numbers, and its name ends with "{word}".'
    shares = counts / n_cells
    if 2 < n_values <= MOST_CODES and (
        looks_like_codes(numbers, shares, n_cells)
        or looks_like_gapped_codes(numbers, shares, n_cells)
    ):
        return _values_sentence(series)
    return None


def _code_word(name: Hashable) -> str | None:
    """Return the last word of a name if it says that the column holds codes.

    Only the last: class_size is a count.
    """
    words = _WORD.findall(str(name))
    return words[-1] if words and words[-1].casefold() in _CODE_WORDS else None


def _values_sentence(series: pd.Series) -> str:
    values = sorted(series.dropna().unique().tolist())
    n = "two" if len(values) == 2 else f"{len(values)} different"
    return f"{_column(series)} has {n} values, {listed(map(cell_text, values), len(values))}."


def _column(series: pd.Series) -> str:
    return f"`{series.name}`"
