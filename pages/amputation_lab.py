"""Amputation lab: simulate missing values, see what they do, and save them as a scenario."""

from dashboard.amputation.view import show_lab, show_title
from dashboard.state import session

show_title()
show_lab(session.open_table())
