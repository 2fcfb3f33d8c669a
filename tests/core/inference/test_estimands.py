"""What can be estimated, and its words."""

from pmae_core.inference.estimands import Estimand


def test_estimands_in_words():
    assert Estimand.read(("correlation", "a", 3)).label == "correlation of a and 3"
