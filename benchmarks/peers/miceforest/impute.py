"""Impute one table with the package miceforest, in an environment of its own.

    python -m benchmarks.peers.miceforest.impute FOLDER SEED

See `benchmarks/exchange.py` for what is in the folder.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import miceforest
import pandas as pd

from benchmarks.metering import metered

DATASETS = 5
ITERATIONS = 3
PACKAGES = ("miceforest", "lightgbm", "numpy", "pandas", "scipy")


def imputed_table(table: pd.DataFrame, categorical: list[str], seed: int) -> pd.DataFrame:
    """Return the mean of all datasets for numbers, and the majority for categories."""
    kernel = miceforest.ImputationKernel(
        table.astype(dict.fromkeys(categorical, "category")),
        num_datasets=DATASETS,
        random_state=seed,
    )
    kernel.mice(ITERATIONS)
    datasets = [kernel.complete_data(dataset=k) for k in range(DATASETS)]
    imputed = {}
    for name in table.columns:
        values = pd.concat([dataset[name].astype(float) for dataset in datasets], axis=1)
        imputed[name] = values.mode(axis=1)[0] if name in categorical else values.mean(axis=1)
    return pd.DataFrame(imputed)


def main(folder: Path, seed: int) -> None:
    """Read the table, impute it, and write the result and its cost."""
    roles = json.loads((folder / "roles.json").read_text())
    table = pd.read_csv(folder / "table.csv", dtype=float, float_precision="round_trip")
    categorical = [name for name, role in roles.items() if role == "categorical"]
    with metered() as cost:
        imputed = imputed_table(table, categorical, seed)
    imputed.to_csv(folder / "imputed.csv", index=False)
    versions = {name: version(name) for name in PACKAGES}
    (folder / "cost.json").write_text(json.dumps({**cost, "versions": versions}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
