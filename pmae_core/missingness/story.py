"""The main facts about a table's missing values, in a sentence or two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.missingness._columns import places_of
from pmae_core.missingness.blocks import MissingBlock, find_blocks
from pmae_core.missingness.patterns import MissingPatterns, find_patterns
from pmae_core.words import count, listed, percent

WriteName = Callable[[Any], str]

# Blocks up to this many columns are named in full.
_NAMED_IN_FULL = 3


@dataclass(frozen=True)
class MissingnessStory:
    """What to know first about a table's missing values.

    Attributes
    ----------
    largest_loss : MissingBlock or None
        The partly missing block or column with the largest share of missing cells.
    main_block : MissingBlock or None
        Of the partly missing blocks with several columns, the one with most missing cells.
    never_together : tuple of pairs of MissingBlock
        Blocks that are never observed in the same row, those with most columns first.
    empty : MissingBlock or None
        The columns without observed values.
    """

    largest_loss: MissingBlock | None
    main_block: MissingBlock | None
    never_together: tuple[tuple[MissingBlock, MissingBlock], ...]
    empty: MissingBlock | None

    def sentences(self, write: WriteName = str) -> list[str]:
        """Return the facts in words, the most important first.

        Parameters
        ----------
        write : callable, default str
            How to write the name of a column.
        """
        found = [
            self.main_block and block_sentence(self.main_block, write),
            self.never_together and _never_together_sentence(self.never_together, write),
            self.largest_loss != self.main_block and _loss_sentence(self.largest_loss, write),
            self.empty and _empty_sentence(self.empty, write),
        ]
        return [sentence for sentence in found if sentence]


def tell_story(
    table: pd.DataFrame | MissingPatterns, blocks: Sequence[MissingBlock] | None = None
) -> MissingnessStory:
    """Find the main facts about a table's missing values.

    Parameters
    ----------
    table : DataFrame or MissingPatterns
        The table, or its patterns if they were found before.
    blocks : sequence of MissingBlock, optional
        What :func:`find_blocks` returned, if it is known.

    Examples
    --------
    >>> df = pd.DataFrame({"x": range(6), "a": [1, 2, 3, None, None, None]})
    >>> df["b"] = df["a"]
    >>> tell_story(df).sentences()
    ['a and b are missing in the same 3 rows, the last of the file.']
    """
    patterns = find_patterns(table)
    blocks = find_blocks(patterns) if blocks is None else blocks
    partly = [block for block in blocks if not block.is_complete and not block.is_empty]
    several = [block for block in partly if len(block.columns) > 1]
    return MissingnessStory(
        largest_loss=max(partly, key=lambda block: block.share_missing, default=None),
        main_block=max(several, key=lambda block: block.n_missing, default=None),
        never_together=_never_together(patterns, partly),
        empty=next((block for block in blocks if block.is_empty), None),
    )


def _never_together(
    patterns: MissingPatterns, blocks: Sequence[MissingBlock]
) -> tuple[tuple[MissingBlock, MissingBlock], ...]:
    """Return the pairs of blocks of which no two columns are observed in the same row."""
    # Of a block's columns, one at least is observed wherever not all are missing.
    observed = {
        block: ~patterns.missing[:, places_of(patterns.columns, block.columns)].all(axis=1)
        for block in blocks
    }
    pairs = [
        pair
        for pair in combinations(blocks, 2)
        if sum(block.n_rows_all for block in pair) >= patterns.n_rows
        and not np.any(observed[pair[0]] & observed[pair[1]])
    ]
    return tuple(sorted(pairs, key=lambda pair: -sum(len(block.columns) for block in pair)))


# In words


def block_name(block: MissingBlock, write: WriteName = str) -> str:
    """Return a block's columns in words: all of a few, else the first and how many others.

    Examples
    --------
    >>> df = pd.DataFrame({name: [1, None] for name in "abcd"})
    >>> block_name(find_blocks(df)[0])
    'a and 3 others'
    """
    if len(block.columns) <= _NAMED_IN_FULL:
        return listed(write(name) for name in block.columns)
    return f"{write(block.columns[0])} and {count(len(block.columns) - 1)} others"


def block_sentence(block: MissingBlock, write: WriteName = str) -> str:
    """Return in which rows the columns of a block are missing, in words."""
    name = block_name(block, write)
    verb = "is" if len(block.columns) == 1 else "are"
    if block.is_exact:
        same = "the same " if len(block.columns) > 1 else ""
        return f"{name} {verb} missing in {same}{count(block.n_rows_all, 'row')}{_place(block)}."
    return (
        f"{name} are missing in nearly the same rows: {count(block.n_rows_all, 'row')} of the "
        f"{count(block.n_rows_any)} that miss one of them miss all{_place(block)}."
    )


def _place(block: MissingBlock) -> str:
    if block.place == "scattered":
        return ""
    if block.place == "between":
        return f" (rows {count(block.first_row)} to {count(block.last_row)} of the file)"
    return f", the {block.place} of the file"


def _loss_sentence(block: MissingBlock | None, write: WriteName) -> str:
    if block is None:
        return ""
    share = percent(block.share_missing)
    name = block_name(block, write)
    if not block.is_exact:
        return f"{name} have the largest shares of missing values: {share} on average."
    verb = "has" if len(block.columns) == 1 else "have"
    return f"{name} {verb} the largest share of missing values: {share}."


def never_together_sentence(one: MissingBlock, other: MissingBlock, write: WriteName = str) -> str:
    """Return that two blocks are never observed in the same row, in words."""
    verb = "is" if len(one.columns) == 1 else "are"
    return (
        f"{block_name(one, write)} {verb} never observed in the same row as "
        f"{block_name(other, write)}."
    )


def _never_together_sentence(
    pairs: Sequence[tuple[MissingBlock, MissingBlock]], write: WriteName
) -> str:
    sentence = never_together_sentence(*pairs[0], write)
    if len(pairs) == 1:
        return sentence
    return f"{sentence} The same holds for {count(len(pairs) - 1, 'other pair')} of groups."


def _empty_sentence(block: MissingBlock, write: WriteName) -> str:
    verb = "has" if len(block.columns) == 1 else "have"
    return f"{block_name(block, write)} {verb} no observed values."
