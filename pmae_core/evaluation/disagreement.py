"""Do point accuracy and distribution name the same method? A sentence where they do not."""

from __future__ import annotations

from collections.abc import Mapping

from pmae_core.evaluation.comparison import RANKED_BY, Comparison

# All methods have it, one imputation or several, and it sees how columns are related.
DISTRIBUTION = "energy_distance"


def disagreement(comparison: Comparison) -> tuple[str, str] | None:
    """Return the method best on single cells and the one best in distribution, if they differ.

    They differ only if the first is not tied with the second in distribution.

    Parameters
    ----------
    comparison : Comparison
        The results.
    """
    if DISTRIBUTION not in comparison.rankable():
        return None
    on_cells, in_distribution = comparison.ranks(RANKED_BY), comparison.ranks(DISTRIBUTION)
    if on_cells.empty or in_distribution["rank"].get(on_cells.index[0], 1) == 1:
        return None
    return str(on_cells.index[0]), str(in_distribution.index[0])


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
    is_tied = comparison.ranks(RANKED_BY)["rank"].get(methods[1]) == 1
    beginning = f"{closest} is closest on single cells"
    if is_tied:
        beginning = f"{closest} and {alike} are tied on single cells"
    return f"{beginning}; imputations by {alike} resemble the distribution of the data more."
