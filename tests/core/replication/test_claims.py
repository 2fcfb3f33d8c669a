import pytest

from pmae_core.replication import EXPERIMENTS, Selection, Variant
from pmae_core.replication.claims import CLAIMS, PRESETS
from pmae_core.replication.experiments import MECHANISMS


def labels_of(experiment, presets):
    """Return the variants that a run of the experiment has, ReMasker as long as PMAE."""
    selections = [Selection(presets=presets)]
    selections += [
        Selection(presets=presets, method_params={"remasker": {"preset": preset}})
        for preset in presets
        if experiment != "table4"
    ]
    plans = [EXPERIMENTS[experiment].plan(selection) for selection in selections]
    return {variant.label for plan in plans for variant in plan.variants}


def test_claims_have_names_of_their_own():
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
    assert len({claim.sentence for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_the_experiment_of_a_claim_has_both_sides(claim):
    labels = labels_of(claim.experiments[0], claim.presets or ["balanced"])
    for preset in claim.presets or ("",):
        comparisons = claim.compare(preset)
        assert len({one.label for one in comparisons}) == len(comparisons)
        for one in comparisons:
            sides = [one.first, one.second]
            assert one.first != one.second
            names = [side.label for side in sides if isinstance(side, Variant)]
            assert set(names) <= labels
            assert len(names) == 2 or set(sides) <= set(MECHANISMS)
            assert set(one.patterns) <= set(EXPERIMENTS[claim.experiments[0]].patterns)


def test_the_paper_comes_before_our_presets():
    assert PRESETS[0] == "paper"
    assert {preset for claim in CLAIMS for preset in claim.presets} == set(PRESETS)
