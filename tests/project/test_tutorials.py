"""What the tutorials show works from top to bottom, and what they say of it is true."""

import numpy as np
import pytest

from tests.support.markdown import blocks
from tests.support.paths import ROOT

DOCS = ROOT / "docs"
MESSY_FILE = DOCS / "tutorials" / "messy-file.md"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings("ignore:Column 'drug' keeps its missing cells"),
]


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory):
    """Return the names of the tutorial after all its blocks, each of which continues the last."""
    names = {}
    folder = tmp_path_factory.mktemp("tutorial")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in blocks(MESSY_FILE, "python"):
            exec(compile(block.text, str(MESSY_FILE), "exec"), names)
    return {**names, "folder": folder}


@pytest.fixture(scope="module")
def text():
    return MESSY_FILE.read_text(encoding="utf-8")


def test_the_file_to_download_is_the_one_that_python_writes(tutorial):
    downloaded = (DOCS / "assets" / "trial.csv").read_bytes()
    assert downloaded == (tutorial["folder"] / "trial.csv").read_bytes()


def test_the_file_is_as_messy_as_the_tutorial_says(tutorial, text):
    incomplete = tutorial["table"].isna().any()
    codes = tutorial["suggest_sentinels"](tutorial["read_table"](tutorial["folder"] / "trial.csv"))
    assert {found.column for found in codes} == set(tutorial["table"].columns[incomplete])
    assert f"counts as missing in {len(codes)} columns" in text
    share = tutorial["summary"].n_missing / tutorial["table"].size
    assert f"{share:.1%} of the cells are missing" in text
    assert f"{tutorial['summary'].n_complete_rows} of 418 rows are complete" in text


def test_three_methods_share_the_first_rank_and_triglycerides_have_no_winner(tutorial):
    ranks = tutorial["comparison"].summary()["rank"]
    assert set(ranks.index[ranks == 1]) == {"em", "mice", "pmae"}
    verdicts = tutorial["comparison"].column_winners()["verdict"]
    assert verdicts["triglycerides"] == "no method is shown to beat the mean"


def test_the_drug_stays_missing_and_everything_else_is_imputed(tutorial):
    assert len(tutorial["imputations"]) == 60
    for one in tutorial["imputations"]:
        incomplete = one.columns[one.isna().any()]
        assert list(incomplete) == ["drug"]


def test_copper_gains_nothing_and_what_everybody_has_gains(tutorial):
    pooled = tutorial["analysis"].table.set_index("term")
    complete = tutorial["analysis"].complete_cases.set_index("term")

    def width(table):
        return table["high"] - table["low"]

    ratio = width(pooled) / width(complete)
    assert pooled.loc["log(copper)", "low"] > 0
    assert pooled.loc["log(copper)", "estimate"] == pytest.approx(
        complete.loc["log(copper)", "estimate"], abs=0.05
    )
    assert 0.95 < ratio["log(copper)"] < 1.15
    observed = ["age", "log(bilirubin)", "edema[despite diuretics]", "edema[untreated or resolved]"]
    assert (ratio[observed] < 1).all()
    most_missing = pooled["missing_information"].nlargest(2).index
    assert set(most_missing) == {"log(copper)", "hepatomegaly[yes]"}


def test_about_sixty_imputations_are_enough(tutorial):
    assert any("60 imputations are enough" in said for said in tutorial["analysis"].sentences)


def test_the_choice_of_the_method_does_not_matter(tutorial):
    copper = tutorial["copper"].set_index("method")
    assert list(copper.index) == ["complete cases", "pmae", "em", "mice"]
    assert np.ptp(copper["estimate"]) < 0.05
    assert (copper["low"] > 0).all()


@pytest.mark.parametrize(("factor", "is_clear"), [(0.25, False), (0.5, True), (4.0, True)])
def test_the_conclusion_changes_at_about_a_quarter(tutorial, factor, is_clear):
    tables = [tutorial["shifted"](one, factor) for one in tutorial["imputations"][:20]]
    found = tutorial["analyze"](tables, tutorial["formula"], "cox", schema=tutorial["schema"])
    low = found.table.set_index("term").loc["log(copper)", "low"]
    assert (low > 0) == is_clear


def test_the_methods_text_names_what_was_done(tutorial):
    said = tutorial["text"].to_text()
    for words in ("60 imputations", "left values of drug missing", "missing at random, MAR"):
        assert words in said
