import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from tests.support.paths import ROOT
from tests.support.seen import without_errors
from tests.support.wide_survey import wide_survey

PAGE = "missingness.py"
VIEWS = ["How much", "Where", "Together", "Patterns", "Clues", "Complete cases", "Pictures"]
# What a section can show beside its first figure, by the name of the setting.
PARTS = {
    "Together": ("together_view", ["Correlations", "Tree", "All pairs"]),
    "Patterns": ("patterns_view", ["Patterns of rows", "Helpful columns"]),
    "Clues": ("clues_view", ["Differences", "Prediction", "Little's test"]),
    "Complete cases": ("complete_view", ["Rows gained", "Shifts of columns"]),
    "Pictures": ("picture", ["Matrix", "Bar chart", "Heatmap", "Dendrogram"]),
}
ALL_PARTS = [(view, part) for view in VIEWS for part in PARTS.get(view, ("", [None]))[1]]


def look(app, view, part=None, **settings):
    app.session_state["missingness:view"] = view
    if part is not None:
        app.session_state[f"missingness:{PARTS[view][0]}"] = part
    for name, value in settings.items():
        app.session_state[f"missingness:{name}"] = value
    return app.run()


def labels(app, axis="yaxis"):
    """Return the labels of the first figure."""
    layout = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]
    return layout[axis]["ticktext"]


def texts(app):
    parts = (app.markdown, app.caption, app.info, app.warning, app.success, app.subheader)
    return "\n".join(element.value for kind in parts for element in kind)


def charts(app):
    return len(app.get("plotly_chart"))


