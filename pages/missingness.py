"""Missingness: how much, where, together, in which patterns, with what, and complete cases."""

from dashboard.missingness.view import show_missingness
from dashboard.state import session

show_missingness(session.open_table())
