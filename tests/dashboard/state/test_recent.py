import pytest

from dashboard.state.recent import Recent


def fail():
    raise AssertionError("made again")


def test_values_are_made_once():
    recent = Recent(2)

    assert recent.get("a", lambda: 1) == 1
    assert recent.get("a", fail) == 1


def test_a_known_value_is_not_made():
    recent = Recent(2)
    recent.put("a", 1)

    assert recent.get("a", fail) == 1


def test_the_least_recently_used_goes():
    recent = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    recent.get("a", fail)
    recent.put("c", 3)

    assert recent.get("a", fail) == 1
    assert recent.get("b", lambda: "again") == "again"


def test_what_is_asked_for_counts_as_used():
    recent = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert (recent.known("a"), recent.known("z")) == (1, None)
    recent.put("c", 3)

    assert (recent.known("a"), recent.known("b")) == (1, None)


def test_a_failure_is_not_kept():
    recent = Recent(2)
    with pytest.raises(AssertionError):
        recent.get("a", fail)

    assert recent.get("a", lambda: 1) == 1


def test_forgetting():
    recent = Recent(2)
    recent.put("a", 1)
    recent.clear()

    assert recent.get("a", lambda: 2) == 2
