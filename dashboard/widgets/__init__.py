"""Parts of pages that several pages share."""

from dashboard.errors import errors_as_notices, fragment, shown_errors
from dashboard.widgets.figure import show_figure
from dashboard.widgets.pages import choose_page
from dashboard.widgets.seed import choose_seed
from dashboard.widgets.share import share_button
from dashboard.widgets.tabs import show_tabs
from dashboard.widgets.views import choose_view

__all__ = [
    "choose_page",
    "choose_seed",
    "choose_view",
    "errors_as_notices",
    "fragment",
    "share_button",
    "show_figure",
    "show_tabs",
    "shown_errors",
]
