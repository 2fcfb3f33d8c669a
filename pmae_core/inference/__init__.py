"""Conclusions from imputed tables: pooling, stability across methods, sensitivity."""

from pmae_core.inference.analysis import Analysis, analyze
from pmae_core.inference.analysis_methods import compare_analyses
from pmae_core.inference.congeniality import check_congeniality
from pmae_core.inference.delta import DeltaCurve, tipping_point
from pmae_core.inference.estimands import Estimand
from pmae_core.inference.pooling import (
    Pooled,
    PooledWald,
    enough_imputations,
    pool_estimates,
    pool_wald,
)
from pmae_core.inference.shift import shifted
from pmae_core.inference.stability import conclusion_stability

__all__ = [
    "Analysis",
    "DeltaCurve",
    "Estimand",
    "Pooled",
    "PooledWald",
    "analyze",
    "check_congeniality",
    "compare_analyses",
    "conclusion_stability",
    "enough_imputations",
    "pool_estimates",
    "pool_wald",
    "shifted",
    "tipping_point",
]
