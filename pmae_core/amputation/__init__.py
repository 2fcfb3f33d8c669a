"""Simulated missing values: pattern, mechanism and coupling, with the truth kept beside."""

from pmae_core.amputation.process import ampute
from pmae_core.amputation.removal import Amputation
from pmae_core.amputation.replay import ampute_like

__all__ = ["Amputation", "ampute", "ampute_like"]
