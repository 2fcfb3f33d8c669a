"""What the columns of a table are for, and how their cells show it."""

from __future__ import annotations

import enum
import re
from collections.abc import Hashable

import numpy as np
import pandas as pd

from pmae_core.errors import SchemaError
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.levels import check_can_have_levels
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.time_cells import TimeCells
from pmae_core.words import listed

_IDENTIFIER_MIN_OBSERVED = 20
_IDENTIFIER_MIN_DISTINCT = 0.95
_IDENTIFIER_NAME = re.compile(
    r"(id|ids|uuid|guid|key|index|idx|row|row[ _-]?(num|number|nr|no|id)|nr|unnamed: \d+"
    r"|.*[ _-](id|uuid|guid|key)|(id|uuid)[ _-].*)",
    re.IGNORECASE,
)
_CAMEL_CASE_IDENTIFIER = re.compile(r".*[a-z](Id|ID|Key|Uuid|UUID)")

# More different numbers than this are amounts.
MOST_CODES = 10
# Fewer cells per number are too few to see groups in them.
_CELLS_PER_CODE = 10
# Fewer levels than this do not show a peak that would distinguish a rating from codes.
_FEWEST_RATINGS = 5
_SHARE_AGAINST_ONE_PEAK = 0.1


class Role(enum.StrEnum):
    """What a column is for."""

    NUMERICAL = "numerical"
    CATEGORICAL = "categorical"
    ORDINAL = "ordinal"
    BOOLEAN = "boolean"
    DATETIME = "datetime"
    IDENTIFIER = "identifier"
    IGNORED = "ignored"


NUMBER_ROLES = (Role.NUMERICAL, Role.DATETIME)
"""The roles of amounts and points in time."""

LABEL_ROLES = (Role.CATEGORICAL, Role.ORDINAL, Role.BOOLEAN)
"""The roles of values that are shown, counted and coded one by one."""

CODED_ROLES = (Role.CATEGORICAL, Role.ORDINAL)
"""The roles in which numbers are codes: a model has a coefficient for each."""

_ROLE_OF_KIND = {
    CellKind.NUMBER: Role.NUMERICAL,
    CellKind.DURATION: Role.NUMERICAL,
    CellKind.BOOLEAN: Role.BOOLEAN,
    CellKind.DATETIME: Role.DATETIME,
    CellKind.LABEL: Role.CATEGORICAL,
    CellKind.OTHER: Role.IGNORED,
}


def infer_role(series: pd.Series, kind: CellKind, n_observed: int, n_unique: int) -> Role:
    """Return what a column is for, from its cells and its name.

    Parameters
    ----------
    series
        The column.
    kind
        What its cells are.
    n_observed, n_unique
        Number of observed cells, and of different values among them.
    """
    if _looks_like_identifier(series, kind, n_observed, n_unique):
        return Role.IDENTIFIER
    if kind is CellKind.NUMBER and 2 <= n_unique <= MOST_CODES:
        numbers, shares = _distribution(series)
        if _holds_zero_and_one(numbers, n_observed):
            return Role.BOOLEAN
        if looks_like_codes(numbers, shares, n_observed):
            return Role.CATEGORICAL
    return _ROLE_OF_KIND[kind]


