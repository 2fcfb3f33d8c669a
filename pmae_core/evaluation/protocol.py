"""The paper's benchmark: its tables as it prepares them, and its released masks."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from sklearn.preprocessing import QuantileTransformer

from pmae_core.errors import DatasetUnavailableError, ScoringError, TableError
from pmae_core.table.samples.datasets import load_dataset
from pmae_core.table.schema import Role, Schema

MISSING_CATEGORY = "?"
COMMON_CATEGORY = "(rare)"
RELEASED_COLUMNS = ("age", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6", "sex")


@dataclass(frozen=True)
class BenchmarkTable:
    """A complete table as the paper's benchmark uses it.

    Attributes
    ----------
    name : str
        Name of the dataset.
    frame : DataFrame
        The features: numerical columns quantile-normal, categorical ones regrouped.
    schema : Schema
        Roles of the features.
    labels : Series
        The target of the downstream task, as it was.
    task : str
        ``"regression"`` or ``"classification"``.
    """

    name: str
    frame: pd.DataFrame
    schema: Schema
    labels: pd.Series
    task: Literal["regression", "classification"]


class ReleasedMask(NamedTuple):
    """One released mask of the diabetes table."""

    truth: pd.DataFrame
    incomplete: pd.DataFrame
    missing: pd.DataFrame
    schema: Schema


def benchmark_table(name: str, max_rows: int | None = None, seed: int = 0) -> BenchmarkTable:
    """Load one of the benchmark tables, prepared as in the paper.

    Parameters
    ----------
    name : str
        A name that :func:`pmae_core.table.load_dataset` knows.
    max_rows : int, optional
        Take a random sample of that many rows *before* the preparation, in their order.
    seed : int, default 0
        Seed of that sample.

    Returns
    -------
    BenchmarkTable
        The features without the target, and the target beside them.

    Notes
    -----
    The preparation uses the complete data, which only a benchmark may do; an imputer must not.
    See :func:`prepare_benchmark_table`.
    """
    dataset = load_dataset(name)
    frame = dataset.frame
    if max_rows is not None and max_rows < len(frame):
        rows = np.random.default_rng(seed).choice(len(frame), size=max_rows, replace=False)
        frame = frame.iloc[np.sort(rows)]
    frame = frame.reset_index(drop=True)
    features = frame.drop(columns=dataset.target)
    prepared, schema = prepare_benchmark_table(features, dataset.schema)
    return BenchmarkTable(name, prepared, schema, frame[dataset.target], dataset.task)


def prepare_benchmark_table(frame: pd.DataFrame, schema: Schema) -> tuple[pd.DataFrame, Schema]:
    """Prepare a complete table as the paper does, and return it with its schema.

    - Numerical: a quantile transform to the normal distribution, with
      ``max(min(n // 30, 1000), 10)`` quantiles.
    - Categorical: missing values become a category of their own; categories with fewer than
      ``max(30, round(n / 100))`` rows join one common category.

    Parameters
    ----------
    frame : DataFrame
        The features; numerical columns without missing values.
    schema : Schema
        Their roles (more columns than in `frame` do not matter).

    Returns
    -------
    DataFrame, Schema
        The prepared table and its roles: numerical and categorical only.

    Raises
    ------
    TableError
        If a numerical column has missing values, or a column is neither numerical nor categorical.
    """
    _check_benchmark_columns(frame, schema)
    n_rows = len(frame)
    rare_below = max(30, round(n_rows / 100))
    n_quantiles = min(max(min(n_rows // 30, 1000), 10), n_rows)
    prepared: dict[Any, Any] = {}
    roles: dict[Any, Role] = {}
    for name in frame.columns:
        if schema.role(name) is Role.NUMERICAL:
            prepared[name] = _quantile_normal(frame[name], n_quantiles)
            roles[name] = Role.NUMERICAL
        else:
            prepared[name] = _regrouped(frame[name], rare_below)
            roles[name] = Role.CATEGORICAL
    result = pd.DataFrame(prepared, index=frame.index)
    return result, Schema.infer(result, roles=roles)


def released_diabetes(path_npz: str | PathLike[str], pattern: str, seed: int) -> ReleasedMask:
    """Read one of the released masks of the diabetes table.

    Parameters
    ----------
    path_npz : path
        The file of released masks, with ``<pattern>/<seed>/{truth,missing,propensity}``.
    pattern : str
        ``"general"`` or ``"quasi-monotone"``.
    seed : int
        0 to 4.

    Returns
    -------
    ReleasedMask
        ``truth, incomplete, missing, schema``. Nine numerical columns are quantile-normal; the
        categories of ``sex`` are the labels "1" and "2" of the original table.
    """
    try:
        with np.load(path_npz, allow_pickle=False) as archive:
            values = archive[f"{pattern}/{seed}/truth"].astype(np.float64)
            cells = archive[f"{pattern}/{seed}/missing"]
    except FileNotFoundError as error:
        raise DatasetUnavailableError(
            f"There is no file of released masks at {path_npz}."
        ) from error
    except KeyError as error:
        raise ScoringError(
            f"The released masks have no pattern {pattern!r} with seed {seed}. Choose 'general' or "
            "'quasi-monotone', and a seed from 0 to 4."
        ) from error
    truth = pd.DataFrame(values, columns=list(RELEASED_COLUMNS))
    labels = np.where(truth["sex"] == 0, "1", "2")
    truth["sex"] = pd.Categorical(labels, categories=["1", "2"])
    missing = pd.DataFrame(cells, columns=truth.columns)
    roles = dict.fromkeys(truth.columns, Role.NUMERICAL) | {"sex": Role.CATEGORICAL}
    return ReleasedMask(truth, truth.mask(missing), missing, Schema.infer(truth, roles=roles))


def _check_benchmark_columns(frame: pd.DataFrame, schema: Schema) -> None:
    for name in frame.columns:
        role = schema.role(name)
        if role not in (Role.NUMERICAL, Role.CATEGORICAL, Role.BOOLEAN):
            raise TableError(
                f"A benchmark table has only numerical and categorical columns, but the role of "
                f"{name} is {role}."
            )
        if role is Role.NUMERICAL and frame[name].isna().any():
            raise TableError(
                f"A benchmark needs the true value of every number, but {name} has missing values."
            )


def _quantile_normal(column: pd.Series, n_quantiles: int) -> np.ndarray:
    transformer = QuantileTransformer(
        n_quantiles=n_quantiles, output_distribution="normal", random_state=0
    )
    return transformer.fit_transform(column.to_numpy(dtype=np.float64)[:, None])[:, 0]


def _regrouped(column: pd.Series, rare_below: int) -> Any:
    labels = column.astype(object).where(column.notna(), MISSING_CATEGORY).astype(str)
    counts = labels.value_counts()
    rare = counts.index[counts < rare_below]
    return pd.Categorical(labels.where(~labels.isin(rare), COMMON_CATEGORY))
