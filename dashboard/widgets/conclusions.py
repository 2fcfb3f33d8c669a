"""The simple conclusions that pages follow through methods and shifts."""

import pandas as pd

from pmae_core.table import Role, Schema
from pmae_core.table.cells import CellKind, cell_kind

CONCLUSIONS = {"mean": "A mean", "correlation": "A correlation", "slope": "A slope"}


def number_columns(frame: pd.DataFrame, schema: Schema) -> list[str]:
    """Return the columns of which a mean makes sense."""
    return [
        str(column.name)
        for column in schema
        if column.role is Role.NUMERICAL
        and column.not_learned is None
        and cell_kind(frame[column.name]) is CellKind.NUMBER
    ]
