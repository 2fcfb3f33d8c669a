"""From a file with missing wages to a pooled regression, in a real browser."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.paths import ROOT
from tests.support.screenshots import impute

FORMULA = "log(wages) ~ education + age + sex"
FOREST = "What goes with wages?"
TERMS = ["Intercept", "education", "age", "sex[Male]"]
FIRST_SCREEN = {"width": 1280, "height": 720}


@pytest.fixture(scope="module")
def slid() -> Path:
    folder = Path(os.environ.get("PMAE_DATA_DIR") or ROOT.parent / "shared" / "datasets")
    path = folder / "real" / "SLID.csv"
    if not path.is_file():
        pytest.skip(f"The table {path} is not here. Name its folder with PMAE_DATA_DIR.")
    return path


def test_from_a_file_to_a_pooled_regression(new_visitor, slid):
    visitor = new_visitor(**FIRST_SCREEN)
    visitor.open()
    visitor.upload(slid)
    expect(visitor.page.get_by_text("SLID.csv is open.")).to_be_visible()

    visitor.go_to("Analyze")
    expect(visitor.page.get_by_text("There are no imputations of this table yet")).to_be_visible()
    visitor.page.get_by_role("main").get_by_role("link", name="Go to Impute").click()
    visitor.heading("Impute", level=1).wait_for()
    visitor.settle()
    impute(visitor, "Expectation maximization")

    visitor.go_to("Analyze")
    visitor.settle()
    type_formula(visitor, FORMULA)
    see_the_answer_on_the_first_screen(visitor)
    see_the_pooled_table(visitor)
    shift_the_missing_wages(visitor)
    mistype_the_formula(visitor)


def type_formula(visitor, text: str) -> None:
    field = visitor.page.get_by_role("textbox", name="Formula")
    field.fill(text)
    field.press("Enter")
    visitor.settle()


def see_the_answer_on_the_first_screen(visitor) -> None:
    answer = visitor.page.get_by_text(re.compile(r"goes with [\d.]+% higher"))
    expect(answer).to_be_in_viewport(ratio=1)
    expect(visitor.page.get_by_text("pooled over 10 imputations")).to_be_in_viewport(ratio=1)
    figure = visitor.page.get_by_role("figure", name=FOREST)
    expect(figure).to_be_in_viewport(ratio=0.95)
    pooled, complete, shares = visitor.figure_data(FOREST)
    assert (pooled["name"], complete["name"]) == ("pooled imputations", "complete cases")
    assert len(pooled["x"]) == len(complete["x"]) == len(shares["x"]) == len(TERMS) - 1


def see_the_pooled_table(visitor) -> None:
    rows = visitor.grid("Term", "Missing information").rows()
    assert [row[0] for row in rows] == TERMS
    assert rows[1][3] == "<0.001"


def shift_the_missing_wages(visitor) -> None:
    visitor.page.get_by_role("radio", name="What if").click()
    visitor.settle()
    slider = visitor.slider("Missing wages")
    slider.focus()
    slider.press("ArrowLeft")
    said = visitor.page.get_by_text(
        re.compile(r"If the missing values of wages are \d+% lower than imputed")
    )
    expect(said).to_be_visible()


def mistype_the_formula(visitor) -> None:
    type_formula(visitor, "log(wages) ~ educaton")
    expect(visitor.page.get_by_text("Did you mean education?")).to_be_in_viewport(ratio=1)
    type_formula(visitor, FORMULA)
    expect(visitor.page.get_by_text("pooled over 10 imputations")).to_be_visible()
