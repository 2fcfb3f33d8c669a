"""What all arrays of a model file share: small types when saved, checks when read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import DTypeLike

from pmae_core.errors import ImputationError

# Signed beyond a byte, since not every tool that reads safetensors knows uint16 and uint32.
INTEGERS = (np.uint8, np.int16, np.int32)


def damaged(problem: str) -> ImputationError:
    """Return the error for a model file whose arrays cannot be those of a fitted imputer."""
    return ImputationError(
        f"The model file is damaged: {problem}.", advice="Train and save the model again."
    )


def saved_array(
    arrays: Mapping[str, np.ndarray], name: str, dtypes: tuple[DTypeLike, ...], n_dims: int = 1
) -> np.ndarray:
    """Return an array of a model file, of one of several types.

    Raises
    ------
    ImputationError
        If there is no such array, or if it has another type or number of dimensions.
    """
    if name not in arrays:
        raise damaged(f"it has no array {name!r}")
    array = arrays[name]
    # This includes the byte order, which C code would not check.
    if not isinstance(array, np.ndarray) or array.dtype not in [np.dtype(t) for t in dtypes]:
        raise damaged(f"array {name!r} has a wrong type")
    if array.ndim != n_dims:
        raise damaged(f"array {name!r} has a wrong number of dimensions")
    return array


def smallest_integers(numbers: np.ndarray) -> np.ndarray:
    """Return whole numbers from 0 in the smallest of a few types that holds them all.

    Examples
    --------
    >>> smallest_integers(np.array([3, 300])).dtype
    dtype('int16')
    """
    largest = numbers.max(initial=0)
    for dtype in INTEGERS:
        if largest <= np.iinfo(dtype).max:
            return numbers.astype(dtype)
    raise ImputationError(f"The model cannot be saved: {largest} is too large for its arrays.")


def arrays_below(arrays: Mapping[str, np.ndarray], start: str) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin with ``start``, by the rest of their names."""
    return {name[len(start) :]: a for name, a in arrays.items() if name.startswith(start)}
