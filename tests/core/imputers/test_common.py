"""The same invariants for every imputer there is."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import Cancelled, ImputationError, ImputationWarning, PMAEError
from pmae_core.imputers import BaseImputer, list_imputers, make_imputer
from pmae_core.imputers.parameters import Number, OneOf, SomeOf
from pmae_core.table import Schema
from tests.support.fast_params import FAST_PARAMS

INFOS = {info.name: info for info in list_imputers()}
EVERY_METHOD = pytest.mark.parametrize("name", INFOS)


def make(name: str, **params) -> BaseImputer:
    return make_imputer(name, **{"random_state": 0, **FAST_PARAMS.get(name, {}), **params})


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Correlated columns of every kind, with missing cells in most of them."""
    rng = np.random.default_rng(0)
    n = 60
    x = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "size": x,
            "count": pd.array((10 + 3 * x).round().astype(int), dtype="Int64"),
            "level": pd.Categorical(
                np.where(x > 0.5, "high", np.where(x < -0.5, "low", "middle")),
                categories=["low", "middle", "high"],
                ordered=True,
            ),
            "town": np.where(x + rng.normal(size=n) > 0, "Ulm", "Bonn"),
            "yes": pd.array(x > 0, dtype="boolean"),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta((x * 30).round(), unit="D"),
            "full": x + rng.normal(size=n),
        },
        index=pd.Index(rng.permutation(n) * 7, name="row"),
    )
    for column in frame.columns[:-1]:
        frame.loc[frame.index[rng.random(n) < 0.25], column] = pd.NA
    return frame


@pytest.fixture(scope="module")
def imputed_by(table):
    """Fit each method once for all tests of this module."""
    done: dict[str, tuple[BaseImputer, pd.DataFrame]] = {}

    def impute(name: str) -> tuple[BaseImputer, pd.DataFrame]:
        if name not in done:
            imputer = make(name)
            done[name] = (imputer, imputer.fit_transform(table))
        return done[name]

    return impute


@EVERY_METHOD
def test_nothing_is_left_missing(name, imputed_by):
    assert not imputed_by(name)[1].isna().any(axis=None)


@EVERY_METHOD
def test_observed_cells_index_columns_and_dtypes_are_kept(name, table, imputed_by):
    imputed = imputed_by(name)[1]
    pd.testing.assert_index_equal(imputed.index, table.index)
    assert imputed.dtypes.equals(table.dtypes)
    # With the same cells missing again, it must be the table that came in.
    pd.testing.assert_frame_equal(imputed.mask(table.isna()), table, check_exact=True)


@EVERY_METHOD
def test_the_input_is_not_changed(name, table, imputed_by):
    before = table.copy(deep=True)
    imputed_by(name)
    pd.testing.assert_frame_equal(table, before, check_exact=True)


@EVERY_METHOD
def test_imputed_cells_are_possible_values(name, table, imputed_by):
    imputed = imputed_by(name)[1]
    for column in ("level", "town", "yes"):
        assert set(imputed[column]) <= set(table[column].dropna())
    for column in ("size", "count", "day"):
        assert imputed[column].between(table[column].min(), table[column].max()).all()
    assert (imputed["day"] == imputed["day"].dt.normalize()).all()


@EVERY_METHOD
def test_same_seed_same_result(name, table, imputed_by):
    again = make(name).fit_transform(table)
    pd.testing.assert_frame_equal(again, imputed_by(name)[1], check_exact=True)


@EVERY_METHOD
def test_one_missing_cell(name, table):
    complete = table.dropna().copy()
    complete.iloc[3, 0] = np.nan
    imputed = make(name).fit_transform(complete)
    assert not imputed.isna().any(axis=None)


@EVERY_METHOD
def test_nothing_missing_comes_back_unchanged(name, table):
    complete = table.dropna()
    pd.testing.assert_frame_equal(make(name).fit_transform(complete), complete, check_exact=True)


@EVERY_METHOD
def test_new_rows_are_imputed_or_refused_with_a_sentence(name, table, imputed_by):
    imputer, _ = imputed_by(name)
    rows = table.iloc[:7].copy()
    rows["town"] = rows["town"].where(rows["town"].isna(), "Oslo")
    try:
        imputed = imputer.transform(rows)
    except ImputationError as error:
        assert "fitted on" in str(error)
        return
    assert not imputed.isna().any(axis=None)
    assert set(imputed["town"][rows["town"].notna()]) == {"Oslo"}


@EVERY_METHOD
def test_arrays_come_back_as_arrays(name):
    rng = np.random.default_rng(0)
    array = rng.normal(size=(40, 3))
    array[:, 1] += array[:, 0]
    array[rng.random(array.shape) < 0.2] = np.nan
    imputed = make(name).fit_transform(array)
    assert isinstance(imputed, np.ndarray)
    assert not np.isnan(imputed).any()
    seen = ~np.isnan(array)
    assert (imputed[seen] == array[seen]).all()


