"""Expressions as trees: what they refer to, how they are written, and how they are computed."""

from __future__ import annotations

import numbers
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pmae_core.errors import ExpressionError
from pmae_core.expressions.tokens import quote_name, quote_text, shown
from pmae_core.names import nearest_name
from pmae_core.words import listed

FloatArray = npt.NDArray[np.float64]
Columns = Mapping[str, npt.NDArray[Any]]

FUNCTIONS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "log10": np.log10,
    "log2": np.log2,
    "sqrt": np.sqrt,
}
"""The functions that expressions and formulas may use."""
_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True)
class Expression(ABC):
    """Arithmetic with columns, as `parse_expression` returns it.

    ``str(expression)`` writes it so that it is read as the same expression again.
    """

    # How strongly the parts hold together: parentheses go around what holds less.
    _strength: ClassVar[int] = 9

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns it refers to, in order and each once."""
        return tuple(dict.fromkeys(self._names()))

    @property
    def is_comparison(self) -> bool:
        """Whether the values are 1 (true) and 0 (false)."""
        return False

    def evaluate(self, columns: Columns) -> FloatArray:
        """Compute the expression for each row.

        Parameters
        ----------
        columns : mapping of str to array
            The columns by name, all of one length. Numbers and booleans count as numbers,
            anything else in an array of strings or objects as text. Missing cells are NaN or None.

        Returns
        -------
        array of float64
            NaN where a cell that is needed is missing and where the value is not defined, as
            ``log(-1)``; infinite where it has no bounds, as ``1 / 0``. Comparisons give 1 and 0.

        Raises
        ------
        ExpressionError
            If there is no such column, or its cells are text where numbers are needed.

        Examples
        --------
        >>> from pmae_core.expressions import parse_expression
        >>> bmi = parse_expression("weight / height ** 2")
        >>> bmi.evaluate({"weight": np.array([80.0, np.nan]), "height": np.array([2.0, 1.6])})
        array([20., nan])
        """
        check_names(self.columns, columns)
        n_rows = len(next(iter(columns.values()))) if columns else 1
        with np.errstate(all="ignore"):
            values = np.asarray(self._values(columns), dtype=np.float64)
        return np.array(np.broadcast_to(values, (n_rows,)))

    @abstractmethod
    def _names(self) -> Iterator[str]:
        """Yield the names of columns, each as often as it stands there."""

    @abstractmethod
    def _values(self, columns: Columns) -> Any:
        """Compute with numbers and arrays of them."""

    def _within(self, strength: int) -> str:
        """Return the text for a place that needs this strength."""
        return str(self) if self._strength >= strength else f"({self})"


@dataclass(frozen=True)
class Constant(Expression):
    """A number, not negative."""

    value: float

    def __str__(self) -> str:
        is_short_integer = self.value == int(self.value) and self.value < 1e15
        return str(int(self.value)) if is_short_integer else repr(self.value)

    def _names(self) -> Iterator[str]:
        return iter(())

    def _values(self, columns: Columns) -> Any:
        return np.float64(self.value)


@dataclass(frozen=True)
class ColumnName(Expression):
    """A column."""

    name: str

    def __str__(self) -> str:
        return quote_name(self.name)

    def _names(self) -> Iterator[str]:
        yield self.name

    def _values(self, columns: Columns) -> Any:
        cells = _cells(columns[self.name], self.name)
        if cells.dtype == object:
            raise ExpressionError(
                f"Column {shown(self.name)} holds text, but numbers are needed here.",
                advice=f'Text can be compared, as in {self} == "text".',
            )
        return cells


@dataclass(frozen=True)
class Negation(Expression):
    """The negative of an expression."""

    of: Expression
    _strength: ClassVar[int] = 4

    def __str__(self) -> str:
        return f"-{self.of._within(self._strength)}"

    def _names(self) -> Iterator[str]:
        return self.of._names()

    def _values(self, columns: Columns) -> Any:
        return -self.of._values(columns)


@dataclass(frozen=True)
class Arithmetic(Expression):
    """A sum (with ``+`` and ``-``) or a product (with ``*`` and ``/``) of several parts.

    Attributes
    ----------
    first : Expression
        The first part.
    others : tuple of (str, Expression)
        The other parts, each with the sign before it; computed from left to right.
    """

    first: Expression
    others: tuple[tuple[str, Expression], ...]

    @property
    def _own_strength(self) -> int:
        return 2 if self.others[0][0] in "+-" else 3

    def __str__(self) -> str:
        inner = self._own_strength + 1
        parts = [f"{sign} {part._within(inner)}" for sign, part in self.others]
        return " ".join([self.first._within(inner), *parts])

    def _within(self, strength: int) -> str:
        return str(self) if self._own_strength >= strength else f"({self})"

    def _names(self) -> Iterator[str]:
        yield from self.first._names()
        for _, part in self.others:
            yield from part._names()

    def _values(self, columns: Columns) -> Any:
        values = self.first._values(columns)
        for sign, part in self.others:
            values = _ARITHMETIC[sign](values, part._values(columns))
        return values


@dataclass(frozen=True)
class Power(Expression):
    """An expression to the power of another."""

    base: Expression
    exponent: Expression
    _strength: ClassVar[int] = 5

    def __str__(self) -> str:
        # The exponent may be negative or a power without parentheses: -x ** -y ** 2.
        return f"{self.base._within(self._strength + 1)} ** {self.exponent._within(4)}"

    def _names(self) -> Iterator[str]:
        yield from self.base._names()
        yield from self.exponent._names()

    def _values(self, columns: Columns) -> Any:
        return self.base._values(columns) ** self.exponent._values(columns)


@dataclass(frozen=True)
class FunctionCall(Expression):
    """One of `FUNCTIONS` of an expression."""

    function: str
    argument: Expression

    def __str__(self) -> str:
        return f"{self.function}({self.argument})"

    def _names(self) -> Iterator[str]:
        return self.argument._names()

    def _values(self, columns: Columns) -> Any:
        return FUNCTIONS[self.function](self.argument._values(columns))


@dataclass(frozen=True)
class Relation(Expression):
    """A comparison of two expressions, or of a column with text.

    Attributes
    ----------
    left : Expression
        What stands left of the sign.
    sign : str
        ``<``, ``<=``, ``>``, ``>=``, ``==`` or ``!=``.
    right : Expression or str
        What stands right of it; text only behind a column and ``==`` or ``!=``.
    """

    left: Expression
    sign: str
    right: Expression | str
    _strength: ClassVar[int] = 1

    @property
    def is_comparison(self) -> bool:
        """Whether the values are 1 (true) and 0 (false)."""
        return True

    def __str__(self) -> str:
        right = self.right
        right = quote_text(right) if isinstance(right, str) else right._within(2)
        return f"{self.left._within(2)} {self.sign} {right}"

    def _names(self) -> Iterator[str]:
        yield from self.left._names()
        if not isinstance(self.right, str):
            yield from self.right._names()

    def _values(self, columns: Columns) -> Any:
        if isinstance(self.right, str):
            (name,) = self.left.columns
            return self._of_text(_cells(columns[name], name), name, self.right)
        left, right = self.left._values(columns), self.right._values(columns)
        is_missing = np.isnan(left) | np.isnan(right)
        return np.where(is_missing, np.nan, _RELATIONS[self.sign](left, right))

    def _of_text(self, cells: npt.NDArray[Any], name: str, text: str) -> FloatArray:
        if cells.dtype != object:
            raise ExpressionError(
                f"Column {shown(name)} holds numbers, so it cannot be compared with text.",
                advice="Write the number without quotes; true is 1 and false is 0.",
            )
        is_missing = np.array([cell is None for cell in cells], dtype=bool)
        is_equal = np.array([cell == text for cell in cells], dtype=bool)
        return np.where(is_missing, np.nan, _RELATIONS[self.sign](is_equal, True))


def check_names(names: Iterable[str], known: Iterable[str]) -> None:
    """Refuse the name of a column that does not exist, with the one that was probably meant.

    Parameters
    ----------
    names : iterable of str
        The columns that are needed.
    known : iterable of str
        The columns that there are.

    Raises
    ------
    ExpressionError
        If one of the names is not known.
    """
    existing = dict.fromkeys(known)
    for name in names:
        if name not in existing:
            nearest = nearest_name(name, existing)
            advice = f"The columns are {listed(map(quote_name, existing), most=10)}."
            if nearest is not None:
                advice = f"Did you mean {quote_name(nearest)}?"
            raise ExpressionError(f"There is no column {shown(name)}.", advice=advice)


def _cells(column: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Return numbers as float64, and text as objects with None where a cell is missing."""
    array = np.asarray(column)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.kind in "Mmc":
        raise ExpressionError(
            f"Column {shown(name)} holds dates or times, which expressions cannot use.",
            advice="Turn them into numbers first, e.g. days since a start.",
        )
    cells = [None if _is_missing(cell) else cell for cell in array.astype(object)]
    if all(cell is None or isinstance(cell, numbers.Real | np.bool_) for cell in cells):
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    texts = np.empty(len(cells), dtype=object)
    texts[:] = [None if cell is None else str(cell) for cell in cells]
    return texts


def _is_missing(cell: Any) -> bool:
    try:
        return cell is None or bool(cell != cell)
    except TypeError:  # the missing value of pandas is neither equal to itself nor different
        return True
