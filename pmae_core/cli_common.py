"""What all commands of the shell share: reading values and writing to the terminal."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console, RenderableType

WIDTH_OF_A_PIPE = 160


def json_or_word(text: str) -> Any:
    """Read a value as JSON (``3``, ``0.1``, ``true``) and, where it is none, as a plain word."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def say(text: str) -> None:
    """Write to stderr, which keeps stdout for results."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(text)


def show(output: RenderableType) -> None:
    """Print a result on stdout, wide enough for a table where no terminal sets the width."""
    width = None if sys.stdout.isatty() else WIDTH_OF_A_PIPE
    Console(width=width, highlight=False).print(output)
