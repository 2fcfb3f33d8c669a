"""Train: choose a network, start it, see whether it learns."""

from dashboard.state import session
from dashboard.train.view import show_training

show_training(session.open_table())
