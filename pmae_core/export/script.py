"""A Python script and a shell command that impute the table again."""

from __future__ import annotations

import json
import pprint
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from pmae_core.errors import ImputationError
from pmae_core.export.recipe import Recipe
from pmae_core.threads import THREAD_VARIABLES

_WIDTH = 96


def reproduce_script(recipe: Recipe) -> str:
    """Return a short Python script that reads the table, imputes it and writes it.

    With the software versions it names, the result is the same to the last bit.

    Parameters
    ----------
    recipe : Recipe
        How the table was imputed.

    Examples
    --------
    >>> script = reproduce_script(Recipe(table="survey.csv", method="em"))
    >>> print(script[script.index("frame ="):])
    frame = read_table('survey.csv')
    <BLANKLINE>
    # Settings not listed have their defaults.
    imputer = make_imputer('em', random_state=0)
    imputer.fit(frame)
    imputed = imputer.transform(frame)
    <BLANKLINE>
    write_table(imputed, 'imputed.csv')
    <BLANKLINE>
    """
    parts = (_title, _imports, _reading, _imputing, _left_alone, _writing)
    return "\n\n".join(filter(None, (part(recipe) for part in parts))) + "\n"


def command_line(recipe: Recipe) -> str:
    """Return the command ``pmae impute`` that imputes the table again.

    Parameters
    ----------
    recipe : Recipe
        How the table was imputed.

    Raises
    ------
    ImputationError
        If the command cannot express the recipe; the script always can.

    Examples
    --------
    >>> command_line(Recipe(table="my table.csv", method="em", sentinels=[-999]))
    "pmae impute 'my table.csv' -o imputed.csv --sentinel -999 --method em --seed 0"
    """
    _check_command(recipe)
    words = ["pmae", "impute", _path(recipe.table), "-o", _path(recipe.output)]
    words += _repeated("--sentinel", (_spelled(value) for value in recipe.sentinels))
    if recipe.model is not None:
        words += ["--model", _path(recipe.model)]
    else:
        words += _repeated("--role", (f"{name}={role}" for name, role in recipe.roles.items()))
        words += _rule_words(recipe.rules)
        words += ["--method", recipe.method]
        settings = (f"{name}={_json_or_word(value)}" for name, value in recipe.params.items())
        words += _repeated("--param", settings)
    words += ["--seed", str(recipe.seed)]
    if recipe.n_imputations:
        words += ["--imputations", str(recipe.n_imputations)]
    if recipe.was_imputed_output is not None:
        words += ["--mask-out", _path(recipe.was_imputed_output)]
    threads = f"OMP_NUM_THREADS={recipe.threads} " if recipe.threads else ""
    return threads + shlex.join(words)


# ---------------------------------------------------------------- parts of the script


def _title(recipe: Recipe) -> str:
    lines = [f"Impute the missing values of {recipe.table!r} again."]
    if recipe.versions:
        versions = ", ".join(f"{name} {version}" for name, version in recipe.versions.items())
        lines += [f"Made with {versions}.", "Other versions may give slightly different numbers."]
    return _comment(lines)


def _imports(recipe: Recipe) -> str:
    imputers = "load_imputer" if recipe.model is not None else "make_imputer"
    read = "load_dataset" if recipe.source == "sample" else "read_table"
    lines = []
    if recipe.threads:
        lines += [
            "import os",
            "",
            _comment(["The last digits of results depend on the number of threads."]),
            f"threads = {str(recipe.threads)!r}",
            *(f"os.environ[{name!r}] = threads" for name in THREAD_VARIABLES),
            "",
        ]
    if recipe.left_alone:
        lines.append("from pmae_core.explain import StructuralMissingness, leave_alone")
    lines.append(f"from pmae_core.imputers import {imputers}")
    schema = "Schema, " if recipe.rules and recipe.model is None else ""
    lines.append(f"from pmae_core.table import {schema}{read}, write_table")
    return "\n".join(lines)


def _reading(recipe: Recipe) -> str:
    if recipe.source == "sample":
        return f"frame = load_dataset({recipe.table!r}).frame"
    options = dict(recipe.read_options)
    comment = ""
    if recipe.sentinels:
        options["sentinels"] = recipe.sentinels
        comment = _comment(["Sentinels are values that mean missing."]) + "\n"
    return f"{comment}frame = {_call('read_table', recipe.table, options)}"


def _imputing(recipe: Recipe) -> str:
    if recipe.model is not None:
        return f"imputer = load_imputer({recipe.model!r})\nimputed = imputer.transform(frame)"
    given = {"roles": recipe.roles, "rules": recipe.rules}
    schema: dict[str, Any] = {"schema": recipe.roles} if recipe.roles else {}
    lines = []
    if recipe.rules:
        chosen = {name: value for name, value in given.items() if value}
        lines = [f"schema = {_call('Schema.infer', _Code('frame'), chosen)}", ""]
        schema = {"schema": _Code("schema")}
    settings = {**schema, **recipe.params, "random_state": recipe.seed}
    lines += [
        _comment(["Settings not listed have their defaults."]),
        f"imputer = {_call('make_imputer', recipe.method, settings)}",
        "imputer.fit(frame)",
        "imputed = imputer.transform(frame)",
    ]
    return "\n".join(lines)


