"""Which columns are missing together, in words and as a list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dashboard.missingness.facts import MissingnessFacts
from dashboard.missingness.lines import matching, partly_missing, plain_label
from dashboard.text import code
from pmae_core.missingness import (
    MissingBlock,
    MissingPatterns,
    correlate_blocks,
    never_together_sentence,
    strongest_pairs,
)
from pmae_core.words import decimals

NOTABLE_CORRELATION = 0.3
_MOST_PAIRS_IN_WORDS = 3


def strongest_first(
    patterns: MissingPatterns, blocks: Sequence[MissingBlock]
) -> list[MissingBlock]:
    """Return blocks so that those of the strongest pair come first, then those of the next one."""
    correlation = correlate_blocks(patterns, blocks) if blocks else np.zeros((0, 0))
    pairs = strongest_pairs(pd.DataFrame(correlation), len(blocks) ** 2)
    order = dict.fromkeys([*pairs[["first", "second"]].to_numpy().ravel(), *range(len(blocks))])
    return [blocks[place] for place in order]


def pairs_in_words(correlation: np.ndarray, blocks: Sequence[MissingBlock]) -> str:
    """Return the strongest pairs of the given blocks as Markdown, for above their figure."""
    pairs = strongest_pairs(pd.DataFrame(correlation), _MOST_PAIRS_IN_WORDS)
    strong = pairs[pairs["correlation"].abs() >= NOTABLE_CORRELATION]
    if strong.empty:
        return (
            "Among these columns, missingness is only weakly related: the strongest correlation is "
            f"{decimals(pairs['correlation'].iloc[0])}."
        )
    return "\n".join(
        f"- {_name(blocks[first])} and {_name(blocks[second])} {_how_often(value)} "
        f"({decimals(value)})"
        for first, second, value in strong.itertuples(index=False)
    )


def _name(block: MissingBlock) -> str:
    return code(block.columns[0]) + (
        "" if len(block.columns) == 1 else f" + {plain_label(block).rsplit(' + ', 1)[1]}"
    )


def _how_often(correlation: float) -> str:
    if correlation < -0.9999:
        return "are never missing in the same row, and one of them always is"
    if correlation < 0:
        return "are rarely missing in the same row"
    return f"are {'nearly always' if correlation > 0.9 else 'often'} missing together"


def all_pairs(facts: MissingnessFacts, search: str = "") -> pd.DataFrame:
    """List every pair of blocks, the strongest correlation first.

    Parameters
    ----------
    facts : MissingnessFacts
        Of the table.
    search : str
        Only pairs in which the name of a column contains this.
    """
    blocks = partly_missing(facts.blocks)
    correlation = correlate_blocks(facts.patterns, blocks) if blocks else np.zeros((0, 0))
    pairs = strongest_pairs(pd.DataFrame(correlation), len(blocks) ** 2)
    found = [bool(matching(block.columns, search)) for block in blocks]
    ends = pairs[["first", "second"]].to_numpy(dtype=int)
    kept = np.array([found[one] or found[two] for one, two in ends], dtype=bool)
    first, second = ends[kept].T
    both = _rows_missing_both(facts, blocks)
    return pd.DataFrame(
        {
            "First": [plain_label(blocks[place]) for place in first],
            "Second": [plain_label(blocks[place]) for place in second],
            "Correlation": pairs["correlation"].to_numpy(dtype=float)[kept],
            "Rows missing both": both[first, second],
            "Rows missing one": (
                both[first, first] + both[second, second] - 2 * both[first, second]
            ),
        }
    )


def _rows_missing_both(facts: MissingnessFacts, blocks: Sequence[MissingBlock]) -> np.ndarray:
    """Return in how many rows something of two blocks is missing, for every two."""
    patterns = facts.patterns
    if not blocks:
        return np.zeros((0, 0), dtype=int)
    misses = np.stack(
        [
            patterns.missing[:, patterns.columns.get_indexer(list(block.columns))].any(axis=1)
            for block in blocks
        ],
        axis=1,
    ).astype(float)
    return (misses.T @ (patterns.counts[:, None] * misses)).astype(int)


def never_together_sentences(facts: MissingnessFacts) -> list[str]:
    """Return as Markdown which blocks are never observed in the same row."""
    return [
        f"- {never_together_sentence(one, other, code)}"
        for one, other in facts.story.never_together
    ]
