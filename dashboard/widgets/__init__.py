"""Parts of pages that several pages share."""

from dashboard.errors import calm, fragment, shown_errors
from dashboard.widgets.figure import show_figure
from dashboard.widgets.seed import choose_seed
from dashboard.widgets.share import share_button

__all__ = ["calm", "choose_seed", "fragment", "share_button", "show_figure", "shown_errors"]
