"""The network of the paper: blocks, tokens, autoencoder and losses, on tensors alone."""

from pmae_core.model.autoencoder import MaskedAutoencoder, Prediction
from pmae_core.model.config import NetworkConfig
from pmae_core.model.losses import LOSSES, reduce_errors

__all__ = ["LOSSES", "MaskedAutoencoder", "NetworkConfig", "Prediction", "reduce_errors"]
