"""Tables: reading and writing files, roles of columns, exact encoding and decoding, sample data."""

from pmae_core.table.declaring import declare_missing
from pmae_core.table.encoded_table import (
    EncodedColumn,
    EncodedTable,
    scalar_values,
    values_from_scalars,
)
from pmae_core.table.encoding import TableEncoder
from pmae_core.table.io.dialect import TextDialect
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.reading import TableFile, read_table, read_table_file
from pmae_core.table.io.sniffing import sniff_dialect
from pmae_core.table.io.writing import write_table
from pmae_core.table.learned import NotLearned
from pmae_core.table.role_suggestions import RoleSuggestion, suggest_roles
from pmae_core.table.roles import Role
from pmae_core.table.rules import ColumnRules
from pmae_core.table.samples.datasets import (
    BENCHMARK_NAMES,
    Dataset,
    DatasetInfo,
    list_datasets,
    load_dataset,
)
from pmae_core.table.scaling import Scaler
from pmae_core.table.schema import ColumnSchema, Flag, Schema
from pmae_core.table.sentinels import SentinelSuggestion, suggest_sentinels

__all__ = [
    "BENCHMARK_NAMES",
    "ColumnRules",
    "ColumnSchema",
    "Dataset",
    "DatasetInfo",
    "EncodedColumn",
    "EncodedTable",
    "Flag",
    "NotLearned",
    "ReadingLimits",
    "Role",
    "RoleSuggestion",
    "Scaler",
    "Schema",
    "SentinelSuggestion",
    "TableEncoder",
    "TableFile",
    "TextDialect",
    "declare_missing",
    "list_datasets",
    "load_dataset",
    "read_table",
    "read_table_file",
    "scalar_values",
    "sniff_dialect",
    "suggest_roles",
    "suggest_sentinels",
    "values_from_scalars",
    "write_table",
]
