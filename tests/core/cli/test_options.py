"""What all commands share."""

from typing import get_args

import pytest
import typer

from pmae_core.amputation.patterns import Coupling, Mechanism, Pattern
from pmae_core.cli import options as cli_common


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (cli_common.PatternName, Pattern),
        (cli_common.MechanismName, Mechanism),
        (cli_common.CouplingName, Coupling),
    ],
)
def test_all_ways_to_make_holes_are_offered(offered, known):
    assert get_args(offered) == get_args(known)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("90", 90),
        ("90s", 90),
        ("1.5m", 90),
        ("10m", 600),
        ("1h30m", 5400),
        ("0.5h", 1800),
        ("2h5s", 7205),
    ],
)
def test_times_are_read(text, seconds):
    assert cli_common.read_seconds(text, "--budget") == seconds


@pytest.mark.parametrize("text", ["", "soon", "0", "-5", "10x", "nan"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(typer.BadParameter):
        cli_common.read_seconds(text, "--budget")


def test_all_methods_have_a_name():
    assert {"naive", "pmae-mix"} <= set(cli_common.read_methods("all"))
    assert cli_common.read_methods("em, knn,") == ["em", "knn"]
    with pytest.raises(typer.BadParameter, match="at least one"):
        cli_common.read_methods(" , ")


def test_params_are_json_or_words():
    params = cli_common.read_method_params(["em.max_iter=3", "em.tol=0.1", "pmae-mix.loss=paper"])
    assert params == {"em": {"max_iter": 3, "tol": 0.1}, "pmae-mix": {"loss": "paper"}}
    for text in ("steps=3", "em.=3", "em.steps"):
        with pytest.raises(typer.BadParameter):
            cli_common.read_method_params([text])


def test_a_column_name_may_hold_an_equals_sign():
    assert cli_common.read_roles(["a=b=categorical"]) == {"a=b": "categorical"}
    with pytest.raises(typer.BadParameter):
        cli_common.read_roles(["a="])
