from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest, spearmanr

from pmae_core.errors import DatasetUnavailableError, ScoringError, TableError
from pmae_core.evaluation import (
    benchmark_table,
    prepare_benchmark_table,
    protocol,
    released_diabetes,
    score_imputation,
)
from pmae_core.table.schema import Role, Schema


def raw_table(n_rows=900):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "income": np.exp(rng.normal(size=n_rows)),
            "visits": rng.poisson(3, size=n_rows),
            "town": pd.Categorical(
                rng.choice(["A", "B", "C", "D", None], size=n_rows, p=[0.5, 0.34, 0.02, 0.02, 0.12])
            ),
            "label": rng.integers(2, size=n_rows),
        }
    )


def as_dataset(frame):
    roles = {"income": "numerical", "visits": "numerical", "town": "categorical"}
    schema = Schema.infer(frame, roles=roles)
    return SimpleNamespace(
        name="raw", frame=frame, schema=schema, target="label", task="classification"
    )


@pytest.fixture
def raw(monkeypatch):
    frame = raw_table()
    monkeypatch.setattr(protocol, "load_dataset", lambda name: as_dataset(frame))
    return frame


def test_the_target_stands_beside_the_features(raw):
    table = benchmark_table("raw")
    assert list(table.frame.columns) == ["income", "visits", "town"]
    pd.testing.assert_series_equal(table.labels, raw["label"])
    assert (table.name, table.task) == ("raw", "classification")
    roles = [table.schema.role(name) for name in table.frame.columns]
    assert roles == [Role.NUMERICAL, Role.NUMERICAL, Role.CATEGORICAL]


def test_numbers_become_normal_in_their_order(raw):
    frame = benchmark_table("raw").frame
    assert spearmanr(frame["income"], raw["income"]).statistic > 0.9999
    assert kstest(frame["income"], "norm").pvalue > 0.05
    # Ties stay ties: no noise is added to discrete columns.
    assert frame["visits"].nunique() == raw["visits"].nunique()


def test_rare_categories_join_and_missing_ones_are_a_category(raw):
    town = benchmark_table("raw").frame["town"]
    counts = raw["town"].value_counts()
    assert (counts[["C", "D"]] < 30).all()
    assert set(town.cat.categories) == {"A", "B", "(rare)", "?"}
    assert (town == "(rare)").sum() == counts[["C", "D"]].sum()
    assert (town == "?").sum() == raw["town"].isna().sum()


@pytest.mark.parametrize(("n_rows", "smallest_kept"), [(500, 30), (4000, 40)])
def test_the_papers_limit_for_rare_categories(n_rows, smallest_kept):
    labels = ["kept"] * smallest_kept + ["joined"] * (smallest_kept - 1)
    labels += ["other"] * (n_rows - len(labels))
    frame = pd.DataFrame({"c": labels})
    prepared, _ = prepare_benchmark_table(frame, Schema.infer(frame))
    assert set(prepared["c"]) == {"kept", "other", "(rare)"}


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (pd.Series([1.5, None] * 20), "needs the true value of every number, but c has"),
        (pd.Series(pd.date_range("2020-01-01", periods=40)), "the role of c is datetime"),
    ],
)
def test_tables_that_are_no_benchmark_are_refused(column, sentence):
    frame = pd.DataFrame({"c": column})
    with pytest.raises(TableError, match=sentence):
        prepare_benchmark_table(frame, Schema.infer(frame))


def test_a_sample_of_rows_keeps_order_and_follows_its_seed(raw):
    sample = benchmark_table("raw", max_rows=100, seed=3)
    assert len(sample.frame) == len(sample.labels) == 100
    pd.testing.assert_frame_equal(sample.frame, benchmark_table("raw", max_rows=100, seed=3).frame)
    other = benchmark_table("raw", max_rows=100, seed=4)
    assert not sample.frame["income"].equals(other.frame["income"])
    assert len(benchmark_table("raw", max_rows=10_000).frame) == len(raw)


def test_diabetes_is_the_table_of_the_paper():
    table = benchmark_table("diabetes")
    assert table.frame.shape == (442, 10)
    assert table.schema.names(Role.CATEGORICAL) == ["sex"]
    assert not table.frame.isna().any(axis=None)
    assert table.task == "regression"


@pytest.fixture
def masks_file(tmp_path) -> Path:
    values = np.column_stack([np.random.default_rng(0).normal(size=(20, 9)), np.arange(20) % 2])
    missing = np.random.default_rng(1).random((20, 10)) < 0.3
    path = tmp_path / "masks.npz"
    np.savez(path, **{"general/0/truth": values, "general/0/missing": missing})
    return path


def test_released_masks_are_read_as_tables(masks_file):
    truth, incomplete, missing, schema = released_diabetes(masks_file, "general", 0)
    assert truth.columns[-1] == "sex" and set(truth["sex"]) == {"1", "2"}
    np.testing.assert_array_equal(incomplete.isna(), missing)
    assert incomplete.dtypes.equals(truth.dtypes)
    assert schema.names(Role.CATEGORICAL) == ["sex"]
    assert score_imputation(truth, truth, missing, schema).overall["imputation_accuracy"] == 1


def test_masks_that_are_not_there_are_named(masks_file):
    with pytest.raises(ScoringError, match="no pattern 'general' with seed 9"):
        released_diabetes(masks_file, "general", 9)
    with pytest.raises(DatasetUnavailableError, match="no file of released masks"):
        released_diabetes(masks_file.with_name("absent.npz"), "general", 0)
