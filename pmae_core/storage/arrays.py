"""Named arrays and a JSON state in one safetensors file; nothing is ever unpickled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from pmae_core.storage.files import replacing
from pmae_core.storage.json_values import to_json_value

FORMAT_VERSION = 2

ArrayGroups: TypeAlias = dict[str, dict[str, np.ndarray]]


def write_arrays(path: Path, groups: ArrayGroups, state: dict[str, Any]) -> None:
    """Write named groups of arrays and a JSON state into one file, all or nothing."""
    flat = {
        f"{group}/{name}": np.ascontiguousarray(array).reshape(array.shape)
        for group, arrays in groups.items()
        for name, array in arrays.items()
    }
    metadata = {"state": json.dumps({"version": FORMAT_VERSION, **state}, default=to_json_value)}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished:
        save_file(flat, unfinished, metadata=metadata)


def read_arrays(path: Path) -> tuple[ArrayGroups, dict[str, Any]]:
    """Read what :func:`write_arrays` wrote.

    Raises
    ------
    ValueError
        If :func:`write_arrays` did not write the file.
    """
    groups: ArrayGroups = {}
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            state = dict(json.loads(metadata["state"]))
            for key in file.keys():  # noqa: SIM118 (safe_open is no mapping)
                group, name = key.split("/", 1)
                groups.setdefault(group, {})[name] = file.get_tensor(key)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(f"{path} is not a file that PMAE wrote ({error}).") from error
    if state.get("version") != FORMAT_VERSION:
        raise ValueError(
            f"{path} has format version {state.get('version')}; this release reads "
            f"version {FORMAT_VERSION}."
        )
    return groups, state
