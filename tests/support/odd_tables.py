"""A table whose columns are learned, or are not for every reason that there is."""

import numpy as np
import pandas as pd

from pmae_core.table import NotLearned, Schema

NOT_LEARNED = {
    "patient_id": NotLearned.IDENTIFIER,
    "note": NotLearned.IGNORED,
    "empty": NotLearned.EMPTY,
    "only_infinite": NotLearned.NOT_FINITE,
    "infinite_or_7": NotLearned.CONSTANT,
    "same": NotLearned.CONSTANT,
}
LEARNED = ["age", "infinite_once", "town"]
IMPUTABLE = ["age", "infinite_once", "town", "infinite_or_7", "same"]


def odd_table(n_rows: int = 60) -> tuple[pd.DataFrame, Schema]:
    """Return the table and its schema; every column but the identifier has missing cells."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "patient_id": range(1000, 1000 + n_rows),
            "age": rng.normal(50, 10, size=n_rows),
            "infinite_once": rng.normal(size=n_rows),
            "town": rng.choice(["Ulm", "Bonn"], size=n_rows),
            "note": rng.choice(["a", "b"], size=n_rows),
            "empty": np.nan,
            "only_infinite": np.inf,
            "infinite_or_7": rng.choice([7.0, np.inf, -np.inf], size=n_rows),
            "same": 3.0,
        }
    )
    frame.loc[3, "infinite_once"] = np.inf
    frame.loc[::5, frame.columns[1:]] = None
    return frame, Schema.infer(frame, {"note": "ignored"})
