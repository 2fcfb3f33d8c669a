"""Presets and what a user puts over them."""

import pytest

from pmae_core.imputers.masked.presets import PRESETS, paper_batch_size, resolve_settings


@pytest.mark.parametrize(
    ("n_rows", "batch_size"),
    [
        (999, 128),
        (1000, 256),
        (2500, 512),
        (5000, 1024),
        (9999, 1024),
        (10000, 2048),
        (20000, 4096),
        (10**6, 4096),
    ],
)
def test_the_papers_batch_grows_with_the_table(n_rows, batch_size):
    assert paper_batch_size(n_rows) == batch_size


@pytest.mark.parametrize(
    ("preset", "small", "large"), [("balanced", 1500, 2500), ("fast", 400, 1600)]
)
def test_larger_tables_get_more_steps_up_to_a_bound(preset, small, large):
    steps = [
        resolve_settings(preset, {}, n_rows)["steps"]
        for n_rows in (1, 5_000, 12_000, 30_000, 40_000, 10**6)
    ]
    assert all(isinstance(n_steps, int) for n_steps in steps)
    assert steps[:2] == [small] * 2
    assert steps[-2:] == [large] * 2
    assert small < steps[2] < steps[3] < large
    assert resolve_settings(preset, {"steps": 7}, 10**6)["steps"] == 7


@pytest.mark.parametrize("preset", ["balanced", "fast"])
def test_larger_tables_are_learned_in_larger_steps(preset):
    steps = [
        (settings["batch_size"], settings["learning_rate"])
        for settings in (resolve_settings(preset, {}, n_rows) for n_rows in (0, 4999, 5000, 10**6))
    ]
    assert steps == [(64, 2e-3)] * 2 + [(128, 4e-3)] * 2
    own = resolve_settings(preset, {"batch_size": 32, "learning_rate": 1e-3}, 10**6)
    assert (own["batch_size"], own["learning_rate"]) == (32, 1e-3)


def test_paper_is_the_paper():
    settings = resolve_settings("paper", {}, n_rows=442)
    assert settings["epochs"] == 600
    assert settings["steps"] is None
    assert settings["warmup_epochs"] == 40
    assert settings["batch_size"] == 128
    assert (settings["categorical"], settings["loss"]) == ("scalar", "paper")
    assert settings["patience"] is None


@pytest.mark.parametrize("preset", PRESETS)
def test_every_setting_can_be_overridden(preset):
    overrides = {"width": 8, "copy_share": 0.25, "batch_size": 7, "loss": "grouped"}
    settings = resolve_settings(preset, overrides, n_rows=100)
    assert {name: settings[name] for name in overrides} == overrides


def test_a_length_in_other_units_replaces_the_presets():
    assert resolve_settings("paper", {"steps": 5}, 100)["epochs"] is None
    assert resolve_settings("balanced", {"epochs": 5}, 100)["steps"] is None
    with pytest.raises(ValueError, match="not both"):
        resolve_settings("balanced", {"epochs": 5, "steps": 5}, 100)


def test_zero_switches_averaging_and_early_stopping_off():
    settings = resolve_settings("balanced", {"average_decay": 0, "patience": 0}, 100)
    assert settings["average_decay"] is None
    assert settings["patience"] is None


def test_unknown_presets_are_refused():
    with pytest.raises(ValueError, match="paper, paper-steps, balanced, fast"):
        resolve_settings("best", {}, 100)


def test_only_a_softmax_network_starts_from_a_gaussian():
    assert resolve_settings("balanced", {}, 100)["start"] == "gaussian"
    assert resolve_settings("balanced", {"categorical": "scalar"}, 100)["start"] == "none"
    assert resolve_settings("paper", {}, 100)["start"] == "none"
