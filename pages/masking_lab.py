"""Masking lab: how many cells of each column are masked during training, and what that does."""

from dashboard.masking.view import show_lab, show_title
from dashboard.state import session

show_title()
show_lab(session.open_table())
