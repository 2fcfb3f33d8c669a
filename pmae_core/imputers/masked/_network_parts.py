"""A fitted network as arrays and JSON-able data, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from pmae_core.imputers.masked._calibration import Calibration
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.imputers.masked._prediction import FittedNetwork
from pmae_core.imputers.masked._table_gaussian import TableGaussian
from pmae_core.imputers.masked.saving import FittedParts
from pmae_core.model import MaskedAutoencoder, NetworkConfig
from pmae_core.storage.arrays import ArrayGroups
from pmae_core.table import EncodedColumn, Scaler
from pmae_core.training import TrainingResult
from pmae_core.training.checkpoint import to_arrays, to_tensors
from pmae_core.training.device import choose_device


def network_parts(fitted: FittedNetwork) -> FittedParts:
    """Return a fitted network, ready to be written."""
    calibration = fitted.calibration
    groups: ArrayGroups = {
        "network": to_arrays(fitted.network.state_dict()),
        "residuals": {str(j): found for j, found in calibration.residuals.items()},
        "corrections": {str(j): found for j, found in calibration.corrections.items()},
    }
    if calibration.own_scale is not None:
        groups["own_scale"] = calibration.own_scale.arrays() | {"shares": calibration.shares}
    return FittedParts(_state(fitted), groups)


def _state(fitted: FittedNetwork) -> dict[str, Any]:
    return {"config": asdict(fitted.network.config), "result": asdict(fitted.result)}


def restore_network(
    parts: FittedParts,
    columns: Sequence[EncodedColumn],
    scalers: Sequence[Scaler | None],
    device: str,
) -> FittedNetwork:
    """Return the network that its arrays and its state describe."""
    groups, state = parts.groups, parts.state
    n_categories = [column.n_categories for column in columns]
    network = MaskedAutoencoder(NetworkConfig(**state["config"]), n_categories)
    network.load_state_dict(to_tensors(groups["network"]))
    residuals, corrections = (
        {int(j): array for j, array in groups.get(name, {}).items()}
        for name in ("residuals", "corrections")
    )
    own_scale, shares = None, np.zeros((0, 2))
    if "own_scale" in groups:
        saved = groups["own_scale"]
        own_scale = TableGaussian.from_arrays(
            saved, columns, OwnNumbers(scalers), on_own_scale=True
        )
        shares = saved["shares"]
    calibration = Calibration(scalers, residuals, corrections, own_scale, shares)
    result = TrainingResult(**state["result"])
    placed = network.to(choose_device(device))
    return FittedNetwork(placed, columns, scalers, result, calibration)
