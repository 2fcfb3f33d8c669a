from dashboard.components.figures_ahead import drawing_script


def test_streamlit_has_the_drawing_code_where_we_look_for_it():
    assert drawing_script() is not None
