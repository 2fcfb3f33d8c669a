"""Do point accuracy and distribution name the same method? A sentence where they do not."""

from __future__ import annotations

from collections.abc import Mapping

from pmae_core.evaluation.comparison import RANKED_BY, Comparison

# All methods have it, one imputation or several, and it sees how columns are related.
DISTRIBUTION = "energy_distance"


def disagreement(comparison: Comparison) -> tuple[str, str] | None:
    """Return the method best on single cells and the one best in distribution, if they differ.

    They differ only if neither is tied with the best by the other's score.

    Parameters
    ----------
    comparison : Comparison
        The results.
    """
    if DISTRIBUTION not in comparison.rankable():
        return None
    on_cells, in_distribution = comparison.ranks(RANKED_BY), comparison.ranks(DISTRIBUTION)
    if on_cells.empty or in_distribution.empty:
        return None
    closest, alike = str(on_cells.index[0]), str(in_distribution.index[0])
    is_tied = on_cells["rank"].get(alike) == 1 or in_distribution["rank"].get(closest) == 1
    return None if is_tied else (closest, alike)


def disagreement_sentence(comparison: Comparison, titles: Mapping[str, str] | None = None) -> str:
    """Say that point accuracy and distribution disagree; empty if they do not.

    Parameters
    ----------
    comparison : Comparison
        The results.
    titles : mapping, optional
        What to call the methods.
    """
    methods = disagreement(comparison)
    if methods is None:
        return ""
    closest, alike = ((titles or {}).get(name, name) for name in methods)
    return (
        f"{closest} is closest on single cells; imputations by {alike} resemble the distribution "
        "of the data more."
    )
