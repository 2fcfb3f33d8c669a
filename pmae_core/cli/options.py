"""What all commands of the shell share: options, reading values, writing to the terminal."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console, RenderableType
from rich.markup import escape

WIDTH_OF_A_PIPE = 160
# All but the tab and the line feed: some of them clear or rewrite what a terminal shows.
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}

# Those of pmae_core.amputation, which is too slow to import for `pmae --help`.
PatternName = Literal["monotone", "quasi-monotone", "general"]
MechanismName = Literal["MCAR", "MAR", "MNAR", "self-masking"]
CouplingName = Literal["nested", "independent"]

InputTable = Annotated[Path, typer.Argument(metavar="TABLE", help="The table to read.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
Sentinels = Annotated[
    list[str] | None,
    typer.Option("--sentinel", metavar="VALUE", help="A value that means missing, as -999 or ?."),
]
Roles = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        metavar="COLUMN=ROLE",
        help="Role of a column: numerical, categorical, boolean, datetime, identifier or ignored.",
    ),
]
MethodParams = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="METHOD.NAME=VALUE", help="A setting of one method."),
]
Methods = Annotated[
    str, typer.Option(metavar="NAME,NAME,...", help="Methods, as pmae-mix,knn,em; or: all.")
]
Seeds = Annotated[int, typer.Option(min=1, help="How often to hide other cells.")]


def with_examples(sentence: str, *examples: str) -> str:
    """Return a help text with examples, one a line."""
    keep_lines = "\b\n"
    return f"{sentence}\n\nExamples:\n\n{keep_lines}" + "\n".join(examples)


def given(**options: Any) -> dict[str, Any]:
    """Return the options that the user gave, and leave the others to the library's defaults."""
    return {name: value for name, value in options.items() if value is not None}


def read_roles(texts: Sequence[str] | None) -> dict[str, str]:
    """Split ``column=role`` texts; the last ``=`` divides because column names may hold one."""
    roles = {}
    for text in texts or ():
        column, equals, role = text.rpartition("=")
        if not (column and equals and role):
            raise typer.BadParameter(
                f"{text!r} is not of the form COLUMN=ROLE.", param_hint="--role"
            )
        roles[column] = role
    return roles


def read_params(texts: Sequence[str] | None) -> dict[str, Any]:
    """Read ``name=value`` texts whose values are JSON (``3``, ``true``) or plain words."""
    params = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise typer.BadParameter(
                f"{text!r} is not of the form NAME=VALUE.", param_hint="--param"
            )
        params[name] = json_or_word(value)
    return params


def read_method_params(texts: Sequence[str] | None) -> dict[str, dict[str, Any]]:
    """Read ``method.name=value`` texts whose values are JSON or plain words."""
    by_method: dict[str, dict[str, Any]] = {}
    for key, value in read_params(texts).items():
        method, dot, name = key.partition(".")
        if not (method and dot and name):
            raise typer.BadParameter(
                f"{key!r} is not of the form METHOD.NAME.", param_hint="--param"
            )
        by_method.setdefault(method, {})[name] = value
    return by_method


def read_methods(text: str) -> list[str]:
    """Return the methods named with commas between, or all of them."""
    if text.strip() == "all":
        from pmae_core.imputers import list_imputers

        return [info.name for info in list_imputers()]
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise typer.BadParameter("Name at least one method.", param_hint="--methods")
    return names


def read_seconds(text: str | None, option: str) -> float | None:
    """Read a time as ``90``, ``90s``, ``10m`` or ``1h30m``."""
    if text is None:
        return None
    parts = re.findall(r"(\d+(?:\.\d+)?)([smh]?)", text.strip().lower())
    if not parts or "".join(map("".join, parts)) != text.strip().lower():
        raise typer.BadParameter(
            f"{text!r} is no time; write it as 90s, 10m or 1h30m.", param_hint=option
        )
    seconds = sum(float(number) * _UNITS[unit or "s"] for number, unit in parts)
    if seconds <= 0:
        raise typer.BadParameter("The time must be more than nothing.", param_hint=option)
    return seconds


def json_or_word(text: str) -> Any:
    """Read a value as JSON (``3``, ``0.1``, ``true``) and, where it is none, as a plain word."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def as_text(text: str) -> str:
    r"""Return a name or a value of a table so that a terminal shows it and obeys nothing in it.

    Examples
    --------
    >>> print(as_text("[red]\x1b[2J"))
    \[red]\x1b[2J
    """
    return escape(_CONTROL_CHARACTERS.sub(lambda found: f"\\x{ord(found[0]):02x}", text))


def say(text: str) -> None:
    """Write to stderr, which keeps stdout for results."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(text)


def show(output: RenderableType) -> None:
    """Print a result on stdout, wide enough for a table where no terminal sets the width."""
    width = None if sys.stdout.isatty() else WIDTH_OF_A_PIPE
    Console(width=width, highlight=False).print(output)


def print_json(data: Any) -> None:
    """Print a result on stdout for other programs."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, default=_plain)
    typer.echo(text)


def _plain(value: Any) -> Any:
    """Return NumPy's scalars as Python's, and what JSON does not know as text."""
    return value.item() if hasattr(value, "item") else str(value)


def count(number: int, noun: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> count(1, "row"), count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
