"""Export: the imputed table as files, and everything needed to reproduce it."""

from dashboard.export.view import show_export
from dashboard.state import session

show_export(session.open_table())
