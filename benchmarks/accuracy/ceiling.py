"""How much more accurate than the blend could a method be on the tables kept aside?

The missing cells of the part "report" of `benchmarks.accuracy.blend` are estimated once more, by
models that know what no imputer can know: the true values of all other rows. A Gaussian, a forest
and boosted trees per column learn from the complete other rows, masked like the rows in which the
column is missing, and estimate each missing cell from what is observed in its row; five parts of
the rows take turns. They are mixed by the weights that have the least error on the missing cells
themselves. So no share of the distance that is left to the truth can be blamed on missing values
that were never seen; what the figure is not is a bound for models of another kind.

Every finished case is kept in the result, and the same command resumes where it was stopped.

    python -m benchmarks.accuracy.ceiling
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import nnls
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV

from benchmarks.accuracy.blend import PARTS, accuracies, accuracy_x100, recorded, simulated
from benchmarks.recording import RESULTS, write_result
from pmae_core.gaussian import GaussianModel
from pmae_core.table import EncodedTable, TableEncoder

NAME, PART = "ceiling", "report"
CEILING = "knows the other rows"
METHODS = ("pmae", "pmae-mix", "missforest", "naive")
N_FOLDS, N_MODELS = 5, 3

Run = dict[str, Any]


def ceiling(dataset: str, pattern: str, seed: int, max_rows: int) -> float:
    """Return the accuracy × 100 of models that know the true values of the other rows."""
    amputed, schema = simulated(dataset, pattern, seed, max_rows)
    encoder = TableEncoder(schema=schema)
    truth = encoder.fit_transform(amputed.truth)
    observed = encoder.transform(amputed.incomplete).observed
    values = truth.values.copy()
    fold = np.random.default_rng(seed).permutation(len(values)) % N_FOLDS
    for j in np.flatnonzero(~observed.all(axis=0)).tolist():
        scaler, missing = encoder.scalers_[j], ~observed[:, j]
        target = values[:, j] if scaler is None else scaler.unscale(values[:, j])
        classes = np.unique(target) if scaler is None else None
        estimates = _estimates(truth, observed, j, target, classes, fold, seed)[:, missing]
        mixed = _mixed(estimates, target[missing], classes)
        values[missing, j] = mixed if scaler is None else scaler.scale(mixed)
    imputed = encoder.decode(values, amputed.incomplete)
    return accuracy_x100(amputed, imputed, schema)


def _estimates(
    truth: EncodedTable,
    observed: np.ndarray,
    j: int,
    target: np.ndarray,
    classes: np.ndarray | None,
    fold: np.ndarray,
    seed: int,
) -> np.ndarray:
    """Return each model's estimates of a column, each row's by models that do not know the row.

    The shape is (models, rows, classes); a number has one class.
    """
    kept = _masked_alike(observed, j, np.random.default_rng([seed, j]))
    coordinates, column = _coordinates(truth)
    found = np.zeros((N_MODELS, len(fold), 1 if classes is None else len(classes)))
    for k in range(N_FOLDS):
        learned, asked = fold != k, (fold == k) & ~observed[:, j]
        if not asked.any():
            continue
        whole = np.ones((int(learned.sum()), len(column)), dtype=bool)
        gaussian = GaussianModel.fit(coordinates[learned], whole, max_iter=1, ridge=1e-3)
        expected = gaussian.conditional_mean(coordinates, kept[:, column])
        cells = np.where(kept, truth.values, np.nan)
        cells[:, np.isnan(cells[learned]).all(axis=0)] = 0.0  # boosting asks for a value
        inputs = np.hstack([expected, cells])
        for number, model in enumerate(_models(classes is None, seed)):
            # A line has no use for cells that may be missing.
            used = inputs if number else expected
            fitted = _fitted(model, used[learned], target[learned])
            found[number, asked] = _expected(fitted, used[asked], classes)
    return found


def _masked_alike(observed: np.ndarray, j: int, rng: np.random.Generator) -> np.ndarray:
    """Return which cells models may use: rows that have a column are masked like those without."""
    missing, others = np.flatnonzero(~observed[:, j]), np.flatnonzero(observed[:, j])
    kept = observed.copy()
    kept[others] &= observed[rng.choice(missing, size=len(others))]
    kept[:, j] = False
    return kept


def _coordinates(truth: EncodedTable) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers standardized and categories as indicators, and the column of each."""
    parts = [
        np.eye(column.n_categories)[cells.astype(np.intp)][:, 1:]
        if column.n_categories
        else cells[:, None]
        for column, cells in zip(truth.columns, truth.values.T, strict=True)
    ]
    coordinates = np.hstack(parts).astype(np.float64)
    spread = coordinates.std(axis=0)
    coordinates = (coordinates - coordinates.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return coordinates, np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])


