"""Checks of settings."""

from dataclasses import dataclass
from typing import Literal

import pytest

from pmae_core.checks import check_choices


@dataclass
class Settings:
    size: int = 3
    colour: Literal["red", "blue"] = "red"


def test_only_the_choices_pass():
    check_choices(Settings(size=-1, colour="blue"))
    with pytest.raises(ValueError, match="colour must be one of 'red', 'blue', not 'green'"):
        check_choices(Settings(colour="green"))
