import numpy as np
import pandas as pd

from pmae_core.table import Role, Schema
from pmae_core.table.samples.clinic import EXPLANATIONS, make_clinic


def test_the_same_seed_gives_the_same_table():
    first, again, other = make_clinic(seed=1), make_clinic(seed=1), make_clinic(seed=2)
    pd.testing.assert_frame_equal(first.frame, again.frame)
    assert not first.frame.equals(other.frame)


def test_holes_are_only_where_they_are_explained():
    clinic = make_clinic()
    with_holes = clinic.frame.columns[clinic.frame.isna().any()]
    assert set(with_holes) == set(EXPLANATIONS) == set(clinic.p_missing)
    assert not clinic.truth.isna().any(axis=None)
    seen = clinic.frame.notna()
    assert (clinic.frame.where(seen, clinic.truth) == clinic.truth).all(axis=None)
    pd.testing.assert_series_equal(clinic.frame.dtypes, clinic.truth.dtypes)


def test_roles_are_mixed_and_as_meant():
    schema = Schema.infer(make_clinic().frame)
    assert schema.names(Role.CATEGORICAL) == ["sex", "region"]
    assert schema.names(Role.BOOLEAN) == ["smoker", "readmitted"]
    assert schema.names(Role.DATETIME) == ["visit_date"]
    assert len(schema.names(Role.NUMERICAL)) == 6


def test_each_column_is_missing_as_explained():
    clinic = make_clinic(n_rows=20_000, seed=3)
    truth, missing = clinic.truth, clinic.frame.isna()

    def share(column, rows):
        return missing.loc[rows, column].mean()

    old = truth["age"] > 60
    north = truth["region"] == "north"
    rich = truth["income"] > truth["income"].median()
    assert EXPLANATIONS["bmi"].startswith("MCAR")
    for group in (old, north, rich, truth["bmi"] > 27):
        assert abs(share("bmi", group) - share("bmi", ~group)) < 0.02
    assert share("blood_pressure", ~old) > 2 * share("blood_pressure", old)
    assert share("cholesterol", ~old & ~truth["smoker"]) > 2 * share("cholesterol", old)
    assert share("cholesterol", ~truth["smoker"]) > 1.3 * share("cholesterol", truth["smoker"])
    assert share("insulin", north) > 5 * share("insulin", ~north)
    assert share("income", rich) > 2 * share("income", ~rich)
    assert clinic.frame["income"].mean() < 0.95 * truth["income"].mean()
    np.testing.assert_allclose(
        missing[list(EXPLANATIONS)].mean(), clinic.p_missing.mean(), atol=0.015
    )


def test_columns_tell_about_each_other():
    correlation = make_clinic(n_rows=5000).truth.corr(numeric_only=True)
    assert correlation.loc["age", "blood_pressure"] > 0.4
    assert correlation.loc["bmi", "insulin"] > 0.4
