"""The whole way of an analyst, in a real browser: from a file to a saved scenario."""

import re

import pytest
from playwright.sync_api import expect

from pmae_core.masking import masking_probability
from pmae_core.words import percent

# The share of missing cells of the survey: before and after its sentinels are declared.
MISSING_AT_FIRST = f"240 rows × 5 columns, {144 / 1200:.0%} missing"
MISSING_AT_LAST = f"240 rows × 5 columns, {264 / 1200:.0%} missing"

A, B = "a: effect of missingness", "b: overall masking rate"
WEIGHTS = "How much does each task weigh in the loss of a column?"
PATTERNS = "Which values are missing together in a row?"
SCENARIO = "half of the incomes"


def test_from_a_file_to_a_scenario_that_outlives_the_server(visitor, server, survey):
    visitor.open()
    expect(visitor.open_table("cirrhosis")).to_be_visible()

    upload_and_declare_missing(visitor, survey)
    fix_a_role(visitor)
    see_patterns(visitor)
    share_masked = tune_the_masking(visitor)
    removed = simulate_missing_values(visitor)
    save_the_scenario(visitor)

    def find_everything() -> None:
        see_the_scenario(visitor, removed)
        expect(visitor.page.get_by_text(MISSING_AT_LAST)).to_be_visible()
        visitor.go_to("Masking lab")
        assert [slider_value(visitor, A), slider_value(visitor, B)] == [0.1, 0.45]
        assert masked_share_in_words(visitor) == share_masked
        visitor.go_to("Missingness")
        assert visitor.figure_data(PATTERNS)
        visitor.go_to("Data")
        assert role_of(visitor, "ward") == "numerical"

    visitor.page.reload()
    visitor.settle()
    find_everything()

    address = visitor.page.url
    server.restart()
    visitor.open(address)
    visitor.go_to("Amputation lab")
    find_everything()
    assert visitor.failures() == []


# The steps


def upload_and_declare_missing(visitor, survey) -> None:
    visitor.upload(survey)
    expect(visitor.page.get_by_text("survey.csv is open.")).to_be_visible()
    expect(visitor.page.get_by_text(MISSING_AT_FIRST)).to_be_visible()
    visitor.settle()
    for question in ("-999 appears in 72 cells of income", "? appears in 48 cells of city"):
        expect(visitor.page.get_by_text(f"{question}: missing?")).to_be_visible()
        visitor.page.get_by_role("button", name="Yes").first.click()
        visitor.settle()
    expect(visitor.page.get_by_text(MISSING_AT_LAST)).to_be_visible()

    visitor.page.get_by_role("button", name="Undo:").click()
    expect(visitor.page.get_by_text("Undone: declare ? in city missing")).to_be_visible()
    visitor.settle()
    visitor.page.get_by_role("button", name="Yes").first.click()
    expect(visitor.page.get_by_text(MISSING_AT_LAST)).to_be_visible()
    visitor.settle()


def fix_a_role(visitor) -> None:
    assert role_of(visitor, "ward") == "categorical"
    roles = visitor.grid("Column", "Role")
    roles.select(row=3)
    roles.press("ArrowRight", "Enter")
    visitor.page.keyboard.type("numerical")
    roles.press("Enter")
    visitor.settle()
    assert role_of(visitor, "ward") == "numerical"


def role_of(visitor, column: str) -> str:
    visitor.page.get_by_role("tab", name="Roles").click()
    visitor.settle()
    return {row[0]: row[1] for row in visitor.grid("Column", "Role").rows()}[column]


def see_patterns(visitor) -> None:
    visitor.go_to("Missingness")
    visitor.pick("What do you want to know?", "Patterns")
    expect(visitor.heading(PATTERNS)).to_be_visible()
    # Three blocks of rows that overlap: income; income and city; city; score.
    rows_of_pattern = sorted(n for trace in visitor.figure_data(PATTERNS) for n in counts(trace))
    assert rows_of_pattern == [24, 24, 48, 144]


def counts(trace: dict) -> list[float]:
    return [y for y in trace["y"] if isinstance(y, int | float) and y > 20]


def tune_the_masking(visitor) -> int:
    visitor.go_to("Masking lab")
    visitor.page.get_by_label("Highlighted column").select_option("income")
    visitor.settle()
    assert masked_share_in_words(visitor) == expected_share(a=0.05, b=0.5)
    before = curve(visitor)

    move(visitor, A, "ArrowRight", steps=5)
    assert slider_value(visitor, A) == pytest.approx(0.1)
    wait_for_share(visitor, expected_share(a=0.1, b=0.5))
    after_a = curve(visitor)
    assert after_a != before

    move(visitor, B, "ArrowLeft", steps=5)
    assert slider_value(visitor, B) == pytest.approx(0.45)
    wait_for_share(visitor, expected_share(a=0.1, b=0.45))
    assert curve(visitor) != after_a

    masked = visitor.figure_data(WEIGHTS)[0]["x"]
    expected = masking_probability([0.4, 0.7, 0.8, 1.0, 1.0], "logit", a=0.1, b=0.45)
    assert masked == pytest.approx(expected[: len(masked)], abs=1e-3)
    return masked_share_in_words(visitor)


def curve(visitor) -> str:
    return visitor.page.locator("path.line").get_attribute("d")


def expected_share(*, a: float, b: float, p_obs: float = 0.7) -> str:
    """Return M_j of income, in percent."""
    return percent(float(masking_probability([p_obs], "logit", a=a, b=b)[0]))


def move(visitor, label: str, key: str, *, steps: int) -> None:
    slider = visitor.slider(label)
    slider.focus()
    for _ in range(steps):
        slider.press(key)
    visitor.settle()


def slider_value(visitor, label: str) -> float:
    return round(float(visitor.slider(label).input_value()), 6)


def sentence_about_income(visitor):
    return visitor.page.locator(".of-column").filter(has_text="Column income is observed in 70%")


def masked_share_in_words(visitor) -> str:
    words = sentence_about_income(visitor).inner_text()
    return re.search(r"(\S+%) of its observed cells are masked", words)[1]


def wait_for_share(visitor, share: str) -> None:
    expect(sentence_about_income(visitor)).to_contain_text(f"{share} of its observed cells")


def simulate_missing_values(visitor) -> str:
    visitor.go_to("Amputation lab")
    before = removed_in_words(visitor)
    visitor.choose("Pattern", "Quasi-monotone")
    visitor.choose("Mechanism", "MAR")
    visitor.choose("Coupling", "Independent")
    after = removed_in_words(visitor)
    assert after != before
    visitor.page.get_by_role("tab", name="Removed values").click()
    visitor.settle()
    assert visitor.figure_data("Which cells were removed?")
    return after


def removed_in_words(visitor) -> str:
    words = visitor.page.get_by_text(re.compile(r"[\d,]+ of [\d,]+ cells were removed")).first
    return words.inner_text()


def save_the_scenario(visitor) -> None:
    visitor.page.get_by_role("tab", name="Scenarios").click()
    visitor.page.get_by_role("textbox", name="Name of the scenario").fill(SCENARIO)
    visitor.press_button("Save")
    expect(visitor.page.get_by_text(f"Saved as {SCENARIO}.")).to_be_visible()
    visitor.settle()


def see_the_scenario(visitor, removed: str) -> None:
    visitor.page.get_by_role("tab", name="Scenarios").click()
    saved = visitor.page.get_by_text(f"{SCENARIO}: quasi-monotone, MAR, independent, seed 0")
    expect(saved).to_be_visible()
    assert removed_in_words(visitor) == removed
