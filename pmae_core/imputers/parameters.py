"""What the parameters of imputers may be: declared per class, checked in one place.

An imputer declares ``_parameter_constraints`` as scikit-learn's estimators do: for each parameter a
list of alternatives. ``fit`` checks them before anything else, so that every method refuses a wrong
value with the same kind of sentence.

The constraints are our own, because scikit-learn keeps its own in a private module.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from pmae_core.errors import ImputationError
from pmae_core.words import listed


class Constraint(Protocol):
    """One alternative of what a parameter may be."""

    def accepts(self, value: Any) -> bool:
        """Whether a value is allowed."""

    def describe(self, value: Any) -> str:
        """Return what is allowed, in words that follow "must be", for a value that is not."""


# For each parameter its alternatives; None stands for itself.
Constraints = Mapping[str, Sequence[Constraint | None]]


@dataclass(frozen=True, kw_only=True)
class Number:
    """A finite number in a range.

    Parameters
    ----------
    least, most : float, optional
        Bounds that are allowed themselves.
    above, below : float, optional
        Bounds that are not.

    Examples
    --------
    >>> Number(least=0, below=1).describe(1.5), Number(above=0).describe("fast")
    ('at least 0 and below 1', 'a positive number')
    """

    _noun: ClassVar[str] = "number"

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    def accepts(self, value: Any) -> bool:
        """Whether a value is a number in the range."""
        return (
            self._has_type(value)
            and (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
        )

    def describe(self, value: Any) -> str:
        """Return the range for a number outside of it, else the kind of number as well."""
        bounds = self._bounds()
        if bounds and self._has_type(value):
            return bounds
        if bounds == "positive":
            return f"a positive {self._noun}"
        article = "an" if self._noun.startswith("i") else "a"
        joint = " of " if bounds.startswith("at ") else " "
        return f"{article} {self._noun}{joint if bounds else ''}{bounds}"

    def _bounds(self) -> str:
        if (self.above, self.most, self.below) == (0, None, None):
            return "positive"
        bounds = {
            "at least": self.least,
            "above": self.above,
            "at most": self.most,
            "below": self.below,
        }
        return " and ".join(
            f"{word} {bound}" for word, bound in bounds.items() if bound is not None
        )

    def _has_type(self, value: Any) -> bool:
        is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
        return is_number and math.isfinite(value)


@dataclass(frozen=True, kw_only=True)
class Integer(Number):
    """A whole number in a range.

    Examples
    --------
    >>> Integer(least=1).describe(0), Integer(least=1).describe(2.5)
    ('at least 1', 'an integer of at least 1')
    """

    _noun: ClassVar[str] = "integer"

    def _has_type(self, value: Any) -> bool:
        return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


class OneOf:
    """One of a few words.

    Parameters
    ----------
    *choices : str
        The words.

    Examples
    --------
    >>> OneOf("mixer", "transformer").describe("rnn")
    "one of 'mixer', 'transformer'"
    """

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def accepts(self, value: Any) -> bool:
        """Whether a value is one of the words."""
        return isinstance(value, str) and value in self.choices

    def describe(self, value: Any) -> str:
        """Return the words."""
        words = ", ".join(map(repr, self.choices))
        return words if len(self.choices) == 1 else f"one of {words}"


class SomeOf:
    """A sequence of words, at least one, without repetition.

    Parameters
    ----------
    *choices : str
        The words it may hold.
    """

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def accepts(self, value: Any) -> bool:
        """Whether a value is such a sequence."""
        if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray) or not len(value):
            return False
        words = list(value)
        are_known = all(isinstance(word, str) and word in self.choices for word in words)
        return are_known and len(set(words)) == len(words)

    def describe(self, value: Any) -> str:
        """Return what the sequence may hold."""
        words = ", ".join(map(repr, self.choices))
        return f"a list of one or more of {words}, without repetition"


class InstanceOf:
    """An object of some type.

    Parameters
    ----------
    *types : type
        The types.
    words : str
        What these objects are called, with an article.

    Examples
    --------
    >>> InstanceOf(str, words="a string").describe(3)
    'a string'
    """

    def __init__(self, *types: type, words: str) -> None:
        self.types = types
        self.words = words

    def accepts(self, value: Any) -> bool:
        """Whether a value has one of the types."""
        return isinstance(value, self.types)

    def describe(self, value: Any) -> str:
        """Return what these objects are called."""
        return self.words


BOOLEAN = InstanceOf(bool, np.bool_, words="True or False")
STRING = InstanceOf(str, words="a string")


def check_parameters(imputer: BaseEstimator) -> None:
    """Refuse parameters that their class does not allow.

    Raises
    ------
    ImputationError
        Naming the parameter, what it may be, and what it is.
    """
    for name, alternatives in imputer._parameter_constraints.items():
        value = getattr(imputer, name)
        if any(value is None if one is None else one.accepts(value) for one in alternatives):
            continue
        words = ["None" if one is None else one.describe(value) for one in alternatives]
        raise ImputationError(
            f"{name} must be {listed(words, last='or')}, not {reprlib.repr(_plain(value))}."
        )


def plain_params(imputer: BaseEstimator) -> dict[str, Any]:
    """Return the parameters of an imputer with numbers of Python where numpy's were given.

    A grid search sets the latter. They compute the same, but no file of settings can hold them.
    """
    return {name: _plain(value) for name, value in imputer.get_params(deep=False).items()}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
