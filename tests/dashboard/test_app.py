from pathlib import Path

from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[2] / "dashboard" / "app.py"


def test_a_newcomer_sees_the_sample_table():
    app = AppTest.from_file(str(APP), default_timeout=60).run()

    assert not app.exception
    assert not app.error
    assert app.title[0].value == "Data"
    assert any("344 rows × 8 columns" in text.value for text in app.markdown)
    assert app.dataframe[0].value.shape[0] > 0
