"""What the register of methods knows."""

import pytest

from pmae_core.errors import ImputationError
from pmae_core.imputers import list_imputers, make_imputer
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
