import numpy as np
import pandas as pd
import pytest

from dashboard.missingness import together
from dashboard.missingness.facts import MissingnessFacts
from dashboard.missingness.lines import partly_missing
from pmae_core.missingness import correlate_blocks
from tests.support.wide_survey import wide_survey


def facts_of(cells, names="abcdef"):
    frame = pd.DataFrame(np.where(np.array(cells, dtype=bool), np.nan, 1.0))
    return MissingnessFacts.of(frame.set_axis(list(names[: frame.shape[1]]), axis=1))


@pytest.mark.parametrize(
    ("correlation", "words"),
    [
        (0.95, "`a` and `b` are nearly always missing together (0.95)"),
        (0.5, "`a` and `b` are often missing together (0.50)"),
        (-0.5, "`a` and `b` are rarely missing in the same row (−0.50)"),
        (-1.0, "`a` and `b` are never missing in the same row, and one of them always is (−1.00)"),
        (0.1, "only weakly related: the strongest correlation is 0.10"),
    ],
)
def test_pairs_in_words(correlation, words):
    blocks = facts_of([[1, 0], [0, 1], [0, 1]]).blocks
    blocks = sorted(blocks, key=lambda block: block.columns)
    matrix = np.array([[1, correlation], [correlation, 1]])
    assert words in together.pairs_in_words(matrix, blocks)


def test_words_name_only_the_given_blocks():
    facts = MissingnessFacts.of(wide_survey(400))
    blocks = [block for block in partly_missing(facts.blocks) if len(block.columns) == 1][:2]
    words = together.pairs_in_words(np.array([[1, 0.9], [0.9, 1]]), blocks)
    assert all(f"`{block.columns[0]}`" in words for block in blocks)
    assert "form_" not in words


def test_blocks_of_the_strongest_pair_come_first():
    facts = MissingnessFacts.of(wide_survey(400))
    blocks = partly_missing(facts.blocks)
    ordered = together.strongest_first(facts.patterns, blocks[::-1])
    assert {block.columns[0] for block in ordered[:2]} == {"form_a_1", "form_b_1"}
    assert sorted(block.columns for block in ordered) == sorted(block.columns for block in blocks)


def test_all_pairs_are_listed_with_their_rows():
    facts = facts_of([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 0]])
    pairs = together.all_pairs(facts)
    assert len(pairs) == 3
    blocks = [block.columns[0] for block in facts.blocks]
    correlation = pd.DataFrame(correlate_blocks(facts.patterns, facts.blocks), blocks, blocks)
    for _, pair in pairs.iterrows():
        one, other = facts.patterns.missing[:, [blocks_place(facts, pair[end]) for end in _ENDS]].T
        counts = facts.patterns.counts
        assert pair["Correlation"] == pytest.approx(correlation.loc[pair["First"], pair["Second"]])
        assert pair["Rows missing both"] == counts[one & other].sum()
        assert pair["Rows missing one"] == counts[one ^ other].sum()
    assert pairs["Correlation"].abs().is_monotonic_decreasing


_ENDS = ("First", "Second")


def blocks_place(facts, name):
    return list(facts.patterns.columns).index(name)


def test_pairs_can_be_searched():
    facts = facts_of([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 0]])
    pairs = together.all_pairs(facts, "C")
    assert len(pairs) == 2
    assert all("c" in pair for pair in zip(pairs["First"], pairs["Second"], strict=True))
    assert together.all_pairs(facts, "nobody").empty


def test_a_table_without_pairs_has_an_empty_list():
    assert together.all_pairs(facts_of([[0, 1], [0, 0]])).empty
