"""What is missing: how much, where, and in which patterns."""

from pmae_core.missingness.summary import MissingnessSummary, summarise_missingness

__all__ = ["MissingnessSummary", "summarise_missingness"]
