"""Conditions on one column, such as "smoker is no" or "age is above 64"."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.errors import SchemaError
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.words import listed

BoolArray = npt.NDArray[np.bool_]
Relation = Literal["is", "is not", "<=", ">", "is missing"]

# A condition that names more values than this explains nothing to a reader.
MOST_VALUES = 5


@dataclass(frozen=True)
class Condition:
    """A condition on the cells of one column.

    Attributes
    ----------
    column
        Name of the column.
    relation : {"is", "is not", "<=", ">", "is missing"}
        For a missing cell, only "is missing" is true.
    values : tuple
        The values to match, or the threshold; empty for "is missing".

    Examples
    --------
    >>> table = pd.DataFrame({"smoker": ["no", "yes", None]})
    >>> Condition("smoker", "is not", ("yes",)).holds(table).tolist()
    [True, False, False]
    """

    column: Hashable
    relation: Relation
    values: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if self.relation not in get_args(Relation):
            raise SchemaError(
                f"There is no relation {self.relation!r}. Choose "
                f"{listed(get_args(Relation), last='or')}."
            )

    def holds(self, frame: pd.DataFrame) -> BoolArray:
        """Return True for the rows in which the condition holds."""
        if self.column not in frame.columns:
            raise SchemaError(
                f"The table has no column {self.column!r}, which a condition is about."
            )
        cells = frame[self.column]
        observed = cells.notna().to_numpy()
        if self.relation == "is missing":
            return ~observed
        if self.relation in ("is", "is not"):
            among = cells.isin(list(self.values)).to_numpy(dtype=bool)
            return observed & (among if self.relation == "is" else ~among)
        found = np.zeros(len(frame), dtype=bool)
        (threshold,) = self.values
        below = cells[observed] <= threshold
        found[observed] = (below if self.relation == "<=" else ~below).to_numpy(dtype=bool)
        return found

    @property
    def words(self) -> str:
        """The condition in words."""
        if self.relation == "is missing":
            return f"{self.column} is missing"
        verb = {"<=": "is at most", ">": "is above"}.get(self.relation, self.relation)
        return f"{self.column} {verb} {listed(self.values, most=MOST_VALUES, last='or')}"

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as JSON-able data."""
        return {
            "column": to_json_value(self.column),
            "relation": self.relation,
            "values": [to_json_value(value) for value in self.values],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Condition:
        """Return the condition that `to_dict` wrote."""
        values = tuple(from_json_value(value) for value in data["values"])
        return cls(from_json_value(data["column"]), data["relation"], values)
