"""Fitted imputers in one safetensors file each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pmae_core.errors import ImputationError
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.parameters import plain_params
from pmae_core.storage.arrays import ArrayGroups, read_arrays, write_arrays
from pmae_core.table import Schema, TableEncoder


@dataclass(frozen=True)
class FittedParts:
    """What a fit has made, ready to be written.

    Attributes
    ----------
    state : dict
        Everything but the arrays, as JSON-able data.
    groups : dict
        The arrays, by group and name.
    """

    state: dict[str, Any]
    groups: ArrayGroups


@dataclass(frozen=True)
class SavedImputer:
    """What a model file holds.

    Attributes
    ----------
    class_name : str
        Name of the imputer's class.
    state : dict
        Parameters, encoder and columns.
    parts : FittedParts
        What the fit has made.
    """

    class_name: str
    state: dict[str, Any]
    parts: FittedParts


class SavingImputer(BaseImputer):
    """Base of imputers that can be saved; a subclass says what a fit has made."""

    def _fitted_parts(self) -> FittedParts:
        """Return what a fit has made."""
        raise NotImplementedError

    def _restore_parts(self, parts: FittedParts) -> None:
        """Take over what :meth:`_fitted_parts` returned; the encoder is restored already."""
        raise NotImplementedError

    def save(self, path: str | Path) -> None:
        """Write the fitted imputer into one safetensors file, without any pickle.

        Parameters
        ----------
        path : path
            The file; :func:`pmae_core.imputers.load_imputer` reads it.
        """
        check_is_fitted(self, "encoder_")
        params = plain_params(self) | {"schema": None}
        if not isinstance(params["random_state"], int | None):
            params["random_state"] = None
        names = getattr(self, "feature_names_in_", None)
        parts = self._fitted_parts()
        state = {
            "params": params,
            "encoder": self.encoder_.to_dict(),
            "n_features_in": self.n_features_in_,
            "feature_names_in": None if names is None else list(names),
            "fitted": parts.state,
        }
        write_arrays(Path(path), parts.groups, {"class": type(self).__name__, "imputer": state})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the fitted imputer that :meth:`save` wrote."""
        saved = read_saved(Path(path))
        if saved.class_name != cls.__name__:
            raise ImputationError(f"{path} holds a {saved.class_name}, not a {cls.__name__}.")
        imputer: Self = restore_imputer(cls, saved)
        return imputer


def read_saved(path: Path) -> SavedImputer:
    """Read a model file; nothing is ever unpickled."""
    try:
        groups, content = read_arrays(path)
        state = content["imputer"]
        return SavedImputer(content["class"], state, FittedParts(state["fitted"], groups))
    except FileNotFoundError:
        raise ImputationError(f"There is no model file {path}.") from None
    except (OSError, ValueError, KeyError) as error:
        raise ImputationError(f"{path} is not a saved imputer: {error}") from error


def restore_imputer(imputer_class: Any, saved: SavedImputer) -> Any:
    """Return the fitted imputer of a class that a model file describes."""
    state = saved.state
    imputer = imputer_class(**_as_given(state["params"]))
    imputer.encoder_ = TableEncoder.from_dict(state["encoder"])
    imputer.schema = Schema.from_dict(state["encoder"]["schema"])
    imputer.n_features_in_ = state["n_features_in"]
    if state["feature_names_in"] is not None:
        imputer.feature_names_in_ = np.array(state["feature_names_in"], dtype=object)
    imputer._restore_parts(saved.parts)
    return imputer


def _as_given(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters read from JSON, in which a tuple became a list."""
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in params.items()
    }
