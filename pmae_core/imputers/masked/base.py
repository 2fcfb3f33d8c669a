"""What the masked autoencoders share; torch is imported when they are first used."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from pmae_core.errors import ImputationError
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.masked._held_out import HeldOutPredictions
from pmae_core.imputers.masked._validation import validation_cells
from pmae_core.imputers.masked.presets import (
    MOST_COORDINATES,
    PRESETS,
    SETTINGS,
    resolve_settings,
)
from pmae_core.imputers.masked.saving import FittedParts, SavingImputer
from pmae_core.imputers.parameters import (
    BOOLEAN,
    STRING,
    Constraints,
    Integer,
    Number,
    OneOf,
    plain_params,
)
from pmae_core.imputers.run import FitRun
from pmae_core.imputers.work import WorkProfile
from pmae_core.masking import Sampler
from pmae_core.table import EncodedTable, Schema
from pmae_core.table.scaling import NUMERIC_SCALINGS

if TYPE_CHECKING:
    from pmae_core.imputers.masked._prediction import FittedNetwork
    from pmae_core.training import TrainingResult


class MaskedAutoencoderImputer(SavingImputer):
    """Base of the imputers that train a masked autoencoder.

    A subclass takes its own parameters by name and passes all others on as ``**shared``. Its
    signature then lists both, so that scikit-learn finds every parameter. Every setting that is
    ``None`` is taken from the preset.

    Parameters
    ----------
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
    steps, epochs : int, optional
        Length of the training; at most one of the two.
    batch_size : int or "paper", optional
        Rows per step.
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
        ``"auto"`` takes CUDA, MPS or CPU, whichever is available first.
    precision : {"auto", "float32", "bfloat16"}, default "auto"
        Number format of the forward pass.
    compiled : bool, default False
        Whether torch compiles a training step first; pays in long trainings on a GPU.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of everything random.

    Attributes
    ----------
    settings_ : dict
        Every setting in force: those of the preset, replaced by the user's own.
    network_ : FittedNetwork or None
        The trained network; ``None`` where the table has no column to learn.
    training_result_ : TrainingResult or None
        How the training ended.
    held_out_ : HeldOutPredictions or None
        What the network predicts for the cells that its training held out; ``None`` where there
        are none, and in an imputer that was loaded.
    """

    settings_: dict[str, Any]
    network_: FittedNetwork | None
    training_result_: TrainingResult | None
    held_out_: HeldOutPredictions | None

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseImputer._parameter_constraints,
        "loss": [OneOf("paper", "grouped", "remasker"), None],
        "preset": [OneOf(*PRESETS)],
        "categorical": [OneOf("softmax", "scalar"), None],
        "numeric": [OneOf(*NUMERIC_SCALINGS), None],
        "min_category_count": [OneOf("auto", "paper"), Integer(least=1), None],
        "width": [Integer(least=2), None],
        "encoder_depth": [Integer(least=0), None],
        "decoder_depth": [Integer(least=0), None],
        "heads": [Integer(least=1), None],
        "mlp_ratio": [Number(above=0), None],
        "dropout": [Number(least=0, below=1), None],
        "steps": [Integer(least=0), None],
        "epochs": [Integer(least=0), None],
        "batch_size": [OneOf("paper"), Integer(least=1), None],
        "learning_rate": [Number(above=0), None],
        "final_learning_rate": [Number(least=0), None],
        "warmup_steps": [Integer(least=0), None],
        "warmup_epochs": [Integer(least=0), None],
        "weight_decay": [Number(least=0), None],
        "average_decay": [Number(least=0, below=1), None],
        "validation_share": [Number(least=0, below=1), None],
        "validate_every": [Integer(least=1), None],
        "patience": [Integer(least=0), None],
        "device": [STRING],
        "precision": [OneOf("auto", "float32", "bfloat16")],
        "compiled": [BOOLEAN],
    }

    def __init__(
        self,
        *,
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

    def __init_subclass__(cls, **options: Any) -> None:
        """Let the signature of a constructor with ``**shared`` list the shared parameters too."""
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__.__signature__ = _joined_signature(cls)  # type: ignore[attr-defined]

    @abstractmethod
    def _sampler(self, settings: Mapping[str, Any]) -> Sampler:
        """Return what chooses the masked cells of a batch."""

    def _fixed_settings(self) -> dict[str, Any]:
        """Return settings that belong to the method and not to a preset."""
        return {}

    def settings_for(self, n_rows: int) -> dict[str, Any]:
        """Return every setting in force for a table of so many rows."""
        params = plain_params(self)
        given = {name: params[name] for name in SETTINGS if name in params}
        settings = resolve_settings(self.preset, given | self._fixed_settings(), n_rows)
        return settings | {name: params[name] for name in ("device", "precision", "compiled")}

    def work_profile(self, n_rows: int) -> WorkProfile:
        """Say how many steps a training takes; see :meth:`BaseImputer.work_profile`."""
        settings = self.settings_for(n_rows)
        steps = settings["steps"] and int(settings["steps"])
        stops_early = settings["patience"] and settings["validation_share"]
        return WorkProfile(
            # More rows may mean more steps; a training of epochs has none to set.
            params={"steps": steps},
            earliest_end=settings["patience"] * settings["validate_every"] if stops_early else None,
            growth=0.0 if steps else 1.0,
        )

    def _settle(self, frame: pd.DataFrame) -> None:
        self.network_ = None
        self.training_result_ = None
        self.held_out_ = None
        self.settings_ = self.settings_for(len(frame))

    def _encoder_options(self) -> dict[str, Any]:
        return {name: self.settings_[name] for name in ("numeric", "min_category_count")}

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        from pmae_core.imputers.masked._fitting import fit_network

        coordinates = sum(max(1, column.n_categories - 1) for column in encoded.columns)
        if coordinates > MOST_COORDINATES:
            self.settings_ = self.settings_ | {"start": "none"}
        self.network_ = fit_network(
            encoded, self.settings_, self._sampler(self.settings_), run, self.encoder_.scalers_
        )
        self.training_result_ = self.network_.result
        self.held_out_ = self._predict_held_out(encoded, run.seed)

    def _predict_held_out(self, encoded: EncodedTable, seed: int) -> HeldOutPredictions | None:
        share = self.settings_["validation_share"]
        held_out = validation_cells(encoded.observed, share, seed)
        if held_out is None:
            return None
        values = np.where(held_out.kept, encoded.values[held_out.rows], 0.0).astype(np.float32)
        predicted = self._trained().impute(EncodedTable(values, held_out.kept, encoded.columns))
        return HeldOutPredictions(held_out, predicted)

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        return self._trained().impute(encoded)

    def _draw_encoded(
        self, encoded: EncodedTable, n: int, rng: np.random.Generator
    ) -> Iterable[np.ndarray]:
        return self._trained().draw(encoded, n, rng)

    def _trained(self) -> FittedNetwork:
        if self.network_ is None:
            raise ImputationError("This imputer has no trained network.")
        return self.network_

    def _fitted_parts(self) -> FittedParts:
        if self.network_ is None:
            return FittedParts({"settings": self.settings_, "network": None}, {})
        from pmae_core.imputers.masked._network_parts import network_parts

        parts = network_parts(self.network_)
        return FittedParts({"settings": self.settings_, "network": parts.state}, parts.groups)

    def _restore_parts(self, parts: FittedParts) -> None:
        self.settings_ = parts.state["settings"]
        self.network_ = None
        self.training_result_ = None
        self.held_out_ = None
        if parts.state["network"] is not None:
            from pmae_core.imputers.masked._network_parts import restore_network

            self.network_ = restore_network(
                FittedParts(parts.state["network"], parts.groups),
                self.encoder_.columns_,
                self.encoder_.scalers_,
                self.device,
            )
            self.training_result_ = self.network_.result


def _joined_signature(imputer: type[MaskedAutoencoderImputer]) -> inspect.Signature:
    """Return the signature of a constructor with ``**shared`` replaced by what it stands for."""
    own = inspect.signature(imputer.__init__)
    shared = inspect.signature(super(imputer, imputer).__init__).parameters
    joined = {name: p for name, p in own.parameters.items() if p.kind is not p.VAR_KEYWORD}
    if len(joined) < len(own.parameters):
        joined |= {name: p for name, p in shared.items() if name not in joined}
    return own.replace(parameters=list(joined.values()))