def _models(is_number: bool, seed: int) -> list[Any]:
    """Return a line of what the Gaussian expects, a forest and boosted trees."""
    forest = {"n_estimators": 200, "min_samples_leaf": 3, "max_features": 0.5}
    boosting = {"max_iter": 100, "learning_rate": 0.06, "max_features": 0.5}
    if is_number:
        return [
            RidgeCV(np.logspace(-2, 3, 6)),
            ExtraTreesRegressor(**forest, random_state=seed),
            HistGradientBoostingRegressor(**boosting, random_state=seed),
        ]
    return [
        LogisticRegression(max_iter=1000),
        ExtraTreesClassifier(**forest, random_state=seed),
        HistGradientBoostingClassifier(**boosting, random_state=seed),
    ]


def _fitted(model: Any, inputs: np.ndarray, target: np.ndarray) -> Any:
    """Return a fitted model; of a single class, one that expects just that."""
    is_constant = len(np.unique(target)) == 1
    return (DummyClassifier() if is_constant else model).fit(inputs, target)


def _expected(model: Any, inputs: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    """Return what a fitted model expects, as one column per class; a number has one."""
    if classes is None:
        return model.predict(inputs)[:, None]
    likely = np.zeros((len(inputs), len(classes)))
    likely[:, np.isin(classes, model.classes_)] = model.predict_proba(inputs)
    return likely


def _mixed(estimates: np.ndarray, truth: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    """Return estimates of cells, mixed by the weights with the least error on these very cells."""
    wanted = truth[:, None] if classes is None else truth[:, None] == classes
    size = np.abs(wanted).max() or 1.0
    weights, _ = nnls(estimates.reshape(len(estimates), -1).T / size, wanted.ravel() / size)
    mixed = np.tensordot(weights, estimates, axes=1)
    return mixed[:, 0] if classes is None else classes[mixed.argmax(axis=1)]


def cases() -> Iterator[tuple[str, str, int]]:
    """Yield table, pattern and seed of each case."""
    part = PARTS[PART]
    yield from product(part.datasets, part.patterns, range(part.seeds))


def summary(runs: Sequence[Run], blend_runs: pd.DataFrame) -> dict[str, Any]:
    """Compare the ceiling with the methods of the blend's benchmark, on the same missing cells.

    Parameters
    ----------
    runs : sequence of runs
        Those of this benchmark.
    blend_runs : DataFrame
        Those of the other.
    """
    own = pd.DataFrame(runs).assign(part=PART, method=CEILING)
    others = blend_runs[(blend_runs["part"] == PART) & blend_runs["method"].isin(METHODS)]
    table = accuracies(pd.concat([own, others])).dropna()
    means = table.mean()
    gap = means[CEILING] - means["missforest"]
    return {
        "tables_and_patterns": len(table),
        "mean_accuracy": means.round(2).sort_values(ascending=False).to_dict(),
        "ceiling_over": {name: round(means[CEILING] / means[name], 3) for name in METHODS},
        "blend_covers_of_the_way_from_missforest": round(
            (means["pmae"] - means["missforest"]) / gap, 3
        ),
        "by_table": table.round(2).reset_index().to_dict("records"),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing, and summarize."""
    argparse.ArgumentParser(description=__doc__.split("\n")[0]).parse_args(arguments)
    path = RESULTS / f"{NAME}.json"
    runs: list[Run] = json.loads(path.read_text())["runs"] if path.exists() else []
    for dataset, pattern, seed in cases():
        key = {"dataset": dataset, "pattern": pattern, "seed": seed}
        if any(key.items() <= run.items() for run in runs):
            continue
        reached = ceiling(dataset, pattern, seed, PARTS[PART].rows_of(dataset))
        runs.append({**key, "accuracy": reached})
        print(runs[-1], flush=True)
        write_result(
            NAME,
            {
                "what": "imputation accuracy × 100 (nested, MNAR, tables kept aside) of models "
                "that know the true values of all other rows, mixed by the truth itself",
                "command": f"python -m benchmarks.accuracy.{NAME}",
                "summary": summary(runs, pd.DataFrame(recorded())),
                "runs": runs,
            },
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
