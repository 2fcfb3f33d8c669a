"""Making holes on purpose: pattern, mechanism and coupling, with the truth kept beside."""

from pmae_core.amputation.process import Amputation, ampute
from pmae_core.amputation.replay import ampute_like

__all__ = ["Amputation", "ampute", "ampute_like"]
