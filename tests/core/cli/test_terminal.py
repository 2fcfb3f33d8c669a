"""What reaches the terminal."""

import json

import numpy as np
import pytest

from pmae_core.cli import terminal

CLEAR_SCREEN, C1_CLEAR_SCREEN = "\x1b[2J", "\x9b2J"


@pytest.mark.parametrize(
    "write",
    [
        terminal.say,
        terminal.note,
        terminal.say_error,
        terminal.print_text,
        lambda text: terminal.print_table([text], [[text]]),
    ],
)
def test_control_sequences_are_spelled_out(write, capsys):
    write(f"[red]{CLEAR_SCREEN}{C1_CLEAR_SCREEN}[/red]\ta line")

    output = "".join(capsys.readouterr())
    assert "\x1b" not in output and "\x9b" not in output
    assert r"[red]\x1b[2J\x9b2J[/red]" in output


def test_json_stays_the_same_data_without_control_sequences(capsys):
    data = {f"a{C1_CLEAR_SCREEN}": [f"{CLEAR_SCREEN}ü", 1.5]}

    terminal.print_json(data)

    output = capsys.readouterr().out
    assert "\x1b" not in output and "\x9b" not in output and "ü" in output
    assert json.loads(output) == data


def test_json_of_numbers_that_do_not_exist(capsys):
    terminal.print_json({"score": float("nan"), "n": np.int64(3)})
    assert json.loads(capsys.readouterr().out) == {"score": None, "n": 3}
