from pmae_core.plots.labels import figure_text


def test_figures_get_no_html():
    assert figure_text("<a href='x'>&</a>", 40) == "&lt;a href='x'&gt;&amp;&lt;/a&gt;"