@EVERY_METHOD
def test_empty_and_constant_columns(name, table):
    odd = table[["size", "full"]].assign(
        empty=pd.Series(np.nan, index=table.index), same="x", still=2.5
    )
    odd.iloc[4, 3:] = np.nan
    with pytest.warns(ImputationWarning, match="'empty' keeps its missing cells"):
        imputed = make(name).fit_transform(odd)
    assert imputed["empty"].isna().all()
    assert set(imputed["same"]) == {"x"}
    assert set(imputed["still"]) == {2.5}
    assert not imputed["size"].isna().any()


@EVERY_METHOD
@pytest.mark.parametrize("shape", [(1, 3), (2, 10), (20, 1), (10, 2)])
def test_tiny_tables_are_imputed_or_refused_with_a_sentence(name, shape):
    rng = np.random.default_rng(0)
    tiny = pd.DataFrame(rng.normal(size=shape), columns=[f"c{j}" for j in range(shape[1])])
    tiny.iloc[0, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImputationWarning)
        try:
            imputed = make(name).fit_transform(tiny)
        except ImputationError as error:
            assert str(error).endswith(".")
            return
    learnable = tiny.notna().any()
    assert not imputed.loc[:, learnable].isna().any(axis=None)


@EVERY_METHOD
def test_cancelling_ends_the_fit(name, table):
    with pytest.raises(Cancelled):
        make(name).fit(table, cancel=lambda: True)


@EVERY_METHOD
def test_progress_is_reported_as_plain_data(name, table):
    events = []
    make(name).fit(table, callbacks=[events.append])
    assert events
    assert all(json.dumps(event.to_dict()) for event in events)


@EVERY_METHOD
def test_an_impossible_table_is_refused_with_a_sentence(name):
    twice = pd.DataFrame([[1.0, np.nan], [2.0, 3.0]], columns=["a", "a"])
    with pytest.raises((PMAEError, ValueError), match=r"a|unique"):
        make(name).fit(twice)
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        make(name).fit(pd.DataFrame({"a": []}))


@EVERY_METHOD
def test_the_registry_and_the_class_agree_on_who_draws_samples(name):
    assert make_imputer(name).draws_samples() == INFOS[name].draws_samples


@EVERY_METHOD
def test_draws_differ_in_missing_cells_only(name, table, imputed_by):
    imputer, _ = imputed_by(name)
    if not INFOS[name].draws_samples:
        with pytest.raises(ImputationError, match="only one imputation"):
            imputer.sample(table, 2)
        return
    seen = []
    first, second = imputer.sample(table, 2, random_state=1, callbacks=[seen.append])
    assert [(event.done, event.total, event.unit) for event in seen] == [
        (1, 2, "imputation"),
        (2, 2, "imputation"),
    ]
    with pytest.raises(Cancelled):
        imputer.sample(table, 2, cancel=lambda: True)
    again, _ = imputer.sample(table, 2, random_state=1)
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    assert not first.equals(second)
    for draw in (first, second):
        assert not draw.isna().any(axis=None)
        pd.testing.assert_frame_equal(draw.mask(table.isna()), table, check_exact=True)


RULES = {
    "size": {"lower": -0.8, "upper": 1.2},
    "full": {"whole": True, "upper": 1},
    "total": {"derived": "size + 2 * count"},
    "double": {"derived": "2 * total"},
}


@EVERY_METHOD
def test_rules_hold_in_every_imputation(name, table):
    ruled = table[["size", "count", "town", "full"]].astype({"size": "float64"})
    ruled["total"] = ruled["size"] + 2 * ruled["count"].astype("Float64").astype(float)
    ruled["double"] = (2 * ruled["total"]).where(ruled["full"] > 0)
    ruled.loc[ruled.index[::5], ["full", "total"]] = np.nan
    schema = Schema.infer(ruled, rules=RULES)
    with pytest.warns(ImputationWarning, match="'size' lie outside its limits"):
        imputer = make(name, schema=schema).fit(ruled)
    draws = imputer.sample(ruled, 2, random_state=0) if INFOS[name].draws_samples else []
    for imputed in (imputer.transform(ruled), *draws):
        pd.testing.assert_frame_equal(imputed.mask(ruled.isna()), ruled, check_exact=True)
        now = imputed.where(ruled.isna())
        assert now["size"].dropna().between(-0.8, 1.2).all()
        full = now["full"].dropna()
        assert ((full == full.round()) & (full <= 1)).all()
        total = imputed["size"] + 2 * imputed["count"].astype(float)
        assert (now["total"] - total).abs().max() < 1e-9
        assert (now["double"] - 2 * imputed["total"]).abs().max() < 1e-9


