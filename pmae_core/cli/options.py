"""Options that several commands share, and the reading of their values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}

# Those of pmae_core.amputation, which is too slow to import for `pmae --help`.
PatternName = Literal["monotone", "quasi-monotone", "general"]
MechanismName = Literal["MCAR", "MAR", "MNAR", "self-masking"]
CouplingName = Literal["nested", "independent"]

InputTable = Annotated[Path, typer.Argument(metavar="TABLE", help="The table to read.")]
OutputTable = Annotated[Path, typer.Option("--output", "-o", help="Where to write the table.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")]
KeepFormulas = Annotated[
    bool,
    typer.Option(
        "--keep-formulas",
        help="In CSV files, write texts that begin like a formula without an apostrophe. For "
        "files that programs read.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")]
QuietUntilEnd = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show no progress, only the results.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]
Sentinels = Annotated[
    list[str] | None,
    typer.Option(
        "--sentinel", metavar="VALUE", help="A value that means missing, such as -999 or ?."
    ),
]
Roles = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        metavar="COLUMN=ROLE",
        help="Role of a column: numerical, categorical, boolean, datetime, identifier or ignored.",
    ),
]
ColumnLimits = Annotated[
    list[str] | None,
    typer.Option(
        "--limits",
        metavar="COLUMN=LOW..HIGH",
        help="Limits of imputed values, such as age=0..120 or price=0.. for one side.",
    ),
]
WholeColumns = Annotated[
    list[str] | None,
    typer.Option("--whole", metavar="COLUMN", help="A column to impute with whole numbers."),
]
DerivedColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--derive",
        metavar="COLUMN=EXPRESSION",
        help="A column that is computed from others, such as 'bmi = weight / height**2'.",
    ),
]
ColumnLevels = Annotated[
    list[str] | None,
    typer.Option(
        "--levels",
        metavar="COLUMN=LOWEST<...<HIGHEST",
        help="The levels of an ordinal column, such as 'degree=BSc<MSc<PhD'.",
    ),
]
Params = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="NAME=VALUE", help="Another setting of the method."),
]
MethodParams = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="METHOD.NAME=VALUE", help="A setting of one method."),
]
Methods = Annotated[
    str,
    typer.Option(metavar="NAME,NAME,...", help="Names of methods, such as pmae,knn,em; or: all."),
]
Seeds = Annotated[int, typer.Option(min=1, help="How many times to hold out other cells.")]
Target = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="A column that no method may use.")
]
Budget = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Time for the whole comparison: 90s, 10m or 1h30m."),
]
MethodBudget = Annotated[
    str | None, typer.Option(metavar="TIME", help="Time per method and seed: 90s or 10m.")
]
ScoredImputations = Annotated[
    int,
    typer.Option(
        "--imputations",
        min=0,
        help="Random imputations scored as a distribution, of methods that draw them; 0: none.",
    ),
]
WithIScore = Annotated[
    bool,
    typer.Option(
        "--i-score",
        help="Also compute the energy-I-Score, which needs no held-out cells; it costs a fit for "
        "each incomplete column.",
    ),
]


def with_examples(sentence: str, *examples: str) -> str:
    """Return a help text with examples, one per line."""
    keep_lines = "\b\n"
    return f"{sentence}\n\nExamples:\n\n{keep_lines}" + "\n".join(examples)


def given(**options: Any) -> dict[str, Any]:
    """Return the options that the user gave, and leave the others to the library's defaults."""
    return {name: value for name, value in options.items() if value is not None}


def read_roles(texts: Sequence[str] | None) -> dict[str, str]:
    """Split ``column=role`` texts at the last ``=``, because column names may contain one."""
    roles = {}
    for text in texts or ():
        column, equals, role = text.rpartition("=")
        if not (column and equals and role):
            raise typer.BadParameter(
                f"{text!r} is not of the form COLUMN=ROLE.", param_hint="--role"
            )
        roles[column] = role
    return roles


def read_rules(
    limits: Sequence[str] | None = None,
    whole: Sequence[str] | None = None,
    derived: Sequence[str] | None = None,
    levels: Sequence[str] | None = None,
) -> dict[str, dict[str, Any]]:
    """Return the rules of columns that four options declare.

    Examples
    --------
    >>> read_rules(["age=0..120", "price=0.."], ["age"], ["bmi = weight / height**2"])
    {'age': {'lower': 0.0, 'upper': 120.0, 'whole': True}, 'price': {'lower': 0.0}, \
'bmi': {'derived': 'weight / height**2'}}
    >>> read_rules(levels=["degree=BSc < MSc < PhD"])
    {'degree': {'levels': ['BSc', 'MSc', 'PhD']}}
    """
    rules: dict[str, dict[str, Any]] = {}
    for text in limits or ():
        column, _, ends = text.rpartition("=")
        low, dots, high = ends.partition("..")
        try:
            given_ends = {"lower": low, "upper": high}.items()
            numbers = {which: float(number) for which, number in given_ends if number.strip()}
        except ValueError:
            numbers = {}
        if not (column and dots and numbers):
            raise typer.BadParameter(
                f"{text!r} is not of the form COLUMN=LOW..HIGH.", param_hint="--limits"
            )
        rules.setdefault(column, {}).update(numbers)
    for column in whole or ():
        rules.setdefault(column, {})["whole"] = True
    for text in derived or ():
        column, equals, expression = (part.strip() for part in text.partition("="))
        if not (column and equals and expression):
            raise typer.BadParameter(
                f"{text!r} is not of the form COLUMN=EXPRESSION.", param_hint="--derive"
            )
        rules.setdefault(column, {})["derived"] = expression
    for text in levels or ():
        column, _, names = text.partition("=")
        in_order = [name.strip() for name in names.split("<")]
        if not (column and len(in_order) > 1 and all(in_order)):
            raise typer.BadParameter(
                f"{text!r} is not of the form COLUMN=LOWEST<...<HIGHEST.", param_hint="--levels"
            )
        rules.setdefault(column, {})["levels"] = in_order
    return rules


def with_ordinal(
    roles: Mapping[str, str], rules: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """Return roles in which a column with levels is ordinal, unless it has another role."""
    return {name: "ordinal" for name, rule in rules.items() if "levels" in rule} | dict(roles)


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
    """Return the methods of a text with commas between them, or every method for ``all``."""
    if text.strip() == "all":
        from pmae_core.imputers import list_imputers

        return [info.name for info in list_imputers()]
    names = read_names(text)
    if not names:
        raise typer.BadParameter("Name at least one method.", param_hint="--methods")
    return names


def read_names(text: str) -> list[str]:
    """Split a text at its commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def read_numbers(text: str, option: str) -> list[float]:
    """Read numbers with commas between them."""
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a list of numbers with commas between them.", param_hint=option
        ) from None


def read_seconds(text: str | None, option: str) -> float | None:
    """Read a time such as ``90``, ``90s``, ``10m`` or ``1h30m``."""
    if text is None:
        return None
    parts = re.findall(r"(\d+(?:\.\d+)?)([smh]?)", text.strip().lower())
    if not parts or "".join(map("".join, parts)) != text.strip().lower():
        raise typer.BadParameter(
            f"{text!r} is not a time. Write it as 90s, 10m or 1h30m.", param_hint=option
        )
    seconds = sum(float(number) * _UNITS[unit or "s"] for number, unit in parts)
    if seconds <= 0:
        raise typer.BadParameter("The time must be positive.", param_hint=option)
    return seconds


def json_or_word(text: str) -> Any:
    """Read a value as JSON (``3``, ``0.1``, ``true``) or, if it is not JSON, as a plain word."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
