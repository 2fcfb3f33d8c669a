"""ReMasker: the masked autoencoder with uniform random masking that PMAE builds on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pmae_core.imputers.masked.base import MaskedAutoencoderImputer
from pmae_core.imputers.registry import register_imputer
from pmae_core.masking import RandomKeepSampler, Sampler
from pmae_core.table import Schema


@register_imputer(
    name="remasker",
    title="ReMasker",
    explanation="A transformer that learns to fill cells by hiding half of each row's columns at "
    "random, whatever their observed proportion.",
    citation="Du, Melis and Wang: ReMasker: Imputing Tabular Data with Masked Autoencoding. "
    "ICLR 2024.",
    defaults={"preset": "paper-steps"},
    draws_samples=True,
)
class ReMaskerImputer(MaskedAutoencoderImputer):
    """Fill a table with ReMasker: keep half of a row's columns, predict the others.

    The network is PMAE's transformer, but its encoder never sees a cell that is not kept, and
    its loss adds the mean error over masked and the mean error over kept cells. Every setting
    that is ``None`` is taken from the preset.

    Parameters
    ----------
    keep : float, default 0.5
        Share of columns whose cells a row keeps, where they are observed.
    loss : {"remasker", "paper", "grouped"}, default "remasker"
        ReMasker's own loss, or one of PMAE's.
    preset : {"paper", "paper-steps"}, default "paper"
        Settings to start from: the paper's, or the same with a budget of small steps instead of
        epochs, which is what ``make_imputer("remasker")`` takes.
    categorical : {"softmax", "scalar"}, optional
        Categories as embeddings with softmax heads, or as numbers (the paper's way).
    numeric : {"rank", "quantile", "standard", "minmax"}, optional
        How numbers are scaled; see :class:`~pmae_core.table.TableEncoder`.
    min_category_count : {"auto", "paper"} or int, optional
        Below which count categories are learned as one common category.
    width, encoder_depth, decoder_depth, heads, mlp_ratio, dropout : optional
        Size of the network.
    steps, epochs : int, optional
        Length of the training; at most one of the two.
    batch_size : int or "paper", optional
        Rows of a step.
    learning_rate, final_learning_rate, warmup_steps, warmup_epochs, weight_decay : optional
        Schedule and regularization of AdamW.
    average_decay : float, optional
        Decay of the moving average of the weights; 0 for none.
    validation_share : float, optional
        Share of rows that lend cells for validation; 0 for none.
    validate_every, patience : int, optional
        Steps between validations; validations without improvement before training stops (0 for
        never).
    device : str, default "auto"
        ``"auto"`` takes CUDA, MPS or CPU, whichever is there first.
    precision : {"auto", "float32", "bfloat16"}, default "auto"
        Number format of the forward pass.
    compiled : bool, default False
        Whether torch compiles a training step first; pays in long trainings on a GPU.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of everything random.
    """

    def __init__(
        self,
        *,
        keep: float = 0.5,
        loss: str = "remasker",
        preset: str = "paper",
        categorical: str | None = None,
        numeric: str | None = None,
        min_category_count: str | int | None = None,
        width: int | None = None,
        encoder_depth: int | None = None,
        decoder_depth: int | None = None,
        heads: int | None = None,
        mlp_ratio: float | None = None,
        dropout: float | None = None,
        steps: int | None = None,
        epochs: int | None = None,
        batch_size: int | str | None = None,
        learning_rate: float | None = None,
        final_learning_rate: float | None = None,
        warmup_steps: int | None = None,
        warmup_epochs: int | None = None,
        weight_decay: float | None = None,
        average_decay: float | None = None,
        validation_share: float | None = None,
        validate_every: int | None = None,
        patience: int | None = None,
        device: str = "auto",
        precision: str = "auto",
        compiled: bool = False,
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.keep = keep
        self.loss = loss
        self.preset = preset
        self.categorical = categorical
        self.numeric = numeric
        self.min_category_count = min_category_count
        self.width = width
        self.encoder_depth = encoder_depth
        self.decoder_depth = decoder_depth
        self.heads = heads
        self.mlp_ratio = mlp_ratio
        self.dropout = dropout
        self.steps = steps
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.final_learning_rate = final_learning_rate
        self.warmup_steps = warmup_steps
        self.warmup_epochs = warmup_epochs
        self.weight_decay = weight_decay
        self.average_decay = average_decay
        self.validation_share = validation_share
        self.validate_every = validate_every
        self.patience = patience
        self.device = device
        self.precision = precision
        self.compiled = compiled
        self.schema = schema
        self.random_state = random_state

    def _fixed_settings(self) -> dict[str, Any]:
        return {
            "architecture": "transformer",
            "drop_masked": True,
            "loss": self.loss,
            "start": "none",
        }

    def _sampler(self, settings: dict[str, Any]) -> Sampler:
        return RandomKeepSampler(keep=self.keep)
