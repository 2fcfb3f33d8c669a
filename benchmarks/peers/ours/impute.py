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
from benchmarks.variants import make_variant
from pmae_core.table import Schema

PACKAGES = ("numpy", "pandas", "scikit-learn", "torch")


def load_libraries(method: str) -> None:
    """Load what a method loads on first use, as other packages load theirs when imported.

    It imputes a small table; networks take two steps.
    """
    imputer = make_variant(method, random_state=0)
    own = imputer.get_params(deep=False)
    if "network_params" in own:
        imputer.set_params(network_params={"steps": 2})
    elif "steps" in own:
        imputer.set_params(steps=2)
    numbers = np.random.default_rng(0).normal(size=(100, 3))
    numbers[::5, 0] = np.nan
    imputer.fit_transform(pd.DataFrame(numbers, columns=list("abc")))


def main(folder: Path, seed: int, method: str) -> None:
    """Read the table, impute it, and write the result and its cost."""
    schema = Schema.from_json((folder / "schema.json").read_text())
    table = pd.read_parquet(folder / "table.parquet")
    load_libraries(method)
    imputer = make_variant(method, schema=schema, random_state=seed)
    with metered() as cost:
        imputed = imputer.fit_transform(table)
    imputed.to_parquet(folder / "imputed.parquet")
    versions = {"pmae_core": pmae_core.__version__, **{name: version(name) for name in PACKAGES}}
    (folder / "cost.json").write_text(json.dumps({**cost, "versions": versions}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
