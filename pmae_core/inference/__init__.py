"""Conclusions from imputed tables: pooling, stability across methods, sensitivity."""

from pmae_core.inference.delta import DeltaCurve, shifted, tipping_point
from pmae_core.inference.stability import Pooled, conclusion_stability

__all__ = ["DeltaCurve", "Pooled", "conclusion_stability", "shifted", "tipping_point"]
