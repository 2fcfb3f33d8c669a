"""Compare: score methods on held-out cells; see which to use, and whether the choice matters."""

from dashboard.compare.view import show_comparison
from dashboard.state import session

show_comparison(session.open_table())
