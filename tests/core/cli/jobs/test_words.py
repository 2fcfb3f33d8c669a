"""Words about jobs."""

import pytest

from pmae_core.cli.jobs.words import estimate_sentence, value_text


def estimate(seconds, low, high, **more):
    known = {"method": "em", "seconds": seconds}
    unknown = [{"method": name, "seconds": None} for name in more.pop("unknown", ())]
    totals = {"total_seconds": seconds, "total_low": low, "total_high": high}
    return {**totals, "per_method": [known, *unknown], "memory_mb": None, **more}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (estimate(100.0, 50.0, 200.0), "About 1 min 40 s."),
        (estimate(0.2, 0.1, 0.4), "Less than 1 s."),
        (estimate(60.0, 50.0, 265.0), "50 s to 5 min."),
        (estimate(120.0, 61.0, 230.0), "About 2 min."),
        (estimate(120.0, 61.0, 250.0), "1 to 5 min."),
        (estimate(0.6, 0.1, 4.0), "Up to 4 s."),
        (estimate(3.0, 2.0, 4.0, unknown=["a", "b"]), "About 3 s, without a and b."),
        (
            estimate(3.0, 2.0, 4.0, memory_mb=1234.5, ratio=2.0, actual_seconds=6.0),
            "About 3 s, 1,234 MB; it took 6 s.",
        ),
    ],
)
def test_an_estimate_is_a_sentence(content, sentence):
    assert estimate_sentence(content) == sentence


def test_values_of_results_are_text():
    assert [value_text(value) for value in ("é", ["é"], 0, None, {})] == ["é", '["é"]', "0", "", ""]
