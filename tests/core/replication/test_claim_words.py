import pytest

from pmae_core.replication import judge_claims
from pmae_core.replication.claim_words import in_short, stands_on, tally
from tests.support.paper_results import made_up_rows

POINTS = {"pmae-mix": 40, "pmae-trf": 38, "remasker": 34}


def score(variant, cell, seed):
    return POINTS.get(variant.imputer, 20) + (len(cell.dataset) + 3 * seed) % 4


def judged(**results):
    return {one.claim.name: one for one in judge_claims(results)}


@pytest.fixture(scope="module")
def measured():
    # EM is ahead, and TDM was not run.
    table_2 = made_up_rows(
        "table2",
        lambda variant, *where: score(variant, *where) + 30 * (variant.imputer == "em"),
        seeds=2,
        max_rows=2000,
        presets=["paper", "balanced"],
        method_params={"remasker": {"preset": "paper"}},
    )
    return judged(table2=table_2[table_2["method"] != "tdm"])


def test_the_tally_leaves_out_verdicts_that_no_claim_has(measured):
    nothing = list(judged().values())
    assert (
        tally(nothing) == f"Of {len(nothing)} claims in the paper, {len(nothing)} are not tested."
    )
    assert tally(nothing[:1]) == "Of 1 claim in the paper, 1 is not tested."
    some = [measured["remasker"], measured["all-methods"], measured["logit"]]
    assert tally(some) == (
        "Of 3 claims in the paper, 1 is reproduced, 1 is not reproduced and 1 is not tested."
    )


def test_one_comparison_is_its_difference(measured):
    one = measured["remasker"]
    assert in_short(one) == "+6.0 points (+6.0 to +6.0); 9 tables, up to 2,000 rows"
    sentences = stands_on(one)
    assert sentences[0] == (
        "PMAE-mix − ReMasker: +6.0 points (+6.0 to +6.0), 9 tables, 3 patterns, 2 seeds, 442 to "
        "2,000 rows."
    )
    assert "Larger tables were sampled down to 2,000 rows; the paper uses all rows." in sentences
    assert "PMAE: the paper's settings (paper)." in sentences


def test_many_comparisons_are_counted_and_the_one_against_is_named(measured):
    one = measured["all-methods"]
    assert in_short(one).startswith("9 for, 1 against, 1 untested; 9 tables")
    assert "Most clearly against: PMAE-mix − EM: −10.0 points" in stands_on(one)[0]
    assert "With our settings (balanced): not reproduced." in stands_on(one)


def test_a_preset_other_than_the_papers_is_named(measured):
    one = measured["all-methods"]
    assert "preset" not in in_short(one)
    assert in_short(one.others[0]).endswith(", preset balanced")


def test_what_is_needed_is_said():
    few = judged(mechanisms=made_up_rows("mechanisms", score, seeds=2, datasets=["wine"]))
    assert in_short(few["mechanisms"]) == "needs 5 tables with 2 seeds each"
    assert stands_on(few["mechanisms"])[0].endswith("So far 1 table has that.")
    assert in_short(few["logit"]) == "needs diabetes, wine and shoppers with 3 seeds each"
