"""Parameters that make every method quick enough for the common suite."""

from typing import Any

_SMALL_NETWORK = {"steps": 6, "width": 8, "encoder_depth": 1, "decoder_depth": 1}

FAST_PARAMS: dict[str, dict[str, Any]] = {
    "hyperimpute": {"n_rounds": 2, "n_trees": 3, "n_boosting_rounds": 3},
    "pmae-mix": _SMALL_NETWORK,
    "pmae-trf": _SMALL_NETWORK,
    "remasker": _SMALL_NETWORK,
}
