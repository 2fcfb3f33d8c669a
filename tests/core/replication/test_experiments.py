import pytest

from pmae_core.errors import ScoringError
from pmae_core.replication import EXPERIMENTS, Selection
from pmae_core.replication.printed_figures import PAPER_NAMES


def test_table_2_is_all_methods_on_all_tables():
    plan = EXPERIMENTS["table2"].plan(Selection(seeds=10))
    assert len(plan.datasets) == 9
    assert [variant.imputer for variant in plan.variants] == list(PAPER_NAMES)
    assert plan.n_tasks == 9 * 3 * 14 * 10


def test_presets_are_rows_of_their_own():
    plan = EXPERIMENTS["table2"].plan(
        Selection(methods=["em", "pmae-mix"], presets=["balanced", "paper"])
    )
    assert [v.label for v in plan.variants] == ["em", "pmae-mix", "pmae-mix-preset=paper"]


def test_the_ablation_goes_step_by_step():
    variants = EXPERIMENTS["table4"].plan(Selection()).variants
    steps = [tuple(v.describe()[name] for name in ("loss", "masking")) for v in variants]
    assert [v.imputer for v in variants] == ["remasker", "remasker", "pmae-trf", "pmae-mix"]
    assert steps[0] == ("remasker", "uniform 0.5")
    assert steps[1] == ("paper", "uniform 0.5")
    assert steps[2] == steps[3] == ("paper", "logit")


def test_experiments_share_what_they_have_in_common():
    chosen = Selection(methods=["pmae-mix", "pmae-trf", "remasker"], presets=["paper-steps"])
    labels = {
        name: {variant.label for variant in EXPERIMENTS[name].plan(chosen).variants}
        for name in ("table2", "table3", "table4", "grid")
    }
    assert "pmae-mix-preset=paper-steps" in set.intersection(*labels.values())
    assert len(labels["table3"]) == 2 * 8
    assert len(labels["grid"]) == 2 * 25


@pytest.mark.parametrize(
    ("chosen", "complaint"),
    [
        ({"datasets": ["titanic"]}, "no dataset 'titanic'. Choose from"),
        ({"patterns": ["round"]}, "no pattern 'round'"),
        ({"mechanisms": ["magic"]}, "no mechanism 'magic'"),
        ({"methods": ["guess"]}, "no method 'guess'"),
        ({"methods": ["auto"]}, "The method 'auto' was retired: use 'pmae'"),
        ({"presets": ["huge"]}, "no preset 'huge'"),
        ({"methods": ["em"]}, "table3 runs pmae-mix"),
        ({"seeds": 0}, "seeds must be at least 1"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(chosen, complaint):
    with pytest.raises(ScoringError, match=complaint):
        EXPERIMENTS["table3"].plan(Selection(**chosen))
