"""What all commands share."""

from typing import get_args

import pytest
import typer

from pmae_core.amputation.patterns import Coupling, Mechanism, Pattern
from pmae_core.cli import options


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (options.PatternName, Pattern),
        (options.MechanismName, Mechanism),
        (options.CouplingName, Coupling),
    ],
)
def test_all_ways_to_simulate_missingness_are_offered(offered, known):
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
    assert options.read_seconds(text, "--budget") == seconds


@pytest.mark.parametrize("text", ["", "soon", "0", "-5", "10x", "nan"])
def test_what_is_not_a_time_is_refused(text):
    with pytest.raises(typer.BadParameter):
        options.read_seconds(text, "--budget")


def test_all_methods_have_a_name():
    assert {"naive", "pmae-mix"} <= set(options.read_methods("all"))
    assert options.read_methods("em, knn,") == ["em", "knn"]
    with pytest.raises(typer.BadParameter, match="at least one"):
        options.read_methods(" , ")


def test_params_are_json_or_words():
    params = options.read_method_params(["em.max_iter=3", "em.tol=0.1", "pmae-mix.loss=paper"])
    assert params == {"em": {"max_iter": 3, "tol": 0.1}, "pmae-mix": {"loss": "paper"}}
    for text in ("steps=3", "em.=3", "em.steps"):
        with pytest.raises(typer.BadParameter):
            options.read_method_params([text])


def test_a_column_name_may_hold_an_equals_sign():
    assert options.read_roles(["a=b=categorical"]) == {"a=b": "categorical"}
    with pytest.raises(typer.BadParameter):
        options.read_roles(["a="])


def test_numbers_are_read():
    assert options.read_numbers("0.1, 2", "--a") == [0.1, 2.0]
    with pytest.raises(typer.BadParameter, match="not a list of numbers"):
        options.read_numbers("much", "--a")


@pytest.mark.parametrize(
    ("limits", "derived"),
    [
        (["age=0"], []),
        (["0..1"], []),
        (["age=.."], []),
        (["age=0..old"], []),
        (["age=0,1..2"], []),
        ([], ["bmi"]),
        ([], ["= weight"]),
        ([], ["bmi="]),
    ],
)
def test_rules_of_another_form_are_refused(limits, derived):
    with pytest.raises(typer.BadParameter, match=r"is not of the form COLUMN="):
        options.read_rules(limits, [], derived)


def test_rules_of_one_column_are_put_together():
    rules = options.read_rules(["a=b=-1.5..", "n=..3"], ["n"], ["c = a == 1"])
    assert rules == {
        "a=b": {"lower": -1.5},
        "n": {"upper": 3, "whole": True},
        "c": {"derived": "a == 1"},
    }


@pytest.mark.parametrize("text", ["grade", "grade=", "grade=a", "grade=a<<b", "=a<b"])
def test_levels_of_another_form_are_refused(text):
    with pytest.raises(typer.BadParameter, match=r"is not of the form COLUMN=LOWEST<"):
        options.read_rules(levels=[text])


def test_columns_with_levels_are_ordinal_unless_they_have_a_role():
    rules = options.read_rules(levels=["a=x < y=1", "b=x<y"], whole=["c"])
    assert rules["a"] == {"levels": ["x", "y=1"]}
    assert options.with_ordinal({"b": "categorical"}, rules) == {"a": "ordinal", "b": "categorical"}
