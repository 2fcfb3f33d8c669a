import plotly.graph_objects as go
import plotly.io as pio

from pmae_core.colors import MISSING
from pmae_core.plots.style import DARK, LIGHT, styled


def test_styled_sets_the_look_and_leaves_the_data():
    figure = go.Figure([go.Bar(x=[1], y=[2], marker_color=MISSING), go.Bar(x=[1], y=[3])])

    assert styled(figure) is figure
    assert figure.layout.template == pio.templates[LIGHT]
    assert figure.data[0].marker.color == MISSING
    assert figure.layout.xaxis.automargin
    assert figure.layout.margin.t > styled(go.Figure(go.Bar(y=[1]))).layout.margin.t


def test_styled_for_dark_exports_and_other_heights():
    figure = styled(go.Figure(), height=200, dark=True)

    assert figure.layout.template == pio.templates[DARK]
    assert figure.layout.height == 200
    assert styled(go.Figure(layout={"height": 111})).layout.height == 111
