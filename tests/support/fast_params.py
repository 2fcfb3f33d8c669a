"""Parameters that make every method quick enough for the common suite."""

from typing import Any

_SMALL_NETWORK = {"steps": 6, "width": 8, "encoder_depth": 1, "decoder_depth": 1}

FAST_PARAMS: dict[str, dict[str, Any]] = {
    "gain": {"iterations": 20},
    "hyperimpute": {"n_rounds": 2, "n_trees": 3, "n_boosting_rounds": 3},
    "igrm": {"epochs": 12, "width": 8, "renew_every": 5},
    "masked-trees": {"n_trees": 5},
    "miceforest": {"n_datasets": 2, "n_rounds": 2, "n_trees": 3},
    "miracle": {"steps": 15},
    "missforest": {"n_trees": 3, "max_iter": 2},
    "miwae": {"epochs": 3, "imputation_samples": 10},
    "pmae": {"n_trees": 5, "network_params": _SMALL_NETWORK},
    "pmae-mix": _SMALL_NETWORK,
    "pmae-trf": _SMALL_NETWORK,
    "remasker": _SMALL_NETWORK,
    "tdm": {"iterations": 20},
}
