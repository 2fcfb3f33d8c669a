"""Impute one table with a method of this library, in a process of its own.

    python -m benchmarks.peers.ours.impute FOLDER SEED METHOD

See `benchmarks/exchange.py` for what is in the folder.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

import pmae_core
from benchmarks.metering import metered
from pmae_core.imputers import PMAENetworkImputer, make_imputer
from pmae_core.table import Schema

PACKAGES = ("numpy", "pandas", "scikit-learn", "torch")


def load_libraries() -> None:
    """Load what methods load on first use, as other packages load theirs when imported.

    It is not known which libraries a method needs, so all have torch in their memory.
    """
    numbers = np.random.default_rng(0).normal(size=(100, 3))
    numbers[::5, 0] = np.nan
    PMAENetworkImputer(steps=2, random_state=0).fit_transform(
        pd.DataFrame(numbers, columns=list("abc"))
    )


def main(folder: Path, seed: int, method: str) -> None:
    """Read the table, impute it, and write the result and its cost."""
    schema = Schema.from_json((folder / "schema.json").read_text())
    table = pd.read_parquet(folder / "table.parquet")
    load_libraries()
    imputer = make_imputer(method, schema=schema, random_state=seed)
    with metered() as cost:
        imputed = imputer.fit_transform(table)
    imputed.to_parquet(folder / "imputed.parquet")
    versions = {"pmae_core": pmae_core.__version__, **{name: version(name) for name in PACKAGES}}
    (folder / "cost.json").write_text(json.dumps({**cost, "versions": versions}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
