import pytest

from pmae_core.replication import Variant


def test_defaults_have_no_part_in_the_label():
    plain = Variant("pmae-mix")
    same = Variant("pmae-mix", {"preset": "balanced", "masking": "logit", "a": 0.05, "b": 0.5})
    assert plain == same
    assert plain.label == "pmae-mix"
    assert Variant("remasker", {"preset": "paper-steps"}).label == "remasker"


def test_the_order_of_parameters_does_not_matter():
    one = Variant("pmae-trf", {"steps": 5, "preset": "paper"})
    other = Variant("pmae-trf", {"preset": "paper", "steps": 5})
    assert one.label == other.label == "pmae-trf-preset=paper-steps=5"


@pytest.mark.parametrize(
    ("variant", "described"),
    [
        (
            Variant("pmae-mix", {"preset": "paper-steps"}),
            ("paper-steps", "logit", 0.05, 0.5, "paper", "mixer"),
        ),
        (
            Variant("pmae-trf", {"masking": "linear"}),
            ("balanced", "linear", None, None, "paper", "transformer"),
        ),
        (
            Variant("remasker"),
            ("paper-steps", "uniform 0.5", None, None, "remasker", "transformer"),
        ),
        (Variant("knn"), (None,) * 6),
    ],
)
def test_a_variant_is_described_by_what_experiments_vary(variant, described):
    assert tuple(variant.describe().values()) == described
