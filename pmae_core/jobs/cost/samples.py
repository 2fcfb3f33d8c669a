"""The samples of a table that methods are run on."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pmae_core.table import Schema

FIRST_ROWS = 200
FEW_ROWS = 60
FEW_COLUMNS = 4
# A larger sample is worth a run only if it is much larger.
LEAST_ENLARGEMENT = 2.0


class TableSamples:
    """Samples of a table: the same rows for all methods.

    Parameters
    ----------
    frame : DataFrame
        The whole table.
    schema : Schema
        Roles of its columns.
    """

    def __init__(self, frame: pd.DataFrame, schema: Schema) -> None:
        self.frame = frame
        self.schema = schema
        # Random rows: the first of a file may be special.
        self._order = np.random.default_rng(0).permutation(len(frame))

    def rows(self, n_rows: int) -> pd.DataFrame:
        """Return so many rows, in their order in the table."""
        if n_rows >= len(self.frame):
            return self.frame
        return self.frame.iloc[np.sort(self._order[:n_rows])]

    def tiny(self) -> pd.DataFrame:
        """Return hardly more than a method needs to run at all."""
        return self.rows(FEW_ROWS)

    def first(self) -> pd.DataFrame:
        """Return the sample that every method is run on first."""
        is_small = len(self.frame) < LEAST_ENLARGEMENT * FIRST_ROWS
        return self.frame if is_small else self.rows(FIRST_ROWS)

    def few_columns(self) -> pd.DataFrame | None:
        """Return few rows of few columns; None for a table that has no more columns.

        Half of the columns have missing cells, where there are so many.
        """
        names = self.frame.columns
        if len(names) <= FEW_COLUMNS:
            return None
        is_incomplete = self.frame.isna().any()
        incomplete = [name for name in names if is_incomplete[name]][: FEW_COLUMNS // 2]
        others = [name for name in names if name not in incomplete]
        chosen = {*incomplete, *others[: FEW_COLUMNS - len(incomplete)]}
        return self.rows(FEW_ROWS)[[name for name in names if name in chosen]]

    def schema_of(self, sample: pd.DataFrame) -> Schema:
        """Return the roles of a sample's columns."""
        return self.schema.only(set(sample.columns))
