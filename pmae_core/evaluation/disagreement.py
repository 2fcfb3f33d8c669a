"""Do point accuracy and distribution name the same method? A sentence where they do not."""

from __future__ import annotations

from collections.abc import Mapping

from pmae_core.evaluation.comparison import RANKED_BY, Comparison


def disagreement_sentence(comparison: Comparison, titles: Mapping[str, str] | None = None) -> str:
    """Say that point accuracy and distribution disagree; empty if they do not.

    Parameters
    ----------
    comparison : Comparison
        The results.
    titles : mapping, optional
        What to call the methods.
    """
    methods = comparison.disagreement()
    if methods is None:
        return ""
    closest, alike = ((titles or {}).get(name, name) for name in methods)
    is_tied = comparison.ranks(RANKED_BY)["rank"].get(methods[1]) == 1
    beginning = f"{closest} is closest on single cells"
    if is_tied:
        beginning = f"{closest} and {alike} are tied on single cells"
    return f"{beginning}; imputations by {alike} resemble the distribution of the data more."
