"""The masking functions ``M_j``, the sampling of the extra mask, and held-out cells."""

from pmae_core.masking.functions import (
    UNIFORM_RATE,
    MaskingFunction,
    list_masking_functions,
    masking_function,
    masking_probability,
    observed_proportion,
)
from pmae_core.masking.holdout import HeldOut, hold_out_cells
from pmae_core.masking.sampling import MaskSampler, RandomKeepSampler, Sampler

__all__ = [
    "UNIFORM_RATE",
    "HeldOut",
    "MaskSampler",
    "MaskingFunction",
    "RandomKeepSampler",
    "Sampler",
    "hold_out_cells",
    "list_masking_functions",
    "masking_function",
    "masking_probability",
    "observed_proportion",
]
