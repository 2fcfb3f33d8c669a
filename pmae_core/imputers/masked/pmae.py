"""PMAE: a masked autoencoder whose masking follows each column's observed proportion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pmae_core.imputers.masked.base import MaskedAutoencoderImputer
from pmae_core.imputers.registry import register_imputer
from pmae_core.masking import MaskSampler, Sampler
from pmae_core.table import Schema

_PAPER = (
    "Kim, Lee and Park: To Predict or Not To Predict? Proportionally Masked Autoencoders for "
    "Tabular Data Imputation. AAAI 2025."
)
_EXPLANATION = (
    "A neural network that learns to fill cells by hiding some on purpose, more often in "
    "columns with many holes; it mixes columns by "
)


@register_imputer(
    name="pmae-trf",
    title="PMAE (transformer)",
    explanation=_EXPLANATION + "attention.",
    citation=_PAPER,
    defaults={"architecture": "transformer"},
    draws_samples=True,
)
@register_imputer(
    name="pmae-mix",
    title="PMAE (mixer)",
    explanation=_EXPLANATION + "a small dense network.",
    citation=_PAPER,
    defaults={"architecture": "mixer"},
    draws_samples=True,
)
class PMAEImputer(MaskedAutoencoderImputer):
    """Fill a table with a proportionally masked autoencoder.

    Every setting that is ``None`` is taken from the preset.

    Parameters
    ----------
    architecture : {"mixer", "transformer"}, default "mixer"
        How columns are mixed: by an MLP or by attention.
    masking : str, default "logit"
        Masking function ``M_j``; see :func:`pmae_core.masking.list_masking_functions`.
    a, b : float, optional
        Parameters of the ``logit`` function, 0.05 and 0.5 where not given.
    p_obs : {"batch", "table"}, optional
        Take observed proportions from each batch or once from the whole table.
    copy_share : float, optional
        Share of rows whose extra mask is another row's own missing pattern.
    loss : {"paper", "grouped", "remasker"}, optional
        Mean error per column, summed; in two groups of columns as released; or ReMasker's.
    preset : {"balanced", "fast", "paper", "paper-steps"}, default "balanced"
        Settings to start from. ``balanced``: small batches, a budget of steps, softmax heads, a
        Gaussian start, early stopping. ``fast``: for a first look. ``paper``: the paper to the
        letter. ``paper-steps``: the same with small steps instead of epochs.
    categorical : {"softmax", "scalar"}, optional
        Categories as embeddings with softmax heads, or as numbers (the paper's way).
    numeric : {"rank", "quantile", "standard", "minmax"}, optional
        How numbers are scaled; see :class:`~pmae_core.table.TableEncoder`.
    min_category_count : {"auto", "paper"} or int, optional
        Below which count categories are learned as one common category.
    width, encoder_depth, decoder_depth, heads, mlp_ratio, dropout : optional
        Size of the network.
    mixing_width : int, optional
        Most hidden units of a mixer's MLP along the columns, which keeps tables of hundreds of
        columns affordable; 0 for no bound.
    start : {"gaussian", "none"}, optional
        Whether the network improves on a joint Gaussian's answer or begins from nothing. A table
        of more than 1,000 numbers and indicators of categories always begins from nothing; see
        ``settings_``.
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
    correct_means : bool, optional
        Whether held-out cells teach to correct filled numbers toward the mean on the column's
        own scale, and how much a Gaussian on that scale counts; without, those of a skewed
        column are nearer to its median.
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

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> x = np.linspace(0, 1, 60)
    >>> table = pd.DataFrame({"x": x, "y": 2 * x})
    >>> table.loc[::7, "y"] = np.nan
    >>> filled = PMAEImputer(steps=30, random_state=0).fit_transform(table)
    >>> int(filled["y"].isna().sum())
    0
    """

    def __init__(
        self,
        *,
        architecture: str = "mixer",
        masking: str = "logit",
        a: float | None = None,
        b: float | None = None,
        p_obs: str | None = None,
        copy_share: float | None = None,
        loss: str | None = None,
        preset: str = "balanced",
        categorical: str | None = None,
        numeric: str | None = None,
        min_category_count: str | int | None = None,
        width: int | None = None,
        encoder_depth: int | None = None,
        decoder_depth: int | None = None,
        heads: int | None = None,
        mlp_ratio: float | None = None,
        dropout: float | None = None,
        mixing_width: int | None = None,
        start: str | None = None,
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
        correct_means: bool | None = None,
        device: str = "auto",
        precision: str = "auto",
        compiled: bool = False,
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.architecture = architecture
        self.masking = masking
        self.a = a
        self.b = b
        self.p_obs = p_obs
        self.copy_share = copy_share
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
        self.mixing_width = mixing_width
        self.start = start
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
        self.correct_means = correct_means
        self.device = device
        self.precision = precision
        self.compiled = compiled
        self.schema = schema
        self.random_state = random_state

    def _fixed_settings(self) -> dict[str, Any]:
        return {"architecture": self.architecture}

    def _sampler(self, settings: dict[str, Any]) -> Sampler:
        params = {
            name: value for name, value in (("a", self.a), ("b", self.b)) if value is not None
        }
        return MaskSampler(
            function=self.masking,
            params=params,
            p_obs=settings["p_obs"],
            copy_share=settings["copy_share"],
        )
