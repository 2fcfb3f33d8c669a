import pytest

from dashboard.state.environment import environment_number
from pmae_core.errors import JobError


def minutes():
    return environment_number(
        "EXAMPLE_MINUTES", 10.0, advice="a number of minutes, or to 0 for none", error=JobError
    )


@pytest.mark.parametrize(
    ("text", "number"), [("2.5", 2.5), ("0", 0.0), ("", 10.0), ("  ", 10.0), ("1e3", 1000.0)]
)
def test_a_number_is_read(monkeypatch, text, number):
    monkeypatch.setenv("EXAMPLE_MINUTES", text)

    assert minutes() == number


def test_what_is_not_set_has_its_default(monkeypatch):
    monkeypatch.delenv("EXAMPLE_MINUTES", raising=False)

    assert minutes() == 10.0


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf", "1,5"])
def test_anything_else_is_an_error_that_says_what_to_set(monkeypatch, text):
    monkeypatch.setenv("EXAMPLE_MINUTES", text)

    with pytest.raises(JobError) as raised:
        minutes()

    assert str(raised.value) == (
        f"EXAMPLE_MINUTES is {text!r}. Set it to a number of minutes, or to 0 for none."
    )


@pytest.mark.parametrize("text", ["0", "0.0", "-1"])
def test_where_0_means_nothing_it_is_refused_as_well(monkeypatch, text):
    monkeypatch.setenv("EXAMPLE_HOURS", text)

    with pytest.raises(JobError, match="Set it to a positive number of hours"):
        environment_number(
            "EXAMPLE_HOURS", 1.0, advice="a positive number of hours", error=JobError, positive=True
        )
