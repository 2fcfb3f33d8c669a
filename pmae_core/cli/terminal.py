"""Printing: results on stdout, sentences on stderr, and no control sequences on either."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import typer
from rich import box
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table

EXIT_USER_ERROR = 1
EXIT_CANCELLED = 130
WIDTH_OF_A_PIPE = 160
# All but the tab and the line feed: some of them clear or rewrite what a terminal shows.
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


# ---------------------------------------------------------------- text


def without_control(text: str) -> str:
    r"""Return text with its control characters spelled out, so that a terminal obeys none.

    Examples
    --------
    >>> print(without_control("\x1b[2Jgone"))
    \x1b[2Jgone
    """
    return _CONTROL_CHARACTERS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def as_text(text: str) -> str:
    r"""Return text for a table or a status line: no markup in it, and no control characters.

    Examples
    --------
    >>> print(as_text("[red]\x1b[2J"))
    \[red]\x1b[2J
    """
    return escape(without_control(text))


def figure(value: float, decimals: int = 3) -> str:
    """Return a score for a column of scores; nothing for one that does not exist.

    Examples
    --------
    >>> figure(0.51239), figure(float("nan"))
    ('0.512', '')
    """
    return "" if math.isnan(value) else f"{value:.{decimals}f}"


# ---------------------------------------------------------------- sentences on stderr


def say(text: str) -> None:
    """Print a sentence on stderr, which keeps stdout for results."""
    _print_sentence(as_text(text))


def note(text: str) -> None:
    """Print what the user should know on stderr."""
    _print_sentence(f"[yellow]Note:[/] {as_text(text)}")


def say_error(text: str) -> None:
    """Print why a command failed on stderr."""
    _print_sentence(f"[red]Error:[/] {as_text(text)}")


def _print_sentence(markup: str) -> None:
    Console(stderr=True, soft_wrap=True, highlight=False).print(markup)


# ---------------------------------------------------------------- results on stdout


def print_text(text: str, *, end: str = "\n") -> None:
    """Print text on stdout."""
    typer.echo(without_control(text) + end, nl=False)


def print_json(data: Any) -> None:
    """Print a result on stdout for other programs; a number that does not exist is null."""
    from pmae_core.storage.json_values import without_nan

    text = json.dumps(without_nan(data), indent=2, ensure_ascii=False, allow_nan=False, default=str)
    print_json_text(text)


def print_json_text(text: str) -> None:
    """Print JSON that is text already on stdout."""
    typer.echo(_CONTROL_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_table(
    headers: Sequence[str], rows: Iterable[Sequence[str]], *, figures: Collection[int] = ()
) -> None:
    """Print rows of text on stdout; `figures` are the positions of right-aligned columns."""
    show(text_table(headers, rows, figures=figures))


def text_table(
    headers: Sequence[str], rows: Iterable[Sequence[str]], *, figures: Collection[int] = ()
) -> Table:
    """Return rows of text as a table; `figures` are the positions of right-aligned columns."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for position, header in enumerate(headers):
        if position in figures:
            table.add_column(as_text(header), justify="right")
        else:
            table.add_column(as_text(header), overflow="fold")
    for row in rows:
        table.add_row(*map(as_text, row))
    return table


def show(output: RenderableType) -> None:
    """Print on stdout, wide enough for a table where no terminal sets the width."""
    width = None if sys.stdout.isatty() else WIDTH_OF_A_PIPE
    Console(width=width, highlight=False).print(output)