def _distribution(series: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return the different numbers of a column in order, and the share of the cells of each."""
    numbers = NumberCells(integer=False, written_as="float").read(series)
    if not np.array_equal(np.isnan(numbers), series.isna().to_numpy()):
        # Infinite numbers are no codes.
        return np.array([]), np.array([])
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    return values, counts / counts.sum()


def _holds_zero_and_one(numbers: np.ndarray, n_observed: int) -> bool:
    return n_observed > 2 and np.array_equal(numbers, [0.0, 1.0])


def looks_like_codes(numbers: np.ndarray, shares: np.ndarray, n_observed: int) -> bool:
    """Say whether few different numbers rather name groups than measure or count something.

    Parameters
    ----------
    numbers
        The different numbers, in order.
    shares
        Share of the observed cells of each.
    n_observed
        Number of observed cells.

    Notes
    -----
    Two different numbers are codes if each stands for ten cells on average. More are codes if they
    are also whole and consecutive from 0 or 1, and neither order nor spread says that they are
    amounts:

    - three or four numbers are amounts only if they begin with 0 and each is rarer than the one
      before it, as counts are;
    - five to ten numbers are amounts if their shares rise to one peak and fall from it, as those
      of counts and ratings do: at most a tenth of the cells stand against that.

    Examples
    --------
    >>> looks_like_codes(np.arange(1, 5), np.array([0.05, 0.22, 0.38, 0.35]), 412)
    True
    >>> looks_like_codes(np.arange(0, 4), np.array([0.6, 0.25, 0.1, 0.05]), 412)
    False
    """
    if len(numbers) < 2 or n_observed < _CELLS_PER_CODE * len(numbers):
        return False
    if len(numbers) == 2:
        return True
    first = numbers[0]
    if first not in (0, 1) or not np.array_equal(numbers, first + np.arange(len(numbers))):
        return False
    if len(numbers) < _FEWEST_RATINGS:
        is_count = first == 0 and bool((np.diff(shares) < 0).all())
        return not is_count
    return _against_one_peak(shares) > _SHARE_AGAINST_ONE_PEAK


def looks_like_gapped_codes(numbers: np.ndarray, shares: np.ndarray, n_observed: int) -> bool:
    """Say whether few whole numbers, some left out, rather name groups.

    Parameters
    ----------
    numbers
        The different numbers, in order.
    shares
        Share of the observed cells of each.
    n_observed
        Number of observed cells.

    Notes
    -----
    Equally spaced numbers may be doses or years, and shares with one peak are those of counts, a
    few of which do not occur.

    Examples
    --------
    >>> looks_like_gapped_codes(np.array([1, 2, 5, 9]), np.array([0.4, 0.1, 0.35, 0.15]), 200)
    True
    >>> looks_like_gapped_codes(np.array([0, 1, 2, 5]), np.array([0.6, 0.3, 0.07, 0.03]), 200)
    False
    """
    if len(numbers) < 3 or n_observed < _CELLS_PER_CODE * len(numbers):
        return False
    is_even = len(np.unique(np.diff(numbers))) == 1
    return not is_even and _against_one_peak(shares) > _SHARE_AGAINST_ONE_PEAK


def _against_one_peak(shares: np.ndarray) -> float:
    """Return how much shares fall before their peak and rise after it, in total."""
    peak = int(np.argmax(shares))
    steps = np.diff(shares)
    falls, rises = -steps[:peak].clip(max=0), steps[peak:].clip(min=0)
    return float(falls.sum() + rises.sum())


def as_role(role: Role | str) -> Role:
    """Return a role by its name, or raise a SchemaError that lists them."""
    try:
        return Role(role)
    except ValueError:
        raise SchemaError(
            f"There is no role {role!r}.", advice=f"Choose {listed(Role, len(Role), 'or')}."
        ) from None


def check_role(series: pd.Series, role: Role) -> None:
    """Raise a SchemaError if a column cannot have a role.

    Whether the order of the values of an ordinal column is known depends on its rules, too: see
    `check_rules`.
    """
    kind = cell_kind(series)
    if role is Role.NUMERICAL and kind is not CellKind.DURATION:
        NumberCells.fit(series)
    elif role is Role.DATETIME:
        if kind is CellKind.DURATION:
            raise SchemaError(
                f"Column {series.name!r} holds durations, not dates.",
                advice="Give it the role numerical.",
            )
        TimeCells.fit(series)
    elif role is Role.ORDINAL:
        check_can_have_levels(series)
    elif role in (Role.CATEGORICAL, Role.BOOLEAN) and kind is CellKind.OTHER:
        raise SchemaError(
            f"Column {series.name!r} ({series.dtype}) holds values that cannot be categories.",
            advice="Turn them into text or numbers, or give the column the role ignored.",
        )
    elif role is Role.BOOLEAN and series.nunique() > 2:
        raise SchemaError(
            f"Column {series.name!r} has {series.nunique()} different values, "
            "but a boolean column has two.",
            advice="Give it the role categorical or numerical.",
        )


def _looks_like_identifier(
    series: pd.Series, kind: CellKind, n_observed: int, n_unique: int
) -> bool:
    """Say whether the cells only name their rows.

    A column of dtype category never is an identifier: somebody declared it.
    """
    is_text = kind is CellKind.LABEL and not isinstance(series.dtype, pd.CategoricalDtype)
    if is_text:
        return (
            n_observed >= _IDENTIFIER_MIN_OBSERVED
            and n_unique >= _IDENTIFIER_MIN_DISTINCT * n_observed
        )
    if series.dtype.kind not in "iu" or n_unique < max(2, n_observed):
        return False
    if _is_identifier_name(series.name):
        return True
    smallest, largest = int(series.min()), int(series.max())
    return n_observed >= _IDENTIFIER_MIN_OBSERVED and largest - smallest == n_observed - 1


def _is_identifier_name(name: Hashable) -> bool:
    text = str(name).strip()
    return bool(_IDENTIFIER_NAME.fullmatch(text) or _CAMEL_CASE_IDENTIFIER.fullmatch(text))
