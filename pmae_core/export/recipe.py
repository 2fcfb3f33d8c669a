"""How a table was imputed: everything needed to do it again."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal

import pandas as pd

from pmae_core.errors import ImputationError
from pmae_core.explain import StructuralMissingness
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table import Schema
from pmae_core.words import listed

Sentinels = Sequence[Any] | Mapping[Any, Sequence[Any]]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a table was imputed.

    Attributes
    ----------
    table : str
        Name of the file, or of a sample table.
    source : {"file", "sample"}
        Which of the two.
    sentinels : sequence, or mapping of column to sequence
        Values that were declared missing.
    read_options : mapping
        Other options of :func:`~pmae_core.table.read_table`, such as ``sheet`` or ``delimiter``.
    roles : mapping of column to role
        Roles that the user chose; see :func:`changed_roles`.
    rules : mapping of column to mapping
        Limits, whole numbers, expressions and levels; see :meth:`Schema.with_rules`.
    method, params, seed
        The method, those of its settings that are not its defaults, and its seed.
    model : str, optional
        Name of the file of a trained model that imputed the table; nothing was fitted then.
    model_seed : int, optional
        The seed with which that model was trained, with the settings in `params`.
    n_imputations : int
        How many imputations were drawn in addition, with the same seed.
    left_alone : sequence of StructuralMissingness
        Findings whose cells were left missing.
    output, was_imputed_output : str
        Names of the files for the imputed table and, if wanted, for the table that is True where
        a cell was imputed.
    threads : int, optional
        Threads for numerical work; the last digits of results depend on them.
    versions : mapping of package to version
        The software that was used.
    """

    table: str
    method: str
    source: Literal["file", "sample"] = "file"
    sentinels: Sentinels = ()
    read_options: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[Any, str] = field(default_factory=dict)
    rules: Mapping[Any, Mapping[str, Any]] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    model: str | None = None
    model_seed: int | None = None
    n_imputations: int = 0
    left_alone: Sequence[StructuralMissingness] = ()
    output: str = "imputed.csv"
    was_imputed_output: str | None = None
    threads: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        reserved = {"schema", "random_state"} & set(self.params)
        if reserved:
            raise ImputationError(
                f"Leave {listed(sorted(reserved))} out of the params of a recipe. Use roles, "
                "rules and seed."
            )
        if self.n_imputations < 0:
            raise ImputationError(f"n_imputations must be at least 0, not {self.n_imputations}.")
        for name in ("sentinels", "read_options", "roles", "rules", "params"):
            value = _as_literal(getattr(self, name))
            if not _is_literal(value):
                raise ImputationError(
                    f"The {name} of a recipe must be text, finite numbers, True, False or None, or "
                    f"lists or mappings of these, not {value!r}."
                )
            object.__setattr__(self, name, value)
        object.__setattr__(self, "left_alone", tuple(self.left_alone))

    @property
    def imputation_outputs(self) -> list[str]:
        """Names of the files for the imputations: that of the output with a number."""
        path = PurePath(self.output)
        stems = (f"{path.stem}-{number}" for number in range(1, self.n_imputations + 1))
        return [str(path.with_stem(stem)) for stem in stems]

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as JSON-able data."""
        return {
            "table": self.table,
            "source": self.source,
            "sentinels": _pairs(self.sentinels)
            if isinstance(self.sentinels, Mapping)
            else list(self.sentinels),
            "sentinels_by_column": isinstance(self.sentinels, Mapping),
            "read_options": dict(self.read_options),
            "roles": _pairs(self.roles),
            "rules": _pairs(self.rules),
            "method": self.method,
            "params": dict(self.params),
            "seed": self.seed,
            "model": self.model,
            "model_seed": self.model_seed,
            "n_imputations": self.n_imputations,
            "left_alone": [finding.to_dict() for finding in self.left_alone],
            "output": self.output,
            "was_imputed_output": self.was_imputed_output,
            "threads": self.threads,
            "versions": dict(self.versions),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Recipe:
        """Return the recipe that `to_dict` wrote."""
        try:
            content = dict(data)
            if content.pop("sentinels_by_column"):
                content["sentinels"] = _mapping(content["sentinels"])
            content["roles"] = _mapping(content["roles"])
            content["rules"] = _mapping(content.get("rules", []))
            content["left_alone"] = [
                StructuralMissingness.from_dict(d) for d in content["left_alone"]
            ]
            return cls(**content)
        except (KeyError, TypeError, ValueError) as error:
            raise ImputationError(f"This is not a saved recipe: {error!r}.") from None


def changed_roles(frame: pd.DataFrame, schema: Schema) -> dict[Hashable, str]:
    """Return the roles of a schema that differ from the inferred ones.

    Parameters
    ----------
    frame : DataFrame
        The table.
    schema : Schema
        Its roles, as the user set them.

    Examples
    --------
    >>> table = pd.DataFrame({"zip": [10115, 20095, 10115], "age": [31, 45, 52]})
    >>> changed_roles(table, Schema.infer(table, roles={"zip": "categorical"}))
    {'zip': 'categorical'}
    """
    inferred = Schema.infer(frame)
    return {
        column.name: column.role.value
        for column in schema
        if column.role is not inferred.role(column.name)
    }


def _as_literal(value: Any) -> Any:
    """Return a copy of dicts, lists and Python values; names keep their type, nan stays nan."""
    if isinstance(value, Mapping):
        return {key: _as_literal(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_as_literal(item) for item in value]
    return value.item() if hasattr(value, "item") else value


def _is_literal(value: Any) -> bool:
    """Say whether Python can read the value back from its text."""
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False


def _pairs(mapping: Mapping[Any, Any]) -> list[list[Any]]:
    return [[to_json_value(key), value] for key, value in mapping.items()]


def _mapping(pairs: Sequence[Sequence[Any]]) -> dict[Any, Any]:
    return {from_json_value(key): value for key, value in pairs}
