"""Options that belong together as one parameter of a command.

A group is a named tuple whose fields are options. A command with `with_option_groups` takes it as
one parameter; on the command line its fields are options like all others.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer

from pmae_core.cli.options import (
    ColumnLevels,
    ColumnLimits,
    CouplingName,
    DerivedColumns,
    MechanismName,
    PatternName,
    Roles,
    Sentinels,
    WholeColumns,
    given,
    read_roles,
    read_rules,
    with_ordinal,
)

if TYPE_CHECKING:
    import pandas as pd

    from pmae_core.table import Schema


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of its option groups as options."""
    signature = inspect.signature(command, eval_str=True)
    groups = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if _is_group(parameter.annotation)
    }

    @functools.wraps(command)
    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field: values.pop(field) for field in group._fields})
        command(**values)

    options = list(_options(signature))
    vars(run)["__signature__"] = signature.replace(parameters=options)
    # Types instead of their names, which Typer would look up once more.
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and hasattr(annotation, "_fields")


def _options(signature: inspect.Signature) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a command, each group replaced by its fields."""
    for parameter in signature.parameters.values():
        if _is_group(parameter.annotation):
            yield from _options_of_group(parameter.annotation)
        else:
            yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)


@functools.cache
def _options_of_group(group: Any) -> list[inspect.Parameter]:
    types = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field,
            inspect.Parameter.KEYWORD_ONLY,
            default=group._field_defaults.get(field, inspect.Parameter.empty),
            annotation=types[field],
        )
        for field in group._fields
    ]


# ---------------------------------------------------------------- groups that commands share


class InputOptions(NamedTuple):
    """How the cells and columns of a table are read."""

    sentinel: Sentinels = None
    role: Roles = None
    limits: ColumnLimits = None
    whole: WholeColumns = None
    derive: DerivedColumns = None
    levels: ColumnLevels = None

    def read(self, path: Path) -> pd.DataFrame:
        """Read a table, its sentinels as missing values."""
        from pmae_core.table import read_table

        return read_table(path, sentinels=tuple(self.sentinel or ()))

    def roles(self) -> dict[str, str]:
        """Return the roles that the user gave."""
        return with_ordinal(read_roles(self.role), self.rules())

    def rules(self) -> dict[str, dict[str, Any]]:
        """Return the rules of columns that the user gave."""
        return read_rules(self.limits, self.whole, self.derive, self.levels)

    def schema_for(self, frame: pd.DataFrame) -> Schema | dict[str, str] | None:
        """Return what the user said about the columns of a table; None for nothing."""
        from pmae_core.table import Schema

        if not self.rules():
            return self.roles() or None
        return Schema.infer(frame, roles=self.roles(), rules=self.rules())

    def read_with_schema(self, path: Path) -> tuple[pd.DataFrame, Schema]:
        """Read a table and infer the roles that the user did not give."""
        from pmae_core.table import Schema

        frame = self.read(path)
        return frame, Schema.infer(frame, roles=self.roles(), rules=self.rules())


class HoldoutOptions(NamedTuple):
    """Which cells a comparison scores."""

    share: Annotated[
        float | None,
        typer.Option(min=0.0, max=0.5, help="Share of observed cells to hold out; default 0.1."),
    ] = None
    pattern: Annotated[
        PatternName | None,
        typer.Option(help="Simulate missingness with this pattern instead."),
    ] = None
    mechanism: Annotated[
        MechanismName | None,
        typer.Option(help="Simulate missingness with this mechanism instead."),
    ] = None
    coupling: Annotated[
        CouplingName | None,
        typer.Option(help="How simulated missingness is related within a row."),
    ] = None
    truth: Annotated[
        Path | None, typer.Option(help="The complete table, to score the table's missing cells.")
    ] = None

    def amputation(self) -> dict[str, Any] | None:
        """Return the settings of simulated missingness, None if there is none to simulate."""
        settings = given(pattern=self.pattern, mechanism=self.mechanism, coupling=self.coupling)
        if sum(map(bool, (settings, self.truth, self.share))) > 1:
            raise typer.BadParameter(
                "Give only one of these: a pattern or mechanism, the truth, or a share of cells "
                "to hold out.",
                param_hint="--pattern, --truth, --share",
            )
        return settings or None
