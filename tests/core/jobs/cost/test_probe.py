"""How a method is probed is its own declaration; the probe knows no method by name."""

import ast

import numpy as np
import pandas as pd
import pytest

from pmae_core.imputers import BaseImputer, list_imputers, make_imputer, registry
from pmae_core.imputers.work import WorkProfile
from pmae_core.jobs.cost import estimate_cost
from pmae_core.jobs.cost.extrapolation import NOISE, SPREAD_OF_USUAL_SHARE
from pmae_core.jobs.cost.probe import Probe
from pmae_core.jobs.cost.samples import TableSamples
from pmae_core.table import Schema
from tests.support.paths import ROOT

COST_MODULES = sorted((ROOT / "pmae_core" / "jobs" / "cost").glob("*.py"))
UNITS = 1000


class Toy(BaseImputer):
    """Announces many rounds, none of which does anything; it is stopped at the third."""

    seen: list[int]  # the rounds asked of it, by run

    def __init__(self, *, rounds=7, schema=None, random_state=None):
        self.rounds = rounds
        self.schema = schema
        self.random_state = random_state

    def _fit_encoded(self, encoded, run):
        type(self).seen.append(self.rounds)
        progress = run.progress(UNITS, "round")
        for _ in range(UNITS):
            progress.advance()

    def _impute_encoded(self, encoded):
        return np.nan_to_num(encoded.values)


@pytest.fixture
def register(monkeypatch):
    """Register a new method, as an extension does; nothing else is changed."""
    list_imputers()
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))

    def register(name, **declared):
        methods = {key: lambda self, *_, value=value: value for key, value in declared.items()}
        kind = type("Toy" + name, (Toy,), {"seen": [], **methods, "__init__": Toy.__init__})
        about = {"title": name, "explanation": name, "citation": name}
        registry.register_imputer(name=name, **about)(kind)
        return kind

    return register


def table(n_rows=400):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 3))).add_prefix("x")
    return frame.mask(rng.random(frame.shape) < 0.2)


def stopped_probe(name, frame, seconds=0.0):
    probe = Probe(name, {}, TableSamples(frame, Schema.infer(frame)), lambda: False)
    probe.run_first(seconds)
    return probe


def test_a_new_method_is_probed_with_the_parameters_it_declares(register):
    kind = register("fresh", work_profile=WorkProfile(params={"rounds": 99}))

    estimate = estimate_cost(table(), ["fresh"], budget_seconds=0.2)

    assert estimate.per_method[0].error is None
    assert kind.seen and set(kind.seen) == {99}


def test_a_new_method_is_extrapolated_by_the_share_of_its_units_it_declares(register):
    register("all")
    register("some", work_profile=WorkProfile(usual_share=0.1))
    frame = table(200)

    ranges = {name: stopped_probe(name, frame) for name in ("all", "some")}

    for name, share, spread in (("all", 1.0, 1.0), ("some", 0.1, SPREAD_OF_USUAL_SHARE)):
        found = ranges[name].extrapolation()
        run, range_ = found.largest, found.time_range()
        assert not run.finished
        as_now = found.load.slowdown_of_job
        units = run.setup_seconds + share * UNITS * run.seconds_per_unit
        assert range_.seconds == pytest.approx(units * as_now)
        high = run.setup_seconds + min(1.0, share * spread) * UNITS * run.seconds_per_unit
        assert range_.high == pytest.approx(high * NOISE * as_now)


@pytest.mark.parametrize("growth", [0.0, 1.0, 2.0])
def test_a_new_method_grows_with_the_rows_as_it_declares(register, growth):
    register("grows", work_profile=WorkProfile(growth=growth))
    frame = table(4000)

    found = stopped_probe("grows", frame).extrapolation()

    run = found.largest
    times = len(frame) / run.n_rows
    work = UNITS * run.seconds_per_unit
    expected = run.setup_seconds * times + work * times**growth
    assert found.time_range().seconds == pytest.approx(expected * found.load.slowdown_of_job)


def test_a_new_method_of_other_methods_costs_what_they_cost(register):
    parts = (("naive", {}), ("one", {"rounds": 3}))
    one = register("one")
    both = register("both", work_parts=parts)

    estimate = estimate_cost(table(), ["both"], budget_seconds=0.4)

    (cost,) = estimate.per_method
    assert cost.how.startswith("Estimated in 2 parts. ")
    assert set(one.seen) == {3}
    assert both.seen == [], "its parts are run instead of it"


def test_every_method_declares_a_sensible_profile():
    for info in list_imputers():
        profile = make_imputer(info.name).work_profile(500)
        assert 0 < profile.usual_share <= 1
        assert profile.growth >= 0
        make_imputer(info.name).set_params(**profile.params)


def test_the_masked_imputers_say_when_they_can_stop():
    profile = make_imputer("pmae-mix", patience=4, validate_every=10).work_profile(500)

    assert profile.earliest_end == 40
    assert profile.growth == 0
    assert profile.params["steps"] > 0
    assert make_imputer("pmae-mix", epochs=5).work_profile(500).growth == 1


@pytest.mark.parametrize("path", COST_MODULES, ids=lambda path: path.name)
def test_no_method_is_named(path):
    names = {info.name for info in list_imputers()}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, documented) and ast.get_docstring(node) is not None
    }
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node not in docstrings
    ]

    assert names.isdisjoint(text for text in texts if isinstance(text, str))
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    public = {"pmae_core.imputers", "pmae_core.imputers.work"}
    assert {name for name in modules if name and "imputers" in name} <= public
