"""The masking functions ``M_j`` and the sampling of the extra mask."""

from pmae_core.masking.functions import (
    MaskingFunction,
    list_masking_functions,
    masking_function,
    masking_probability,
    observed_proportion,
)
from pmae_core.masking.sampling import MaskSampler, RandomKeepSampler, Sampler

__all__ = [
    "MaskSampler",
    "MaskingFunction",
    "RandomKeepSampler",
    "Sampler",
    "list_masking_functions",
    "masking_function",
    "masking_probability",
    "observed_proportion",
]
