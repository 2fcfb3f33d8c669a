"""An imputer with certain parameters, and a label that names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pmae_core.imputers import list_imputers, make_imputer
from pmae_core.imputers.masked.presets import PRESETS
from pmae_core.masking import list_masking_functions

AUTOENCODERS = ("pmae-mix", "pmae-trf", "remasker")
_UNIFORM = "uniform 0.5"


@dataclass(frozen=True)
class Variant:
    """An imputer with the parameters that differ from its defaults.

    The same variant has the same label in every experiment, so that experiments share results.

    Parameters
    ----------
    imputer : str
        Name of an imputer.
    params : mapping
        Its parameters; values equal to the defaults are dropped.

    Examples
    --------
    >>> Variant("pmae-mix", {"preset": "paper-steps", "masking": "linear"}).label
    'pmae-mix-masking=linear-preset=paper-steps'
    >>> Variant("pmae-mix", {"preset": "balanced", "a": 0.05}).label
    'pmae-mix'
    """

    imputer: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = {info.name for info in list_imputers()}
        usual = _defaults(self.imputer) if self.imputer in known else {}
        own = {name: value for name, value in self.params.items() if usual.get(name) != value}
        object.__setattr__(self, "params", dict(sorted(own.items())))

    @property
    def label(self) -> str:
        """The name under which results are kept."""
        return "-".join([self.imputer, *(f"{name}={value}" for name, value in self.params.items())])

    def describe(self) -> dict[str, Any]:
        """Return the settings that the experiments vary; None if a method does not have them."""
        if self.imputer not in AUTOENCODERS:
            return dict.fromkeys(("preset", "masking", "a", "b", "loss", "architecture"))
        params = {**_defaults(self.imputer), **self.params}
        is_pmae = self.imputer != "remasker"
        masking = params["masking"] if is_pmae else _UNIFORM
        with_slope = masking == "logit"
        return {
            "preset": params["preset"],
            "masking": masking,
            "a": params["a"] if with_slope else None,
            "b": params["b"] if with_slope else None,
            "loss": params["loss"] or PRESETS[params["preset"]]["loss"],
            "architecture": params["architecture"] if is_pmae else "transformer",
        }


def _defaults(imputer: str) -> dict[str, Any]:
    """Return the default parameters of an imputer."""
    defaults: dict[str, Any] = make_imputer(imputer).get_params(deep=False)
    if "masking" in defaults:
        logit = next(one for one in list_masking_functions() if one.name == "logit")
        defaults |= logit.parameters
    return defaults