def study(n=60, seed=0):
    """Return a table in which `y` is missing where `x` is large, and `z` at random."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], size=n),
            "y": rng.normal(size=n),
            "z": rng.normal(size=n),
        }
    )
    df["y"] = df["y"].mask(df["x"] > 0.3)
    df["z"] = df["z"].mask(rng.random(n) < 0.2)
    return df


@pytest.mark.parametrize(("view", "part"), ALL_PARTS)
def test_every_view_of_a_study(fill, open_page, view, part):
    fill(study(400))
    app = look(open_page(PAGE), view, part)
    without_errors(app)
    n_charts = {"Pictures": 0, "All pairs": 0, "Differences": 2, "Prediction": 0}
    expected = 0 if part == "Little's test" else n_charts.get(part, n_charts.get(view, 1))
    assert charts(app) == expected
    assert len(app.get("image")) == (view == "Pictures")


def test_the_page_tells_its_story_first(fill, open_page):
    df = study().assign(dose=1.0, lab=2.0)
    df.loc[40:, ["dose", "lab"]] = None
    fill(df)
    app = open_page(PAGE)
    assert app.markdown[0].value.startswith(
        "**`dose` and `lab` are missing in the same 20 rows, the last of the file."
    )
    assert "of 60 rows" in app.markdown[0].value
    assert app.subheader[0].value == "How much of each column is observed?"


def test_columns_missing_together_share_a_line_that_can_be_expanded(fill, open_page):
    df = study().assign(dose=1.0, lab=2.0)
    df.loc[40:, ["dose", "lab"]] = None
    fill(df)
    app = open_page(PAGE)
    assert "dose + 1 other" in labels(app)
    assert labels(app)[-1] == "2 complete columns"
    app.multiselect[0].set_value(["dose"]).run()
    assert {"dose", "lab"} <= set(labels(app))
    assert "dose + 1 other" not in labels(app)


def test_columns_are_found_by_a_part_of_their_name(fill, open_page):
    fill(wide_survey(300))
    app = open_page(PAGE)
    app.text_input[0].set_value("WORK_0").run()
    assert sorted(labels(app)) == [f"work_0{question}" for question in range(1, 10)]
    app.text_input[0].set_value("nobody").run()
    without_errors(app)
    assert "has this text in its name" in texts(app)


def test_a_complete_table_says_what_to_do_next(fill, open_page):
    fill(pd.DataFrame({"x": [1, 2, 3], "y": list("uvw")}))
    app = open_page(PAGE)
    without_errors(app)
    assert charts(app) == 0
    assert "nothing is missing" in texts(app)
    assert "Amputation lab" in texts(app) and "Data page" in texts(app)


TABLES = {
    "an empty column": pd.DataFrame({"x": [1.0, 2, 3], "empty": [None, None, None]}),
    "nothing but an empty column": pd.DataFrame({"empty": [np.nan] * 3}),
    "one column": pd.DataFrame({"x": [1.0, None, 3.0]}),
    "two rows": pd.DataFrame({"x": [1.0, None], "y": [None, "u"], "z": [1, 2]}),
    "one row": pd.DataFrame({"x": [1.0], "y": [np.nan]}),
    "equal columns": pd.DataFrame({"x": [1.0, None] * 30, "y": [1.0, None] * 30}),
    "only labels": pd.DataFrame({"u": list("ab") * 20, "v": ["c", None] * 20}),
    "infinite numbers": pd.DataFrame({"x": [1.0, np.inf] * 20, "y": [1.0, None] * 20}),
    "nearly complete": pd.DataFrame({"x": range(50), "y": [None] + [1.5] * 49}),
}


@pytest.mark.parametrize("name", TABLES)
def test_odd_tables_have_every_view(fill, open_page, name):
    fill(TABLES[name])
    app = open_page(PAGE)
    for view, part in ALL_PARTS:
        if view != "Pictures":
            without_errors(look(app, view, part))
            assert texts(app)
    without_errors(look(app, "Pictures"))


@pytest.mark.parametrize(
    ("view", "pager", "n_pages"),
    [("How much", "bars", 4), ("Where", "matrix", 3), ("Together", "together", 4)],
)
def test_every_column_of_a_wide_table_is_on_one_of_the_pages(fill, open_page, view, pager, n_pages):
    rng = np.random.default_rng(0)
    df = pd.DataFrame(rng.normal(size=(80, 50)), columns=[f"c{i:03d}" for i in range(50)])
    fill(df.mask(rng.random(df.shape) < 0.3))
    app = look(open_page(PAGE), view)
    assert "of 50" in texts(app)
    seen = set()
    for page in range(1, n_pages + 1):
        app.session_state[f"missingness:page:{pager}:{n_pages}"] = page
        app.run()
        # A triangle of pairs has its first column below, and the others at the left.
        seen |= {*labels(app), *(labels(app, "xaxis") if view == "Together" else [])}
    assert seen == set(df.columns)


def test_together_names_only_columns_that_are_drawn(fill, open_page):
    fill(wide_survey(400))
    app = look(open_page(PAGE), "Together")
    assert "`form_a_1` + 5 others" in app.markdown[-1].value
    for page in (1, 2):
        app.session_state["missingness:page:together:3"] = page
        app.run()
        drawn = {*labels(app), *labels(app, "xaxis")}
        # The story comes first, the sentences about pairs last.
        named = re.findall(r"`([^`]+)`", app.markdown[-1].value)
        assert all(any(label.startswith(name) for label in drawn) for name in named)


def test_columns_that_are_never_observed_together_are_named(fill, open_page):
    fill(wide_survey(400))
    app = look(open_page(PAGE), "Together", "All pairs")
    assert "`form_a_1` and 5 others are never observed in the same row as" in texts(
        app
    ) or "`form_b_1` and 5 others are never observed in the same row as" in texts(app)
    first = app.dataframe[0].value.iloc[0]
    assert {first["First"], first["Second"]} == {"form_a_1 + 5 others", "form_b_1 + 5 others"}
    assert first["Correlation"] == pytest.approx(-1)
    assert (first["Rows missing both"], first["Rows missing one"]) == (0, 400)


def test_markup_in_names_and_cells_stays_text(fill, open_page):
    df = study().rename(columns={"y": "<script>y</script> **b** $x$", "town": "[town](http://t)"})
    df["[town](http://t)"] = df["[town](http://t)"].replace("Ulm", "<img src=x> :smile:")
    fill(df)
    app = open_page(PAGE)
    for view, part in ALL_PARTS:
        if view == "Pictures":
            continue
        look(app, view, part)
        without_errors(app)
        for element in [*app.markdown, *app.caption]:
            outside_code = "".join(element.value.split("`")[::2])
            assert "<script>" not in outside_code and "](http" not in outside_code


def test_patterns_say_how_many_are_shown(fill, open_page):
    rng = np.random.default_rng(1)
    df = pd.DataFrame(rng.normal(size=(200, 6)), columns=list("abcdef"))
    df = df.mask(rng.random(df.shape) < 0.4)
    fill(df)
    app = look(open_page(PAGE), "Patterns")
    n_patterns = len(df.isna().drop_duplicates())
    assert n_patterns > 15
    assert f"Patterns 1 to 15 of {n_patterns}" in texts(app)
    assert "The missing pattern is general" in texts(app)
    assert app.metric[0].label == "Distance from monotone"


def test_clues_find_what_goes_with_missingness(fill, open_page):
    fill(study(400))
    app = look(open_page(PAGE), "Clues")
    without_errors(app)
    assert app.selectbox[0].value == "y"
    assert "differ clearly from the others in `x`" in texts(app)
    look(app, "Clues", "Prediction")
    assert "The tree separates missing from observed rows of y well" in texts(app)
    assert "missing where x is above" in texts(app)


def test_littles_test_says_which_columns_it_used(fill, open_page):
    fill(study(400).assign(constant=1.5))
    app = look(open_page(PAGE), "Clues", "Little's test")
    without_errors(app)
    assert "not missing completely at random" in texts(app)
    assert "Columns tested: `x`, `y` and `z`" in texts(app)
    assert "Not tested: `constant`, because its observed values do not vary" in texts(app)
    assert "Rows used: 400 of 400" in texts(app)
    assert "What this test cannot say" in texts(app)


def test_another_column_can_be_asked_about(fill, open_page):
    fill(study(400))
    app = look(open_page(PAGE), "Clues")
    app.selectbox[0].set_value("z").run()
    without_errors(app)
    assert "No observed column is clearly related to missingness in `z`" in texts(app)
    look(app, "Clues", "Prediction")
    assert "No observed column is clearly related to missingness in z" in texts(app)


def test_columns_missing_in_the_same_rows_are_asked_about_once(fill, open_page):
    df = study(400)
    fill(df.assign(again=df["y"]))
    app = look(open_page(PAGE), "Clues")
    assert app.selectbox[0].options == ["y + 1 other", "z"]


def test_too_few_rows_are_a_reason_not_an_error(fill, open_page):
    fill(study(30).assign(y=[None] * 3 + [1.5] * 27, z=1.0))
    app = look(open_page(PAGE), "Clues", "Prediction")
    without_errors(app)
    assert "are needed to learn from" in texts(app)


def test_complete_cases_name_the_largest_loss_first(fill, open_page):
    df = study(100)
    fill(df)
    app = look(open_page(PAGE), "Complete cases")
    complete, without = len(df.dropna()), len(df.drop(columns="y").dropna())
    assert f"**{complete} of 100 rows**" in texts(app)
    gain = f"Dropping `y` from the analysis keeps {without - complete} more rows."
    assert gain in texts(app)
    assert labels(app)[:2] == ["all columns needed", "without y"]
    app.multiselect[0].set_value(["x", "z"]).run()
    without_errors(app)
    assert f"**{len(df.dropna(subset=['x', 'z']))} of 100 rows**" in texts(app)
    assert "complete in 2 chosen columns" in texts(app)


def test_settings_survive_a_new_session(fill, open_page):
    fill(study())
    app = open_page(PAGE)
    app.segmented_control[0].set_value("Patterns").run()
    again = open_page(PAGE)
    assert again.segmented_control[0].value == "Patterns"


def test_settings_of_another_table_do_no_harm(fill, open_page):
    fill(study())
    app = look(open_page(PAGE), "Complete cases")
    app.multiselect[0].set_value(["x", "z"]).run()
    look(app, "Clues").selectbox[0].set_value("z").run()
    fill(pd.DataFrame({"other": [1.0, None] * 20, "more": range(40)}))
    app = open_page(PAGE)
    for view in VIEWS:
        without_errors(look(app, view))


def test_the_page_does_not_import_torch(tmp_path):
    code = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file('pages/missingness.py', default_timeout=60).run()\n"
        "app.session_state['missingness:view'] = 'Clues'\n"
        "assert not app.run().exception\n"
        "print('torch' in sys.modules)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PMAE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
    )
    assert run.stdout.strip().endswith("False")
