"""Checkpoints from which training resumes to the same result: safetensors and JSON."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from pmae_core.storage.files import replacing
from pmae_core.storage.json_values import to_json_value

FORMAT_VERSION = 1

TensorGroups = dict[str, dict[str, Tensor]]


def write_tensors(path: Path, groups: TensorGroups, state: dict[str, Any]) -> None:
    """Write named groups of tensors and a JSON state into one file, all or nothing."""
    flat = {
        f"{group}/{name}": tensor.detach().cpu().contiguous().clone()
        for group, tensors in groups.items()
        for name, tensor in tensors.items()
    }
    metadata = {"state": json.dumps({"version": FORMAT_VERSION, **state}, default=to_json_value)}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished:
        save_file(flat, unfinished, metadata=metadata)


def read_tensors(path: Path) -> tuple[TensorGroups, dict[str, Any]]:
    """Read what :func:`write_tensors` wrote.

    Raises
    ------
    ValueError
        If :func:`write_tensors` did not write the file.
    """
    groups: TensorGroups = {}
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            state = json.loads(metadata["state"])
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
