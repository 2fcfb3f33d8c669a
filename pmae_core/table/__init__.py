"""Tables: roles of columns, exact encoding and decoding, sample data."""

from pmae_core.table.datasets import (
    BENCHMARK_NAMES,
    Dataset,
    DatasetInfo,
    list_datasets,
    load_dataset,
)
from pmae_core.table.encoding import (
    EncodedColumn,
    EncodedTable,
    TableEncoder,
    scalar_values,
    values_from_scalars,
)
from pmae_core.table.schema import ColumnSchema, Flag, Role, Schema

__all__ = [
    "BENCHMARK_NAMES",
    "ColumnSchema",
    "Dataset",
    "DatasetInfo",
    "EncodedColumn",
    "EncodedTable",
    "Flag",
    "Role",
    "Schema",
    "TableEncoder",
    "list_datasets",
    "load_dataset",
    "scalar_values",
    "values_from_scalars",
]