def _left_alone(recipe: Recipe) -> str:
    if not recipe.left_alone:
        return ""
    saved = _literal([finding.to_dict() for finding in recipe.left_alone])
    return "\n".join(
        [
            _comment(["These cells are left missing on purpose:"]),
            _comment(finding.sentence for finding in recipe.left_alone),
            f"saved = {saved}",
            "findings = [StructuralMissingness.from_dict(one) for one in saved]",
            "left_missing = leave_alone(frame, findings)",
            "imputed = imputed.mask(left_missing)",
        ]
    )


def _writing(recipe: Recipe) -> str:
    lines = [f"write_table(imputed, {recipe.output!r})"]
    if recipe.was_imputed_output is not None:
        lines.append(f"write_table(frame.isna() & imputed.notna(), {recipe.was_imputed_output!r})")
    if recipe.n_imputations:
        table = "table.mask(left_missing)" if recipe.left_alone else "table"
        sample = f"imputer.sample(frame, n={recipe.n_imputations}, random_state={recipe.seed})"
        lines += [
            "",
            _comment(["Analyze each of these imputations and pool the results by Rubin's rules."]),
            f"names = {_literal(recipe.imputation_outputs)}",
            f"imputations = {sample}",
            "for name, table in zip(names, imputations, strict=True):",
            f"    write_table({table}, name)",
        ]
    return "\n".join(lines)


class _Code(str):
    """Text that stands in a script as it is, without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _call(function: str, first: str, options: Mapping[str, Any]) -> str:
    """Return a call as text, on one line if it fits."""
    arguments = [repr(first), *(f"{name}={value!r}" for name, value in options.items())]
    line = f"{function}({', '.join(arguments)})"
    if len(line) <= _WIDTH - len("imputer = "):
        return line
    split = [repr(first), *(f"{name}={_literal(value)}" for name, value in options.items())]
    return "\n".join([f"{function}(", *(f"    {argument}," for argument in split), ")"])


def _literal(value: Any) -> str:
    return pprint.pformat(value, width=_WIDTH, sort_dicts=False)


def _comment(sentences: Iterable[str]) -> str:
    """Return lines of comment; names with line breaks cannot leave their line."""
    lines = ("".join(c if c.isprintable() else repr(c)[1:-1] for c in text) for text in sentences)
    return "\n".join(f"# {line}" for line in lines)


# ---------------------------------------------------------------- words of the command


def _check_command(recipe: Recipe) -> None:
    objections = {
        "sample tables, which are not files": recipe.source == "sample",
        "sentinels of single columns": isinstance(recipe.sentinels, Mapping),
        "these sentinels": not all(
            isinstance(value, str | int | float) and not isinstance(value, bool)
            for value in recipe.sentinels
        ),
        f"the reading option {next(iter(recipe.read_options), '')}": bool(recipe.read_options),
        "cells that are left missing": bool(recipe.left_alone),
        "column names that are not text": not all(
            isinstance(name, str) and name for name in (*recipe.roles, *recipe.rules)
        ),
        "numbers that need not be whole": any(
            rules.get("whole") is False for rules in recipe.rules.values()
        ),
        "derived or ordinal columns with = in their names": any(
            {"derived", "levels"} & set(rules) and "=" in str(name)
            for name, rules in recipe.rules.items()
        ),
        "these levels": not all(
            _is_command_level(level)
            for rules in recipe.rules.values()
            for level in rules.get("levels", ())
        ),
    }
    for what, is_so in objections.items():
        if is_so:
            raise ImputationError(f"pmae impute cannot express {what}. Use the script instead.")


def _rule_words(rules: Mapping[Any, Mapping[str, Any]]) -> list[str]:
    limits = (
        f"{name}={_limit(one, 'lower')}..{_limit(one, 'upper')}"
        for name, one in rules.items()
        if {"lower", "upper"} & set(one)
    )
    derived = (f"{name} = {one['derived']}" for name, one in rules.items() if "derived" in one)
    levels = (
        f"{name}={'<'.join(map(str, one['levels']))}"
        for name, one in rules.items()
        if "levels" in one
    )
    return [
        *_repeated("--limits", limits),
        *_repeated("--whole", (name for name, one in rules.items() if "whole" in one)),
        *_repeated("--derive", derived),
        *_repeated("--levels", levels),
    ]


def _is_command_level(level: Any) -> bool:
    """Say whether the command reads a level as it is."""
    if isinstance(level, str):
        return bool(level) and level == level.strip() and "<" not in level
    return isinstance(level, int | float) and not isinstance(level, bool)


def _limit(rules: Mapping[str, Any], which: str) -> str:
    return repr(rules[which]) if which in rules else ""


def _repeated(option: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


def _path(path: str) -> str:
    """Return a path that is not mistaken for an option."""
    return f"./{path}" if path.startswith("-") else path


def _spelled(sentinel: Any) -> str:
    return f"{sentinel:g}" if isinstance(sentinel, float) else str(sentinel)


def _json_or_word(value: Any) -> str:
    """Return a value as the command reads it: a plain word, or JSON."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except json.JSONDecodeError:
            return value
    return json.dumps(value, allow_nan=False)
