import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from tests.support.paths import ROOT

PAGE = "missingness.py"
VIEWS = ["How much", "Where", "Together", "Patterns", "Clues", "Dropping rows", "Pictures"]


def look(app, view):
    app.session_state["missingness:view"] = view
    return app.run()


def texts(app):
    parts = (app.markdown, app.caption, app.info, app.warning, app.success, app.subheader)
    return "\n".join(element.value for kind in parts for element in kind)


def charts(app):
    return len(app.get("plotly_chart"))


def assert_calm(app):
    assert not app.exception
    assert not app.error, [element.value for element in app.error]


def holes(n=60, seed=0):
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


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_of_the_sample(open_page, view):
    app = look(open_page(PAGE), view)
    assert_calm(app)
    assert charts(app) == {"Pictures": 0, "How much": 1, "Where": 1}.get(view, 2)


def test_the_first_view_says_how_much_is_missing(fill, open_page):
    fill(holes())
    app = open_page(PAGE)
    assert "The table has 60 rows and 4 columns" in texts(app)
    assert app.subheader[0].value == "How much of each column is observed?"


def test_a_complete_table_says_what_to_do_next(fill, open_page):
    fill(pd.DataFrame({"x": [1, 2, 3], "y": list("uvw")}))
    app = open_page(PAGE)
    assert_calm(app)
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
    for view in VIEWS:
        assert_calm(look(app, view))
        assert texts(app)


def test_a_wide_table(fill, open_page):
    rng = np.random.default_rng(0)
    df = pd.DataFrame(rng.normal(size=(40, 300)), columns=[f"c{i:03d}" for i in range(300)])
    fill(df.mask(rng.random(df.shape) < np.linspace(0, 0.7, 300)))
    app = open_page(PAGE)
    assert "40 of 300 columns shown" in texts(app)
    for view in VIEWS[1:]:
        assert_calm(look(app, view))
    look(app, "Together")
    assert "40 of 300 columns shown, those with most holes" in texts(app)


def test_markup_in_names_and_cells_stays_text(fill, open_page):
    df = holes().rename(columns={"y": "<script>y</script> **b** $x$", "town": "[town](http://t)"})
    df["[town](http://t)"] = df["[town](http://t)"].replace("Ulm", "<img src=x> :smile:")
    fill(df)
    app = open_page(PAGE)
    for view in VIEWS:
        look(app, view)
        assert_calm(app)
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
    assert f"15 of {n_patterns} patterns shown" in texts(app)
    assert app.metric[0].label == "Distance from monotone"


def test_why_finds_what_goes_with_the_holes(fill, open_page):
    fill(holes(400))
    app = look(open_page(PAGE), "Clues")
    assert_calm(app)
    assert app.selectbox[0].value == "y"
    assert "differ clearly from the others in `x`" in texts(app)
    assert "missing where x is above" in texts(app)
    assert "not missing completely at random" in texts(app)
    assert "What this test cannot say" in texts(app)


def test_another_column_can_be_asked_about(fill, open_page):
    fill(holes(400))
    app = look(open_page(PAGE), "Clues")
    app.selectbox[0].set_value("z").run()
    assert_calm(app)
    assert "Rows that miss `z` differ from the others by no more than chance" in texts(app)
    assert "No observed column is clearly related" in texts(app)


def test_too_few_rows_are_a_reason_not_an_error(fill, open_page):
    fill(holes(30).assign(y=[None] * 3 + [1.5] * 27, z=1.0))
    app = look(open_page(PAGE), "Clues")
    assert_calm(app)
    assert "are needed to learn from" in texts(app)


def test_dropping_rows_counts_what_stays(fill, open_page):
    df = holes(100)
    fill(df)
    app = look(open_page(PAGE), "Dropping rows")
    assert f"**{len(df.dropna())} of 100 rows** stay" in texts(app)
    app.multiselect[0].set_value(["x", "z"]).run()
    assert_calm(app)
    assert f"**{len(df.dropna(subset=['x', 'z']))} of 100 rows** stay" in texts(app)


def test_settings_survive_a_new_session(fill, open_page):
    fill(holes())
    app = open_page(PAGE)
    app.segmented_control[0].set_value("Patterns").run()
    again = open_page(PAGE)
    assert again.segmented_control[0].value == "Patterns"


def test_settings_of_another_table_do_no_harm(fill, open_page):
    fill(holes())
    app = look(open_page(PAGE), "Dropping rows")
    app.multiselect[0].set_value(["x", "z"]).run()
    look(app, "Clues").selectbox[0].set_value("z").run()
    fill(pd.DataFrame({"other": [1.0, None] * 20, "more": range(40)}))
    app = open_page(PAGE)
    for view in VIEWS:
        assert_calm(look(app, view))


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
