"""What the register of methods knows."""

import pytest

from pmae_core.errors import ImputationError
from pmae_core.imputers import imputer_info, list_imputers, make_imputer
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.registry import ImputerInfo, registered_as


def info(*requires: str) -> ImputerInfo:
    return ImputerInfo(name="x", title="X", explanation="x.", citation="x", requires=requires)


def test_a_method_is_available_when_all_it_requires_is_installed():
    assert info().is_available
    assert info("numpy").is_available
    assert not info("numpy", "no_such_module_anywhere").is_available


@pytest.mark.parametrize("name", [info.name for info in list_imputers() if info.is_available])
def test_every_imputer_knows_its_name(name):
    imputer = make_imputer(name, random_state=3)

    assert registered_as(imputer) == (name, {})


def test_settings_of_its_own_are_told():
    imputer = make_imputer("pmae-trf", width=16, preset="fast")

    assert registered_as(imputer) == ("pmae-trf", {"preset": "fast", "width": 16})


def test_a_stranger_has_no_name():
    class Stranger(BaseImputer):
        pass

    with pytest.raises(ImputationError, match="Stranger is not a registered method"):
        registered_as(Stranger())


def test_a_method_is_described_by_its_name():
    assert imputer_info("em") in list_imputers()
    with pytest.raises(ImputationError, match=r"There is no method 'guess'\. Choose one of: .*em"):
        imputer_info("guess")


@pytest.mark.parametrize("ask", [make_imputer, imputer_info])
def test_who_names_a_retired_method_is_told_what_to_use(ask):
    sentence = "The method 'auto' was retired: use 'pmae', which blends methods column by column."

    with pytest.raises(ImputationError) as caught:
        ask("auto")

    assert str(caught.value) == sentence
    assert "auto" not in {info.name for info in list_imputers()}
