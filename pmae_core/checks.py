"""Checks of settings that say in a sentence what is allowed."""

from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints


def check_choices(config: Any) -> None:
    """Refuse values of a dataclass's ``Literal`` fields that are none of the choices.

    Parameters
    ----------
    config : dataclass instance
        The settings.

    Raises
    ------
    ValueError
        Naming the field, its value and the choices.
    """
    hints = get_type_hints(type(config))
    for field in fields(config):
        hint, value = hints[field.name], getattr(config, field.name)
        if get_origin(hint) is Literal and value not in get_args(hint):
            choices = ", ".join(repr(choice) for choice in get_args(hint))
            raise ValueError(f"{field.name} must be one of {choices}, not {value!r}.")


def check_at_least(config: Any, **least: float) -> None:
    """Refuse numbers of a dataclass that are smaller than they can be; None passes.

    Parameters
    ----------
    config : dataclass instance
        The settings.
    **least
        The least value of each field.

    Raises
    ------
    ValueError
        Naming the field, its least value and its value.
    """
    for name, bound in least.items():
        value = getattr(config, name)
        if value is not None and value < bound:
            raise ValueError(f"{name} must be at least {bound}, not {value}.")
