"""Conclusions from imputed tables: pooling, stability across methods, sensitivity."""

from pmae_core.inference.delta import DeltaCurve, tipping_point
from pmae_core.inference.estimands import Estimand
from pmae_core.inference.pooling import Pooled, pool_estimates
from pmae_core.inference.shift import shifted
from pmae_core.inference.stability import conclusion_stability

__all__ = [
    "DeltaCurve",
    "Estimand",
    "Pooled",
    "conclusion_stability",
    "pool_estimates",
    "shifted",
    "tipping_point",
]
