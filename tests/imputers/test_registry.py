"""What the register of methods knows."""

from pmae_core.imputers.registry import ImputerInfo


def info(*requires: str) -> ImputerInfo:
    return ImputerInfo(name="x", title="X", explanation="x.", citation="x", requires=requires)


def test_a_method_is_available_when_all_it_requires_is_installed():
    assert info().is_available
    assert info("numpy").is_available
    assert not info("numpy", "no_such_module_anywhere").is_available