GRADES = ["pass", "merit", "distinction"]  # in an order that no rule could find


@pytest.fixture(scope="module")
def ordinal_table(table) -> pd.DataFrame:
    """Ordinal columns of every dtype that holds levels, beside others."""
    rank = np.digitize(table["full"], [-0.8, 0.8])
    frame = table[["size", "level", "town", "full"]].assign(
        stage=pd.array(1 + rank, dtype="Int64"),
        grade=np.array(GRADES)[rank],
        dose=np.array([0.5, 1.0, 2.5])[rank],
    )
    frame.loc[frame.index[::4], ["stage", "grade", "dose"]] = pd.NA
    return frame


@EVERY_METHOD
def test_ordinal_columns_hold_their_levels_in_every_imputation(name, ordinal_table):
    table = ordinal_table
    roles = dict.fromkeys(["level", "stage", "grade", "dose"], "ordinal")
    schema = Schema.infer(table, roles, {"grade": {"levels": GRADES}})
    imputer = make(name, schema=schema).fit(table)
    draws = imputer.sample(table, 2, random_state=0) if INFOS[name].draws_samples else []
    for imputed in (imputer.transform(table), *draws):
        assert not imputed.isna().any(axis=None)
        assert imputed.dtypes.equals(table.dtypes)
        pd.testing.assert_frame_equal(imputed.mask(table.isna()), table, check_exact=True)
        for column in roles:
            assert set(imputed[column]) <= set(schema[column].rules.levels)


@pytest.mark.parametrize("name", ["knn", "em"])
def test_a_value_that_is_no_level_stays_with_a_warning(name, ordinal_table):
    table = ordinal_table[["size", "stage", "full"]]
    imputer = make(name, schema={"stage": "ordinal"}).fit(table)
    other = table.copy()
    other.loc[other.index[1], "stage"] = 9
    with pytest.warns(
        ImputationWarning, match=r"1 value of 'stage' is not among its levels \(1, 2"
    ):
        imputed = imputer.transform(other)
    assert imputed["stage"].iloc[1] == 9
    assert set(imputed["stage"][other["stage"].isna()]) <= {1, 2, 3}


@EVERY_METHOD
def test_methods_describe_themselves(name):
    info = INFOS[name]
    assert info.title
    assert info.citation
    assert info.explanation.endswith(".")
    with pytest.raises(ImputationError, match="has no parameter nonsense"):
        make_imputer(name, nonsense=1)


@EVERY_METHOD
def test_every_parameter_declares_what_it_may_be(name):
    imputer = make(name)
    assert set(imputer._parameter_constraints) == set(imputer.get_params(deep=False))


def wrong_values(alternatives) -> list:
    """Return values that none of the alternatives of a parameter accepts."""
    candidates = [object(), float("nan")]
    for one in alternatives:
        if isinstance(one, Number):
            given = [bound for bound in (one.least, one.above) if bound is not None]
            candidates += [type(bound)(bound - 1) for bound in given]
            given = [bound for bound in (one.most, one.below) if bound is not None]
            candidates += [type(bound)(bound + 1) for bound in given]
            candidates += [bound for bound in (one.above, one.below) if bound is not None]
        if isinstance(one, OneOf | SomeOf):
            candidates += ["no such word", ["no such word", "no such word"]]
    return [
        value
        for value in candidates
        if not any(one is not None and one.accepts(value) for one in alternatives)
    ]


@EVERY_METHOD
def test_wrong_parameters_are_refused_by_name(name, table):
    for parameter, alternatives in make(name)._parameter_constraints.items():
        wrong = wrong_values(alternatives)
        assert len(wrong) >= 1
        for value in wrong:
            with pytest.raises(ImputationError, match=rf"^{parameter} must be .+, not .+\.$"):
                make(name).set_params(**{parameter: value}).fit(table)
        if None not in alternatives:
            with pytest.raises(ImputationError, match=rf"^{parameter} must be .+, not None\.$"):
                make(name).set_params(**{parameter: None}).fit(table)


@EVERY_METHOD
def test_numbers_of_numpy_are_parameters_like_those_of_python(name, table, imputed_by):
    params = make(name).get_params(deep=False)
    as_numpy = {
        key: np.array(value)[()] for key, value in params.items() if type(value) in (int, float)
    }
    imputed = make(name, **as_numpy).fit_transform(table)
    pd.testing.assert_frame_equal(imputed, imputed_by(name)[1], check_exact=True)


def test_an_unknown_method_is_refused_with_the_names_there_are():
    with pytest.raises(ImputationError, match=r"Choose one of: .*pmae-mix"):
        make_imputer("magic")
