"""Named arrays and a JSON state in one safetensors file; nothing is ever unpickled."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from pmae_core.errors import DamagedFileError
from pmae_core.storage.files import replacing, sealed, unsealed
from pmae_core.storage.json_values import to_json_value

FORMAT_VERSION = 2
# The state holds the checksum of the arrays under this name, and its own.
_ARRAYS = "arrays_sha256"

ArrayGroups: TypeAlias = dict[str, dict[str, np.ndarray]]


def write_arrays(
    path: Path, groups: ArrayGroups, state: dict[str, Any], *, keep_previous: bool = False
) -> None:
    """Write named groups of arrays and a JSON state into one file, all or nothing, to last.

    The file has a checksum of its content. `keep_previous` is that of
    :func:`~pmae_core.storage.files.replacing`.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    flat = {
        f"{group}/{name}": _contiguous(array)
        for group, arrays in groups.items()
        for name, array in arrays.items()
    }
    text = json.dumps({"version": FORMAT_VERSION, **state}, default=to_json_value)
    described = {**json.loads(text), _ARRAYS: _checksum(flat)}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, lasting=True, keep_previous=keep_previous) as unfinished:
        try:
            save_file(flat, unfinished, metadata={"state": json.dumps(sealed(described))})
        except SafetensorError as error:
            raise _as_error_of_disk(error) from error


def read_arrays(path: Path) -> tuple[ArrayGroups, dict[str, Any]]:
    """Read what :func:`write_arrays` wrote.

    Files of earlier releases have no checksum; only their form is checked.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DamagedFileError
        If the file holds something else than what :func:`write_arrays` wrote.
    ValueError
        If another release wrote it in another format.
    """
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            flat = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (no mapping)
        described = dict(json.loads(metadata["state"]))
        groups = _grouped(flat)
    except (OSError, MemoryError):  # says nothing about the content
        raise
    except Exception as error:
        raise DamagedFileError(f"{path} is not a file that PMAE wrote ({error}).") from error
    state = unsealed(described, path)
    if state.pop(_ARRAYS, None) not in (None, _checksum(flat)):
        raise DamagedFileError(f"{path} is damaged (its checksum does not match).")
    if state.get("version") != FORMAT_VERSION:
        raise ValueError(
            f"{path} has format version {state.get('version')}; this release reads "
            f"version {FORMAT_VERSION}."
        )
    return groups, state


def _contiguous(array: np.ndarray) -> np.ndarray:
    """Return an array whose bytes are as in the file."""
    little_endian = array.dtype.newbyteorder("<")
    return np.ascontiguousarray(array, little_endian).reshape(array.shape)


def _as_error_of_disk(error: SafetensorError) -> Exception:
    """Return what Python itself raises when a file cannot be written; the library only tells."""
    number = re.search(r"\(os error (\d+)\)", str(error))
    return error if number is None else OSError(int(number[1]), os.strerror(int(number[1])))


def _grouped(flat: Mapping[str, np.ndarray]) -> ArrayGroups:
    groups: ArrayGroups = {}
    for key, array in flat.items():
        group, name = key.split("/", 1)
        groups.setdefault(group, {})[name] = array
    return groups


def _checksum(flat: Mapping[str, np.ndarray]) -> str:
    """Return the checksum of names, types, shapes and values of arrays."""
    described = [(name, array.dtype.str, array.shape) for name, array in sorted(flat.items())]
    digest = hashlib.sha256(json.dumps(described).encode())
    for name, _, _ in described:
        digest.update(np.ravel(flat[name]).data)  # the bytes in place; tobytes would copy them
    return digest.hexdigest()
