"""The masked autoencoder that predicts every cell of a row from the kept ones."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from pmae_core.model.blocks import MixerBlock, TransformerBlock
from pmae_core.model.config import NetworkConfig
from pmae_core.model.start import GaussianStart, Start, log_probabilities
from pmae_core.model.tokens import (
    CategoryHeads,
    ColumnLayout,
    ColumnTokenizer,
    SharedTokenizer,
    sincos_positions,
)

# The activations of this many cells fit into a processor's cache; more at a time take longer per
# row. Fewer rows than the minimum are not worth a call.
CELLS_AT_A_TIME = 2000
MIN_ROWS_AT_A_TIME = 64


class Prediction(NamedTuple):
    """What the network predicts for every cell of a batch.

    Attributes
    ----------
    values : Tensor of shape (batch, columns)
        Predicted value on the encoder's scale; meaningless where ``logits`` has the column.
    logits : Tensor of shape (batch, categorical columns, most categories) or None
        Softmax logits of the categorical columns, ``None`` for a scalar network.
    """

    values: Tensor
    logits: Tensor | None


class MaskedAutoencoder(nn.Module):
    """Predict all cells of a row from its kept cells.

    Parameters
    ----------
    config : NetworkConfig
        Shape of the network.
    n_categories : sequence of int
        Categories of each column, 0 for a numerical one.
    center, scale : Tensor of shape (columns,), optional
        Mean and standard deviation of the observed values, used by the ``softmax`` network to
        put squared errors and cross-entropies on one scale.

    Notes
    -----
    Shape: ``values`` and ``kept`` are ``(batch, columns)``. A scalar network takes categories
    as ``code / (n_categories - 1)``, a softmax network as codes.
    """

    positions: Tensor
    center: Tensor
    scale: Tensor
    categorical_columns: Tensor

    def __init__(
        self,
        config: NetworkConfig,
        n_categories: Sequence[int],
        center: Tensor | None = None,
        scale: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        n_columns, width = len(n_categories), config.width
        softmax = config.categorical == "softmax"
        layout = ColumnLayout.of(n_categories if softmax else [0] * n_columns)

        self.register_buffer("center", torch.zeros(n_columns) if center is None else center)
        self.register_buffer("scale", torch.ones(n_columns) if scale is None else scale)
        categorical = torch.tensor(layout.categorical, dtype=torch.long)
        self.register_buffer("categorical_columns", categorical, persistent=False)
        positions = torch.cat([torch.zeros(1, width), sincos_positions(n_columns, width)])
        self.register_buffer("positions", positions, persistent=False)

        self.start = GaussianStart(n_categories) if config.start == "gaussian" else None
        self.tokenizer: nn.Module = (
            ColumnTokenizer(n_categories=n_categories, width=width, start=self.start is not None)
            if softmax
            else SharedTokenizer(width=width)
        )
        self.class_token = nn.Parameter(torch.zeros(width))
        self.mask_token = nn.Parameter(torch.zeros(width))
        self.encoder = self._stack(config.encoder_depth, n_columns + 1)
        self.encoder_norm = nn.LayerNorm(width)
        self.bridge = nn.Linear(width, width)
        self.decoder = self._stack(config.decoder_depth, n_columns + 1)
        self.decoder_norm = nn.LayerNorm(width)
        self.value_head = nn.Linear(width, 1)
        self.category_heads = (
            CategoryHeads(n_categories=layout.n_categories, width=width)
            if layout.categorical
            else None
        )
        self._initialize()

    def _stack(self, depth: int, n_tokens: int) -> nn.ModuleList:
        config = self.config
        if config.architecture == "transformer":
            return nn.ModuleList(
                TransformerBlock(width=config.width, heads=config.heads, mlp_ratio=config.mlp_ratio)
                for _ in range(depth)
            )
        return nn.ModuleList(
            MixerBlock(
                width=config.width,
                n_tokens=n_tokens,
                mlp_ratio=config.mlp_ratio,
                dropout=config.dropout,
                mixing_width=config.mixing_width,
            )
            for _ in range(depth)
        )

    def _through(self, blocks: nn.ModuleList, x: Tensor, attend: Tensor | None = None) -> Tensor:
        """Return tokens after a stack of blocks; transformers attend only to ``attend``."""
        if self.config.architecture == "transformer":
            for block in blocks:
                x = block(x, attend)
            return x
        x = x.transpose(0, 1).contiguous()  # mixers take the tokens first
        for block in blocks:
            x = block(x)
        return x.transpose(0, 1)

    def _initialize(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        if self.start is not None:
            # Zero heads add nothing, so the untrained network predicts what the Gaussian does.
            nn.init.zeros_(self.value_head.weight)
            if self.category_heads is not None:
                nn.init.zeros_(self.category_heads.weight)
        nn.init.normal_(self.class_token, std=0.02)
        nn.init.normal_(self.mask_token, std=0.02)

    @property
    def is_softmax(self) -> bool:
        """Whether categorical columns have embeddings and softmax heads."""
        return self.config.categorical == "softmax"

    @property
    def rows_at_a_time(self) -> int:
        """How many rows of a long table to predict at a time."""
        return max(MIN_ROWS_AT_A_TIME, CELLS_AT_A_TIME // len(self.center))

    def first_guess(self, values: Tensor, kept: Tensor) -> Start | None:
        """Return the Gaussian's estimate of every cell, ``None`` for a network without one."""
        return None if self.start is None else self.start(self._inputs(values), kept)

    def _inputs(self, values: Tensor) -> Tensor:
        return (values - self.center) / self.scale

    def forward(self, values: Tensor, kept: Tensor, start: Start | None = None) -> Prediction:
        """Predict every cell of ``values`` from the cells in ``kept``.

        ``start`` is the :meth:`first_guess` for these cells, if it was computed before.
        """
        if not self.is_softmax:
            tokens = self._decode(self._encode(self.tokenizer(values, kept), kept), kept)
            outputs = self.value_head(tokens).squeeze(-1)
            return Prediction(torch.tanh(outputs) / 2 + 0.5, None)
        inputs = self._inputs(values)
        start = self.first_guess(values, kept) if start is None else start
        tokens = self._decode(self._encode(self.tokenizer(inputs, kept, *start or ()), kept), kept)
        outputs = self.value_head(tokens).squeeze(-1)
        logits = None
        if self.category_heads is not None:
            logits = self.category_heads(tokens[:, self.categorical_columns])
        if start is not None:
            outputs = outputs + start.values
            logits = logits + log_probabilities(start.probabilities) if logits is not None else None
        return Prediction(outputs * self.scale + self.center, logits)

    def _encode(self, tokens: Tensor, kept: Tensor) -> Tensor:
        """Return the encoder's tokens, class token first."""
        class_token = self.class_token.expand(len(tokens), 1, -1)
        x = torch.cat([class_token, tokens], dim=1) + self.positions
        attend = None
        if self.config.drop_masked:
            # No token attends to a cell that is not kept, which equals dropping its token.
            attend = functional.pad(kept, (1, 0), value=True)[:, None, None, :]
        return self.bridge(self.encoder_norm(self._through(self.encoder, x, attend)))

    def _decode(self, x: Tensor, kept: Tensor) -> Tensor:
        """Return the decoder's tokens of the columns, without the class token."""
        if self.start is None:
            with_class = functional.pad(kept, (1, 0), value=True).unsqueeze(-1)
            x = torch.where(with_class, x, self.mask_token.to(x.dtype))
        x = self._through(self.decoder, x + self.positions)
        return self.decoder_norm(x)[:, 1:]

    def cell_errors(self, prediction: Prediction, values: Tensor) -> Tensor:
        """Return every cell's error, ``(batch, columns)``: squared, or cross-entropy.

        A softmax network measures squared errors in standard deviations of the column, so that
        they weigh about as much as a cross-entropy. Missing cells get an error too; the loss
        leaves them out.
        """
        errors = (prediction.values - values).square()
        if not self.is_softmax:
            return errors
        errors = errors / self.scale.square()
        if prediction.logits is None:
            return errors
        codes = values[:, self.categorical_columns].long()
        entropies = functional.cross_entropy(
            prediction.logits.flatten(0, 1), codes.flatten(), reduction="none"
        )
        return errors.index_copy(1, self.categorical_columns, entropies.view(codes.shape))
