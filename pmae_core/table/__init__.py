"""Tables: roles of columns, exact encoding and decoding, sample data."""

from pmae_core.table.encoding import (
    EncodedColumn,
    EncodedTable,
    TableEncoder,
    scalar_values,
    values_from_scalars,
)
from pmae_core.table.schema import ColumnSchema, Flag, Role, Schema

__all__ = [
    "ColumnSchema",
    "EncodedColumn",
    "EncodedTable",
    "Flag",
    "Role",
    "Schema",
    "TableEncoder",
    "scalar_values",
    "values_from_scalars",
]
