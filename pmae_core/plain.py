"""Figures as JSON can hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def without_nan(value: Any) -> Any:
    """Return plain data in which numbers that are not finite are None, however deep they lie.

    Examples
    --------
    >>> without_nan({"loss": [0.5, float("nan")], "steps": 3})
    {'loss': [0.5, None], 'steps': 3}
    """
    if isinstance(value, Mapping):
        return {str(name): without_nan(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    if hasattr(value, "item"):  # a number of numpy
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
