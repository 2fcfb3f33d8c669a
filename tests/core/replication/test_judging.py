"""Results made up so that each verdict has to come out."""

import pandas as pd
import pytest

from pmae_core.replication import EXPERIMENTS, Verdict, claims_table, judge_claims
from pmae_core.replication.claims import CLAIMS
from pmae_core.replication.printed_figures import DATASETS
from tests.support.paper_results import made_up_rows

REPRODUCED, NOT_REPRODUCED, NOT_DECIDED, NOT_TESTED = Verdict
# Points by method, in the order that the paper claims.
AS_CLAIMED = {"pmae-mix": 40, "pmae-trf": 38, "remasker": 34}


def wobble(variant, cell, seed):
    """Return noise of tables and seeds that differs between variants."""
    return (3 * DATASETS.index(cell.dataset) + 5 * seed + 7 * len(variant.label)) % 11 / 20


def as_claimed(variant, cell, seed):
    bonus = 1.5 if variant.label.endswith("loss=paper") else 0
    return AS_CLAIMED.get(variant.imputer, 20) + bonus + wobble(variant, cell, seed)


def judged(name, results):
    return next(one for one in judge_claims(results) if one.claim.name == name)


def table_4(score=as_claimed, **chosen):
    return made_up_rows("table4", score, **{"seeds": 2, **chosen})


def test_without_results_nothing_is_tested():
    claims = judge_claims({})
    assert [one.claim for one in claims] == list(CLAIMS)
    assert {one.verdict for one in claims} == {NOT_TESTED}
    assert all(one.command.startswith("pmae benchmark ") for one in claims)
    assert {one.verdict for one in judge_claims({"table2": pd.DataFrame()})} == {NOT_TESTED}


def test_results_in_the_order_of_the_paper_reproduce_it():
    results = {"table4": table_4(), "table2": made_up_rows("table2", as_claimed, seeds=2)}
    found = {one.claim.name: one for one in judge_claims(results)}
    for name in ("remasker", "remasker-patterns", "all-methods", "data-types", "mixer", "steps"):
        assert found[name].verdict == REPRODUCED, name
        assert found[name].command == ""
    assert found["logit"].verdict == NOT_TESTED
    finding = found["remasker"].findings[0]
    assert finding.interval.mean == pytest.approx(6, abs=0.6)
    assert set(finding.basis.tables) == set(DATASETS)
    assert set(finding.basis.seeds.values()) == {2}
    assert finding.basis.rows["adult"] == 48_842


def test_results_against_the_paper_do_not_reproduce_it():
    upside_down = {"table4": table_4(lambda *where: -as_claimed(*where))}
    assert judged("remasker", upside_down).verdict == NOT_REPRODUCED
    assert judged("mixer", upside_down).verdict == NOT_REPRODUCED


def test_results_of_both_signs_decide_nothing():
    def torn(variant, cell, seed):
        sign = 1 if DATASETS.index(cell.dataset) % 2 else -1
        return sign * as_claimed(variant, cell, seed)

    assert judged("remasker", {"table4": table_4(torn)}).verdict == NOT_DECIDED


@pytest.mark.parametrize(
    "few", [{"seeds": 1}, {"datasets": DATASETS[:4]}, {"patterns": ["general"]}]
)
def test_too_few_tables_seeds_or_patterns_test_nothing(few):
    one = judged("remasker", {"table4": table_4(**few)})
    assert one.verdict == NOT_TESTED
    assert one.command == "pmae benchmark table4 --seeds 2 --methods pmae-mix,remasker"


def test_one_method_ahead_is_enough_against_the_best_of_all():
    def em_ahead(variant, cell, seed):
        return as_claimed(variant, cell, seed) + (30 if variant.imputer == "em" else 0)

    one = judged("all-methods", {"table2": made_up_rows("table2", em_ahead, seeds=2)})
    assert one.verdict == NOT_REPRODUCED
    assert [f.label for f in one.findings if f.verdict == NOT_REPRODUCED] == ["PMAE-mix − EM"]


def test_a_method_that_was_not_run_leaves_the_claim_open():
    rows = made_up_rows("table2", as_claimed, seeds=2)
    one = judged("all-methods", {"table2": rows[rows["method"] != "tdm"]})
    assert one.verdict == NOT_DECIDED
    assert one.n_tested == len(one.findings) - 1
    assert one.command == "pmae benchmark table2 --seeds 2 --methods pmae-mix,tdm"


def test_pairs_need_both_sides_in_the_same_cell():
    rows = table_4()
    is_pmae = rows["method"] == "pmae-mix"
    # Only what is missing on one side differs much: no unpaired result may count.
    rows.loc[is_pmae & (rows["dataset"] == "adult"), "imputation_accuracy"] = 0.99
    without = rows[~((rows["method"] == "remasker") & (rows["dataset"] == "adult"))]
    finding = judged("remasker", {"table4": without}).findings[0]
    assert "adult" not in finding.basis.tables
    assert finding.interval.mean == pytest.approx(6, abs=0.6)
    # Other rows of a table, another mechanism or coupling, and failures are no partners either.
    for column, value in {
        "n_rows": 7,
        "mechanism": "MCAR",
        "coupling": "independent",
        "status": "failed",
    }.items():
        other = rows.astype({"n_rows": object})
        other.loc[is_pmae, column] = value
        assert judged("remasker", {"table4": other}).verdict == NOT_TESTED, column


