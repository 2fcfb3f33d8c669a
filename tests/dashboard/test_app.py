from pathlib import Path

from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[2] / "dashboard" / "app.py"


def test_app_shows_the_sample_table_and_its_holes():
    app = AppTest.from_file(str(APP), default_timeout=60).run()

    assert not app.exception
    assert app.title[0].value == "PMAE Studio"
    (table,) = app.dataframe
    assert table.value.shape[0] == 344
    n_missing = int(table.value.isna().sum().sum())
    assert n_missing > 0
    assert any(f"{n_missing} of" in text.value for text in app.markdown)
    assert len(app.get("plotly_chart")) == 1
