"""Paper: its printed tables and figures beside what was measured here."""

from dashboard.paper.view import show_paper

show_paper()
