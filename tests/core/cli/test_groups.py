"""Groups of options."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from pmae_core.cli.groups import with_option_groups


@dataclass(frozen=True)
class Size:
    height: Annotated[int, typer.Option("--height", "-h", min=1)]
    width: Annotated[int, typer.Option(help="How wide.")] = 2


def call(*args: str) -> tuple[int, list[object]]:
    seen: list[object] = []
    app = typer.Typer()

    @app.command()
    @with_option_groups
    def draw(*, name: Annotated[str, typer.Argument()], size: Size, bold: bool = False) -> None:
        """Draw a box."""
        seen.extend([name, size, bold])

    return CliRunner().invoke(app, args).exit_code, seen


def test_a_command_gets_its_group_as_one_value():
    assert call("box", "-h", "3", "--bold") == (0, ["box", Size(height=3, width=2), True])
    assert call("box", "--width", "5", "--height", "1") == (0, ["box", Size(1, 5), False])


def test_options_of_a_group_are_checked_like_others():
    assert call("box") == (2, [])
    assert call("box", "-h", "0") == (2, [])
