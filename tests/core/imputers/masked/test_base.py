"""The parameters that masked autoencoders share."""

import inspect

import pytest
from sklearn.base import clone

from pmae_core.imputers import MaskedAutoencoderImputer, PMAENetworkImputer, ReMaskerImputer

SHARED = set(inspect.signature(MaskedAutoencoderImputer).parameters)
EVERY_CLASS = pytest.mark.parametrize("imputer", [PMAENetworkImputer, ReMaskerImputer])


@EVERY_CLASS
def test_the_signature_lists_own_and_shared_parameters(imputer):
    parameters = inspect.signature(imputer).parameters
    assert set(parameters) > SHARED
    assert {p.kind for p in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert set(imputer().get_params()) == set(parameters)
    for name, value in imputer().get_params().items():
        assert value == parameters[name].default


def test_each_class_has_its_own_defaults():
    assert (PMAENetworkImputer().preset, PMAENetworkImputer().loss) == ("balanced", None)
    assert (ReMaskerImputer().preset, ReMaskerImputer().loss) == ("paper", "remasker")
    assert set(inspect.signature(ReMaskerImputer).parameters) - SHARED == {"keep"}


@EVERY_CLASS
def test_copies_and_changes_reach_all_parameters(imputer):
    changed = imputer(width=8, random_state=3).set_params(steps=5)
    again = clone(changed)
    assert (again.width, again.steps, again.random_state) == (8, 5, 3)
    assert repr(again) == f"{imputer.__name__}(random_state=3, steps=5, width=8)"


@EVERY_CLASS
def test_an_unknown_parameter_is_refused(imputer):
    with pytest.raises(TypeError, match="nonsense"):
        imputer(nonsense=1)
    with pytest.raises(ValueError, match="nonsense"):
        imputer().set_params(nonsense=1)
