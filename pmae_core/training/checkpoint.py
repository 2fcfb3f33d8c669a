"""Checkpoints from which training resumes to the same result: safetensors and JSON."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pmae_core.errors import DamagedFileError
from pmae_core.storage.arrays import read_arrays, write_arrays
from pmae_core.storage.files import read_newest
from pmae_core.storage.json_values import to_json_value

TensorGroups = dict[str, dict[str, Tensor]]


def write_checkpoint(path: Path, groups: TensorGroups, state: dict[str, Any]) -> None:
    """Write named groups of tensors and a JSON state into one file; keep the one before it."""
    arrays = {group: to_arrays(tensors) for group, tensors in groups.items()}
    write_arrays(path, arrays, state, keep_previous=True)


def read_checkpoint(
    path: Path,
) -> tuple[tuple[TensorGroups, dict[str, Any]] | None, list[DamagedFileError]]:
    """Read the newest intact checkpoint.

    Returns
    -------
    checkpoint : (groups, state) or None
        What :func:`write_checkpoint` wrote; None if there is no intact checkpoint.
    damages : list of DamagedFileError
        One for each newer checkpoint, which is damaged.
    """
    found, damages = read_newest(path, read_arrays)
    if found is None:
        return None, damages
    groups, state = found
    return ({group: to_tensors(arrays) for group, arrays in groups.items()}, state), damages


def to_arrays(tensors: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
    """Return tensors of any device as arrays."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}


def to_tensors(arrays: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
    """Return arrays as tensors."""
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return a copy of the optimizer's state as flat named tensors."""
    return {
        f"{index}/{name}": torch.as_tensor(value).clone()
        for index, slots in optimizer.state_dict()["state"].items()
        for name, value in slots.items()
    }


def load_optimizer_tensors(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Restore what :func:`optimizer_tensors` returned."""
    slots: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        index, name = key.split("/", 1)
        slots.setdefault(int(index), {})[name] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": slots})


def fingerprint(settings: dict[str, Any], *tables: np.ndarray) -> str:
    """Return a digest of settings and data: the same for the same training."""
    # Settings may be numbers of numpy, as from a grid search.
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=to_json_value).encode())
    for table in tables:
        digest.update(np.ravel(table).data)  # the bytes in place; tobytes would copy them
    return digest.hexdigest()
