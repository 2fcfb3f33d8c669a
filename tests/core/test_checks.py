"""Checks of settings."""

from dataclasses import dataclass
from typing import Literal

import pytest

from pmae_core.checks import check_at_least, check_choices


@dataclass
class Settings:
    size: int | None = 3
    color: Literal["red", "blue"] = "red"


def test_only_the_choices_pass():
    check_choices(Settings(size=-1, color="blue"))
    with pytest.raises(ValueError, match="color must be one of 'red', 'blue', not 'green'"):
        check_choices(Settings(color="green"))


def test_only_numbers_that_are_large_enough_pass():
    check_at_least(Settings(size=2), size=2)
    check_at_least(Settings(size=None), size=2)
    with pytest.raises(ValueError, match="size must be at least 2, not 1"):
        check_at_least(Settings(size=1), size=2)
