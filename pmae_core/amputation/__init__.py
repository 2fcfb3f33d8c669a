"""Simulated missing values: pattern, mechanism and coupling, with the truth kept beside."""

from pmae_core.amputation.process import ampute
from pmae_core.amputation.removal import Amputation
from pmae_core.amputation.replay import ampute_like
from pmae_core.amputation.rule import AmputationRule

__all__ = ["Amputation", "AmputationRule", "ampute", "ampute_like"]
