"""What the masked-autoencoder imputers share; torch is imported when they are first used."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pmae_core.errors import ImputationError
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.masked.presets import MOST_COORDINATES, SETTINGS, resolve_settings
from pmae_core.imputers.run import FitRun
from pmae_core.imputers.work import WorkProfile
from pmae_core.masking import Sampler
from pmae_core.table import EncodedTable, Schema, TableEncoder

if TYPE_CHECKING:
    from pmae_core.events import Callback
    from pmae_core.imputers.masked._network import FittedNetwork, SavedImputer
    from pmae_core.training import TrainingResult


class MaskedAutoencoderImputer(BaseImputer):
    """Base of the imputers that train a masked autoencoder.

    Attributes
    ----------
    settings_ : dict
        Every setting in force: the preset with the user's own put over it.
    network_ : FittedNetwork or None
        The trained network; ``None`` where the table has no column to learn.
    training_result_ : TrainingResult or None
        How the training ended.
    """

    preset: str
    device: str
    precision: str
    compiled: bool
    settings_: dict[str, Any]
    network_: FittedNetwork | None
    training_result_: TrainingResult | None

    @abstractmethod
    def _sampler(self, settings: dict[str, Any]) -> Sampler:
        """Return what chooses the masked cells of a batch."""

    def _fixed_settings(self) -> dict[str, Any]:
        """Return settings that belong to the method and not to a preset."""
        return {}

    def settings_for(self, n_rows: int) -> dict[str, Any]:
        """Return every setting in force for a table of so many rows."""
        given = {name: getattr(self, name) for name in SETTINGS if hasattr(self, name)}
        settings = resolve_settings(self.preset, given | self._fixed_settings(), n_rows)
        machine = {name: getattr(self, name) for name in ("device", "precision", "compiled")}
        return settings | machine

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

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        callbacks: Sequence[Callback] = (),
        cancel: Callable[[], bool] | None = None,
        checkpoint_dir: str | Path | None = None,
    ) -> Self:
        """Train on the observed cells of a table; see :meth:`BaseImputer.fit`."""
        self.network_ = None
        self.training_result_ = None
        self.settings_ = self.settings_for(len(X) if hasattr(X, "__len__") else 0)
        return super().fit(X, y, callbacks=callbacks, cancel=cancel, checkpoint_dir=checkpoint_dir)

    def _encoder_options(self) -> dict[str, Any]:
        return {name: self.settings_[name] for name in ("numeric", "min_category_count")}

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        from pmae_core.imputers.masked._network import FittedNetwork

        coordinates = sum(max(1, column.n_categories - 1) for column in encoded.columns)
        if coordinates > MOST_COORDINATES:
            self.settings_ = self.settings_ | {"start": "none"}
        self.network_ = FittedNetwork.fit(
            encoded, self.settings_, self._sampler(self.settings_), run, self.encoder_.scalers_
        )
        self.training_result_ = self.network_.result

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        return self._trained().fill(encoded)

    def _draw_encoded(
        self, encoded: EncodedTable, n: int, rng: np.random.Generator
    ) -> Iterable[np.ndarray]:
        return self._trained().draw(encoded, n, rng)

    def _trained(self) -> FittedNetwork:
        if self.network_ is None:
            raise ImputationError("This imputer has no trained network.")
        return self.network_

    def save(self, path: str | Path) -> None:
        """Write the fitted imputer into one safetensors file, without any pickle.

        Parameters
        ----------
        path : path
            The file; :func:`pmae_core.imputers.load_imputer` reads it back.
        """
        from sklearn.utils.validation import check_is_fitted

        from pmae_core.imputers.masked import _network

        check_is_fitted(self, "encoder_")
        params = self.get_params(deep=False)
        params["schema"] = None
        if not isinstance(params["random_state"], int | None):
            params["random_state"] = None
        names = getattr(self, "feature_names_in_", None)
        state = {
            "params": params,
            "settings": self.settings_,
            "encoder": self.encoder_.to_dict(),
            "n_features_in": self.n_features_in_,
            "feature_names_in": None if names is None else list(names),
            "network": None if self.network_ is None else self.network_.state(),
        }
        groups = {} if self.network_ is None else self.network_.tensors()
        _network.write_saved(Path(path), type(self).__name__, state, groups)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the fitted imputer that :meth:`save` wrote."""
        from pmae_core.imputers.registry import load_imputer

        imputer = load_imputer(path)
        if not isinstance(imputer, cls):
            raise ImputationError(f"{path} holds a {type(imputer).__name__}, not a {cls.__name__}.")
        return imputer

    @classmethod
    def _from_saved(cls, saved: SavedImputer) -> Self:
        from pmae_core.imputers.masked._network import FittedNetwork

        state = saved.state
        imputer = cls(**state["params"])
        imputer.settings_ = state["settings"]
        imputer.encoder_ = TableEncoder.from_dict(state["encoder"])
        imputer.schema = Schema.from_dict(state["encoder"]["schema"])
        imputer.n_features_in_ = state["n_features_in"]
        if state["feature_names_in"] is not None:
            imputer.feature_names_in_ = np.array(state["feature_names_in"], dtype=object)
        imputer.network_ = None
        imputer.training_result_ = None
        if state["network"] is not None:
            imputer.network_ = FittedNetwork.restore(
                saved.groups,
                state["network"],
                imputer.encoder_.columns_,
                imputer.encoder_.scalers_,
                imputer.device,
            )
            imputer.training_result_ = imputer.network_.result
        return imputer