def test_the_order_of_rows_changes_nothing():
    results = {"table4": table_4(), "mechanisms": made_up_rows("mechanisms", as_claimed, seeds=2)}
    shuffled = {name: rows.sample(frac=1, random_state=1) for name, rows in results.items()}
    first = claims_table(judge_claims(results))
    pd.testing.assert_frame_equal(first, claims_table(judge_claims(shuffled)))


def test_the_preset_closest_to_the_paper_comes_first_among_equals():
    def ours_behind(variant, cell, seed):
        return as_claimed(variant, cell, seed) - 30 * (variant.label == "pmae-mix")

    rows = made_up_rows(
        "table2",
        ours_behind,
        seeds=2,
        methods=["pmae-mix", "em"],
        presets=["balanced", "paper-steps", "paper"],
    )
    one = judged("all-methods", {"table2": rows})
    assert one.preset == "paper"
    assert [other.preset for other in one.others] == ["paper-steps", "balanced"]
    assert one.findings[2].verdict == REPRODUCED
    assert one.others[1].verdict == NOT_REPRODUCED


def test_remasker_is_trained_as_long_as_pmae():
    rows = made_up_rows("table2", as_claimed, seeds=2, methods=["pmae-mix"], presets=["paper"])
    short = made_up_rows("table2", as_claimed, seeds=2, methods=["remasker"])
    assert judged("remasker", {"table2": pd.concat([rows, short])}).verdict == NOT_TESTED
    long = {"remasker": {"preset": "paper"}}
    same = made_up_rows("table2", as_claimed, seeds=2, methods=["remasker"], method_params=long)
    assert judged("remasker", {"table2": pd.concat([rows, same])}).verdict == REPRODUCED


def test_two_experiments_add_their_pairs():
    halves = {"table4": table_4(datasets=DATASETS[:3]), "table2": table_4(datasets=DATASETS[2:])}
    assert len(judged("remasker", halves).findings[0].basis.tables) == len(DATASETS)


def masking(variant, cell, seed):
    points = {"no_reconstruction": 5, "no_prediction": 5, "reversed": 20, "constant": 25}
    name = variant.params.get("masking", "logit")
    return points.get(name, 30 if name == "logit" else 22) + wobble(variant, cell, seed)


def test_masking_functions_are_about_three_tables_and_need_three_seeds():
    rows = made_up_rows("table3", masking)
    for name in ("logit", "balance", "reversed"):
        assert judged(name, {"table3": rows}).verdict == REPRODUCED
    two = judged("logit", {"table3": rows[rows["seed"] < 2]})
    assert two.verdict == NOT_TESTED
    assert two.command == "pmae benchmark table3 --seeds 3"
    two_tables = rows[rows["dataset"] != "shoppers"]
    assert judged("logit", {"table3": two_tables}).verdict == NOT_TESTED

    def constant_ahead(variant, cell, seed):
        is_constant = variant.params.get("masking") == "constant"
        return masking(variant, cell, seed) + 10 * is_constant

    ahead = judged("logit", {"table3": made_up_rows("table3", constant_ahead)})
    assert ahead.verdict == NOT_REPRODUCED


def test_the_grid_is_flat_only_within_a_point():
    def slope(per_step):
        def score(variant, cell, seed):
            b = variant.params.get("b", 0.5)
            return 30 - per_step * abs(b - 0.5) * 10 + wobble(variant, cell, seed) / 10

        return {"grid": made_up_rows("grid", score)}

    assert judged("flat", slope(0)).verdict == REPRODUCED
    assert judged("flat", slope(4)).verdict == NOT_REPRODUCED
    # Worse all around is what the paper says of the other pairs.
    assert judged("grid", slope(4)).verdict == REPRODUCED
    assert judged("grid", slope(-4)).verdict == NOT_REPRODUCED


def test_mechanisms_average_over_methods_that_have_all_three():
    def score(variant, cell, seed):
        easier = {"MCAR": 4, "MAR": 3, "MNAR": 0}[cell.mechanism]
        return as_claimed(variant, cell, seed) + easier

    rows = made_up_rows("mechanisms", score, seeds=2)
    one = judged("mechanisms", {"mechanisms": rows})
    assert one.verdict == REPRODUCED
    assert [round(finding.interval.mean, 6) for finding in one.findings] == [4, 3]
    assert one.preset is None
    # A method without MNAR would make the others look harder or easier.
    half = rows[~((rows["method"] == "pmae-mix") & (rows["mechanism"] == "MNAR"))]
    again = judged("mechanisms", {"mechanisms": half})
    assert [round(finding.interval.mean, 6) for finding in again.findings] == [4, 3]


def test_downstream_is_judged_by_classes():
    one = judged("downstream", {"downstream": made_up_rows("downstream", as_claimed, seeds=2)})
    assert one.verdict == REPRODUCED
    assert set(one.findings[0].basis.tables) == set(DATASETS) - {"diabetes", "news"}


def test_the_table_has_every_comparison():
    rows = claims_table(judge_claims({"table4": table_4()}))
    assert set(rows["claim"]) == {claim.name for claim in CLAIMS}
    steps = rows[rows["claim"] == "steps"]
    assert steps["comparison_verdict"].tolist() == ["reproduced"] * 3
    assert (steps["low_points"] < steps["difference_points"]).all()
    assert set(EXPERIMENTS) >= {name for claim in CLAIMS for name in claim.experiments}
