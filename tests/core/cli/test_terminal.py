"""What reaches the terminal."""

import json

import numpy as np
import pytest

from pmae_core.cli import terminal
from pmae_core.events import TrainingProgress, TrainingStarted

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


def test_progress_of_training_fits_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    started = TrainingStarted(
        first_step=0, total_steps=2000, device="cpu", precision="f", n_rows=9, n_parameters=9
    )
    event = TrainingProgress(
        step=1999,
        total_steps=2000,
        prediction_loss=1.25,
        reconstruction_loss=None,
        column_losses=[],
        validation_score=0.59649,
        learning_rate=0.1,
        rows_per_second=1.0,
        eta_seconds=0.2,
    )

    with terminal.fit_progress(quiet=False) as show:
        show(started)
        show(event)

    (line,) = filter(None, capsys.readouterr().err.splitlines())
    assert line.startswith("Fitting")
    assert "1999/2000 steps less than 1 s left held-out error 0.596" in line
    assert len(line.rstrip()) <= 80
