import inspect

import numpy as np
import pytest

from dashboard.masking.lab import Masking
from dashboard.train.settings import (
    ARCHITECTURES,
    GROUPS,
    LENGTHS,
    LOSSES,
    METHODS,
    PRECISION,
    PRESETS,
    changed_settings,
    chosen_params,
    differences,
    job_params,
    lab_masking,
    length_unit,
    preset_values,
    presets_of,
    problems,
    training_masking,
)
from pmae_core.imputers import PMAENetworkImputer, make_imputer
from pmae_core.imputers.masked.presets import PRESETS as CORE_PRESETS
from pmae_core.imputers.masked.presets import resolve_settings
from pmae_core.jobs import JobSpec
from pmae_core.masking import MaskSampler, list_masking_functions, masking_probability

ALL = [setting for group in (*GROUPS.values(), *LENGTHS.values()) for setting in group]


def test_every_setting_of_the_imputer_can_be_set():
    elsewhere = {"architecture", "masking", "a", "b", "loss", "preset", "device", "schema"}
    elsewhere |= {"compiled"}  # for the library alone: it wants a compiler on the machine
    known = set(inspect.signature(PMAENetworkImputer.__init__).parameters) - {
        "self",
        "random_state",
    }

    assert {setting.name for setting in [*ALL, PRECISION]} == known - elsewhere
    assert set(PRESETS) <= set(CORE_PRESETS)


def test_every_setting_has_a_sentence():
    sentences = [setting.sentence for setting in ALL] + [*LOSSES.values(), *PRESETS.values()]

    assert all(sentence.endswith(".") for sentence in [*sentences, *ARCHITECTURES.values()])


@pytest.mark.parametrize("preset", PRESETS)
def test_every_setting_of_a_preset_can_be_shown(preset):
    values = preset_values(preset, 500)
    shown = [*LENGTHS[length_unit(values)], *(one for group in GROUPS.values() for one in group)]

    assert [setting.name for setting in shown if values[setting.name] is None] == []


@pytest.mark.parametrize("preset", PRESETS)
def test_the_values_of_a_preset_fit_their_widgets(preset):
    values = preset_values(preset, 500)
    for setting in ALL:
        value = values.get(setting.name)
        if value is None:
            continue
        if setting.options is not None:
            assert value in setting.options
        else:
            assert setting.low <= value <= setting.high


@pytest.mark.parametrize("preset", PRESETS)
def test_an_unchanged_preset_changes_nothing(preset):
    values = preset_values(preset, 500)

    assert changed_settings(values, preset, 500, unit=length_unit(values)) == {}


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("unit", LENGTHS)
def test_a_length_in_either_unit_is_the_whole_length(preset, unit):
    chosen = {unit: 7, f"warmup_{unit}": 3}

    given = changed_settings(chosen, preset, 500, unit=unit)
    settings = resolve_settings(preset, given, 500)

    other = "steps" if unit == "epochs" else "epochs"
    assert (settings[unit], settings[other]) == (7, None)
    assert (settings[f"warmup_{unit}"], settings[f"warmup_{other}"]) == (3, 0)


def test_none_is_said_by_zero():
    given = changed_settings({"patience": 0, "average_decay": 0.0}, "balanced", 9, unit="steps")

    settings = resolve_settings("balanced", given, 9)
    assert settings["patience"] is settings["average_decay"] is None


def test_what_cannot_be_built_is_said():
    good = preset_values("balanced", 100)

    assert problems(good, "transformer") == []
    assert "do not divide" in problems({**good, "heads": 5}, "transformer")[0]
    assert problems({**good, "heads": 5}, "mixer") == []
    assert "even" in problems({**good, "width": 31}, "mixer")[0]
    assert "joint normal" in problems({**good, "categorical": "scalar"}, "mixer")[0]


@pytest.mark.parametrize("function", [function.name for function in list_masking_functions()])
def test_every_masking_of_the_lab_can_be_trained_with(function):
    params = dict(training_masking(Masking(function)).params)

    make_imputer(METHODS["mixer"], **params)
    observed = np.array([[True, False], [True, True], [False, True]])
    masked = MaskSampler(function=params.pop("masking"), params=params).fit(observed)
    assert not (masked.sample(observed, np.random.default_rng(0)) & ~observed).any()


def test_uniform_masking_at_another_rate_is_the_same_masking():
    params = training_masking(Masking("constant", {"rate": 0.3})).params
    shares = [0.1, 0.5, 0.9, 1.0]

    assert list(masking_probability(shares, "logit", a=params["a"], b=params["b"])) == list(
        masking_probability(shares, "constant", rate=0.3)
    )


def test_what_training_cannot_take_from_the_lab_is_said():
    (steep,) = [f for f in list_masking_functions() if f.name == "sigmoid"]
    name = next(iter(steep.parameters))

    assert training_masking(Masking("sigmoid")).note == ""
    assert name in training_masking(Masking("sigmoid", {name: 3.0})).note


@pytest.mark.parametrize(
    "settings", [{}, {"focus": "x"}, {"function": "nonsense"}, {"function": "logit", "a": "x"}]
)
def test_a_lab_where_nothing_was_set_gives_no_masking(settings):
    assert lab_masking(settings) is None


def test_a_slider_alone_sets_the_lab():
    assert lab_masking({"a": 0.2}) == Masking("logit", {"a": 0.2, "b": 0.5})


@pytest.mark.parametrize("architecture", METHODS)
def test_every_model_and_preset_can_be_trained(architecture):
    masking = training_masking(Masking("logit")).params
    changes = {"width": 64, "validation_share": 0.5, "precision": "float32"}
    for preset in presets_of(architecture):
        params = job_params(architecture, preset, masking, changes, {"device": "cpu"})

        imputer = make_imputer(METHODS[architecture], **params)

        imputer._check_parameters()
        assert imputer.preset == preset


def test_a_quick_blend_has_a_network():
    params = job_params("blend", "fast", {}, {}, {})

    assert "network" in make_imputer("pmae", **params).members_in_force()


def test_settings_of_a_blend_and_its_network_are_one_list():
    params = {"method": "pmae", "params": {"preset": "fast", "network_params": {"a": 0.1}}}
    spec = JobSpec.make("train", params=params, table="0" * 64)

    assert chosen_params(spec) == {"preset": "fast", "a": 0.1}


def test_in_what_two_trainings_differ():
    first, second = (
        JobSpec.make(
            "train", params={"method": method, "params": params}, table="0" * 64, seed=seed
        )
        for method, params, seed in (("pmae-mix", {"a": 0.1}, 0), ("pmae-mix", {"width": 8}, 1))
    )

    assert differences(first, first) == []
    assert differences(first, second) == [("seed", 0, 1), ("a", 0.1, None), ("width", None, 8)]
