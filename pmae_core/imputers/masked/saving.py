"""Fitted masked autoencoders in one safetensors file each; torch is imported on use."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pmae_core.errors import ImputationError
from pmae_core.imputers.parameters import plain_params
from pmae_core.table import Schema, TableEncoder

if TYPE_CHECKING:
    from pmae_core.imputers.masked._prediction import FittedNetwork
    from pmae_core.training.checkpoint import TensorGroups


@dataclass(frozen=True)
class SavedImputer:
    """What a model file holds.

    Attributes
    ----------
    class_name : str
        Name of the imputer's class.
    state : dict
        Everything but the arrays, as JSON-able data.
    groups : dict
        The arrays of the network, by group and name.
    """

    class_name: str
    state: dict[str, Any]
    groups: TensorGroups


def write_imputer(imputer: Any, path: Path) -> None:
    """Write a fitted masked autoencoder into one safetensors file."""
    from pmae_core.training.checkpoint import write_tensors

    params = plain_params(imputer) | {"schema": None}
    if not isinstance(params["random_state"], int | None):
        params["random_state"] = None
    names = getattr(imputer, "feature_names_in_", None)
    fitted = imputer.network_
    state = {
        "params": params,
        "settings": imputer.settings_,
        "encoder": imputer.encoder_.to_dict(),
        "n_features_in": imputer.n_features_in_,
        "feature_names_in": None if names is None else list(names),
        "network": None if fitted is None else _network_state(fitted),
    }
    groups = {} if fitted is None else _network_tensors(fitted)
    write_tensors(path, groups, {"class": type(imputer).__name__, "imputer": state})


def read_saved(path: Path) -> SavedImputer:
    """Read a model file; nothing is ever unpickled."""
    from pmae_core.training.checkpoint import read_tensors

    try:
        groups, state = read_tensors(path)
        return SavedImputer(state["class"], state["imputer"], groups)
    except FileNotFoundError:
        raise ImputationError(f"There is no model file {path}.") from None
    except (ValueError, KeyError) as error:
        raise ImputationError(f"{path} is not a saved imputer: {error}") from error


def restore_imputer(imputer_class: Any, saved: SavedImputer) -> Any:
    """Return the fitted imputer of a class that a model file describes."""
    state = saved.state
    imputer = imputer_class(**state["params"])
    imputer.settings_ = state["settings"]
    imputer.encoder_ = TableEncoder.from_dict(state["encoder"])
    imputer.schema = Schema.from_dict(state["encoder"]["schema"])
    imputer.n_features_in_ = state["n_features_in"]
    if state["feature_names_in"] is not None:
        imputer.feature_names_in_ = np.array(state["feature_names_in"], dtype=object)
    imputer.network_ = None
    imputer.training_result_ = None
    if state["network"] is not None:
        imputer.network_ = _restore_network(saved, imputer.encoder_, imputer.device)
        imputer.training_result_ = imputer.network_.result
    return imputer


def _network_tensors(fitted: FittedNetwork) -> TensorGroups:
    """Return all arrays of a fitted network."""
    import torch

    calibration = fitted.calibration
    own_scale = calibration.own_scale
    return {
        "network": fitted.network.state_dict(),
        "residuals": {str(j): torch.from_numpy(r) for j, r in calibration.residuals.items()},
        "corrections": {str(j): torch.from_numpy(c) for j, c in calibration.corrections.items()},
        "own_scale": {} if own_scale is None else own_scale.tensors(),
    }


def _network_state(fitted: FittedNetwork) -> dict[str, Any]:
    """Return all the rest of a fitted network as JSON-able data."""
    return {
        "config": asdict(fitted.network.config),
        "n_categories": [column.n_categories for column in fitted.columns],
        "result": asdict(fitted.result),
    }


def _restore_network(saved: SavedImputer, encoder: TableEncoder, device: str) -> FittedNetwork:
    """Return the network that its arrays and its state describe."""
    from pmae_core.imputers.masked._calibration import Calibration
    from pmae_core.imputers.masked._own_scale import OwnScale
    from pmae_core.imputers.masked._prediction import FittedNetwork
    from pmae_core.model import MaskedAutoencoder, NetworkConfig
    from pmae_core.training import TrainingResult
    from pmae_core.training.device import choose_device

    groups, state = saved.groups, saved.state["network"]
    network = MaskedAutoencoder(NetworkConfig(**state["config"]), state["n_categories"])
    network.load_state_dict(groups["network"])
    residuals, corrections = (
        {int(j): tensor.numpy() for j, tensor in groups.get(name, {}).items()}
        for name in ("residuals", "corrections")
    )
    where, scalers = choose_device(device), encoder.scalers_
    own_scale = OwnScale.restore(groups, state["n_categories"], scalers, where)
    calibration = Calibration(scalers, residuals, corrections, own_scale)
    result = TrainingResult(**state["result"])
    return FittedNetwork(network.to(where), encoder.columns_, scalers, result, calibration)
