import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, spearmanr, ttest_ind

from pmae_core.amputation import ampute
from pmae_core.errors import AmputationError, SchemaError
from pmae_core.table.schema import Role, Schema

PATTERNS = ["monotone", "quasi-monotone", "general"]
MECHANISMS = ["MCAR", "MAR", "MNAR"]
COUPLINGS = ["nested", "independent"]


def numbers(n_rows=4000, n_columns=10, seed=0):
    """Return correlated normal columns."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(n_columns, n_columns)) / np.sqrt(n_columns)
    values = rng.normal(size=(n_rows, n_columns)) @ (np.eye(n_columns) + 0.5 * mixing)
    return pd.DataFrame(values, columns=[f"x{j}" for j in range(n_columns)])


def mixed(n_rows=300):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, size=n_rows),
            "score": rng.normal(size=n_rows).astype("float32"),
            "count": pd.array(rng.integers(0, 9, size=n_rows), dtype="Int16"),
            "big": rng.choice([2**60 + 1, 2**60 + 3, 2**60 + 5], size=n_rows),
            "member": rng.random(n_rows) < 0.4,
            "maybe": pd.array(rng.random(n_rows) < 0.4, dtype="boolean"),
            "size": pd.Categorical(
                rng.choice(["S", "M", "L"], size=n_rows), categories=["S", "M", "L"], ordered=True
            ),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], size=n_rows),
            "born": pd.Timestamp("1990-01-01", tz="Europe/Berlin")
            + pd.to_timedelta(rng.integers(0, 9000, size=n_rows), unit="D"),
            "waited": pd.to_timedelta(rng.integers(0, 500, size=n_rows), unit="min"),
            "price": [Decimal(int(value)) / 100 for value in rng.integers(0, 999, size=n_rows)],
        },
        index=pd.MultiIndex.from_arrays([np.arange(n_rows) % 7, np.arange(n_rows) % 3]),
    )


def is_nested(missing):
    """Say whether the columns can be ordered so that a missing cell implies all later ones."""
    cells = missing[missing.sum().sort_values().index].to_numpy().astype(int)
    return bool((np.diff(cells, axis=1) >= 0).all())


def with_holes(holes):
    return [name for name in holes.missing if holes.missing[name].any()]


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_every_amputation_keeps_to(pattern, mechanism, coupling):
    df = mixed()
    before = df.copy(deep=True)
    holes = ampute(df, pattern, mechanism, coupling, seed=3, drop_empty_rows=False)
    pd.testing.assert_frame_equal(df, before)
    pd.testing.assert_frame_equal(holes.truth, df)
    assert 0 < holes.missing.to_numpy().sum() < holes.missing.size
    for table in (holes.incomplete, holes.missing, holes.propensity):
        assert table.index.equals(df.index) and table.columns.equals(df.columns)
    assert set(holes.missing.dtypes) == {np.dtype(bool)}
    np.testing.assert_array_equal(holes.incomplete.isna(), holes.missing)
    assert holes.propensity.to_numpy().min() >= 0 and holes.propensity.to_numpy().max() <= 1
    # Cells that stay are the same cells.
    for name in df:
        kept = ~holes.missing[name].to_numpy()
        assert (
            holes.incomplete[name][kept].astype(object).tolist()
            == df[name][kept].astype(object).tolist()
        )
    # Settings repeat it, also after a journey through JSON; another seed does not.
    again = ampute(df, **json.loads(json.dumps(holes.settings)))
    pd.testing.assert_frame_equal(again.incomplete, holes.incomplete)
    pd.testing.assert_frame_equal(again.propensity, holes.propensity)
    other = ampute(df, **{**holes.settings, "seed": 4})
    assert not other.missing.equals(holes.missing)


def test_dtypes_of_columns_with_holes():
    df = mixed()
    incomplete = ampute(df, "general", "MCAR").incomplete
    changed = {
        name: str(incomplete[name].dtype) for name in df if incomplete[name].dtype != df[name].dtype
    }
    assert changed == {"age": "float64", "big": "Int64", "member": "boolean"}


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_nested_holes_are_strictly_monotone(pattern, mechanism):
    for seed in range(3):
        holes = ampute(numbers(500), pattern, mechanism, "nested", seed=seed)
        assert is_nested(holes.missing)
    assert not is_nested(ampute(numbers(500), pattern, mechanism, "independent").missing)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("coupling", COUPLINGS)
def test_proportions_are_hit(mechanism, coupling):
    wanted = {"x0": 0.05, "x1": 0.3, "x2": 0.7, "x3": 0.97}
    df = numbers(20_000)
    holes = ampute(
        df, "general", mechanism, coupling, columns=list(wanted), proportions=wanted, seed=1
    )
    for name, proportion in wanted.items():
        assert holes.propensity[name].mean() == pytest.approx(proportion, abs=1e-6)
        assert 1 - holes.missing[name].mean() == pytest.approx(proportion, abs=0.015)
    assert with_holes(holes) == list(wanted)
    assert (holes.propensity.drop(columns=list(wanted)) == 1).all(axis=None)


def drawn_proportions(pattern, coupling, seeds=40, **options):
    df = numbers(60)
    tables = [
        ampute(df, pattern, "MCAR", coupling, seed=seed, drop_empty_rows=False, **options)
        for seed in range(seeds)
    ]
    return np.array([table.propensity.iloc[0] for table in tables])


def test_proportions_of_the_general_pattern():
    nested = drawn_proportions("general", "nested")
    assert nested.min() == pytest.approx(0.1) and nested.max() == pytest.approx(0.9)
    # U(0, 1) clipped to [0.1, 0.9]: a tenth of the columns at either end.
    assert np.isclose(nested, 0.1).mean() == pytest.approx(0.1, abs=0.05)
    assert np.isclose(nested, 0.9).mean() == pytest.approx(0.1, abs=0.05)
    independent = drawn_proportions("general", "independent")
    assert independent.min() >= 0.2 and independent.max() <= 0.8
    assert independent.mean() == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(("coupling", "n_nearly_complete"), [("nested", 4), ("independent", 6)])
def test_proportions_of_the_quasi_monotone_pattern(coupling, n_nearly_complete):
    drawn = drawn_proportions("quasi-monotone", coupling)
    nearly_complete = drawn >= 0.95 - 1e-9
    assert (nearly_complete.sum(axis=1) == n_nearly_complete).all()
    assert drawn.max() <= 0.99 + 1e-9
    assert drawn[~nearly_complete].min() >= 0.2 and drawn[~nearly_complete].max() <= 0.8
    # Which columns are which is random.
    assert np.all(np.abs(nearly_complete.mean(axis=0) - 0.5) < 0.4)


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize(("options", "count"), [({}, 6), ({"column_share": 0.3}, 3)])
def test_monotone_takes_half_of_some_columns(coupling, options, count):
    drawn = drawn_proportions("monotone", coupling, **options)
    assert (np.isclose(drawn, 0.5).sum(axis=1) == count).all()
    assert (np.isclose(drawn, 1.0).sum(axis=1) == 10 - count).all()
    assert (np.isclose(drawn, 0.5).mean(axis=0) > 0.1).all()


def dependence(df, missing):
    """Return the p-value that a missing indicator hangs on each column of a table."""
    return np.array(
        [ttest_ind(df.loc[missing, name], df.loc[~missing, name]).pvalue for name in df]
    )


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_mcar_does_not_look_at_the_data(coupling):
    df = numbers()
    holes = ampute(df, "general", "MCAR", coupling, seed=2, drop_empty_rows=False)
    assert (holes.propensity.nunique() == 1).all()
    pvalues = np.concatenate([dependence(df, holes.missing[name]) for name in with_holes(holes)])
    assert np.median(pvalues) > 0.1
    # The data may be anything: the same cells go.
    shuffled = df.sample(frac=1, random_state=0).set_axis(df.index)
    same = ampute(shuffled, "general", "MCAR", coupling, seed=2, drop_empty_rows=False)
    pd.testing.assert_frame_equal(same.missing, holes.missing)


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_mar_depends_on_observed_columns_alone(pattern, coupling):
    df = numbers()
    holes = ampute(df, pattern, "MAR", coupling, seed=1, drop_empty_rows=False)
    hidden = with_holes(holes)
    observed = [name for name in df if name not in hidden]
    assert len(observed) == (4 if pattern == "monotone" else 3)
    assert (holes.propensity[hidden].nunique() > 1000).all()
    # Change what will be missing: nothing else may change.
    scrambled = df.copy()
    scrambled[hidden] = df[hidden].sample(frac=1, random_state=0).to_numpy()
    pd.testing.assert_frame_equal(ampute(scrambled, **holes.settings).propensity, holes.propensity)
    # Change what stays observed: it does.
    scrambled = df.copy()
    scrambled[observed] = df[observed].sample(frac=1, random_state=0).to_numpy()
    assert not ampute(scrambled, **holes.settings).missing.equals(holes.missing)


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_mnar_shifts_what_is_seen(coupling):
    df = numbers()
    holes = ampute(df, "general", "MNAR", coupling, seed=0, drop_empty_rows=False)
    shifts = (holes.incomplete.mean() - df.mean()) / df.std()
    assert shifts.abs().max() > 0.2
    mcar = ampute(df, "general", "MCAR", coupling, seed=0, drop_empty_rows=False)
    assert ((mcar.incomplete.mean() - df.mean()) / df.std()).abs().max() < 0.1


def test_mnar_of_the_monotone_pattern_depends_on_missing_columns_alone():
    df = numbers()
    holes = ampute(df, "monotone", "MNAR", seed=1)
    observed = [name for name in df if name not in with_holes(holes)]
    scrambled = df.copy()
    scrambled[observed] = df[observed].sample(frac=1, random_state=0).to_numpy()
    pd.testing.assert_frame_equal(ampute(scrambled, **holes.settings).missing, holes.missing)
    general = ampute(df, "general", "MNAR", seed=1)
    assert not ampute(scrambled, **general.settings).missing.equals(general.missing)


def test_self_masking_depends_on_the_own_value_alone():
    df = numbers()
    holes = ampute(df, "general", "self-masking", seed=0, drop_empty_rows=False)
    assert holes.settings["coupling"] == "independent"
    for name in df:
        assert abs(spearmanr(df[name], holes.propensity[name]).statistic) == pytest.approx(1)
    signs = [np.sign(spearmanr(df[name], holes.propensity[name]).statistic) for name in df]
    assert len(set(signs)) == 2


def logit(propensity):
    return np.log(propensity / (1 - propensity))


def test_the_nested_score_is_the_released_one():
    """One score for all columns, of unit standard deviation and linear in the data."""
    df = numbers(442)
    holes = ampute(df, "general", "MNAR", "nested", seed=0, drop_empty_rows=False)
    scores = logit(holes.propensity)
    centered = (scores - scores.mean()).to_numpy()
    np.testing.assert_allclose(centered, centered[:, :1].repeat(10, axis=1), atol=1e-6)
    np.testing.assert_allclose(centered.std(axis=0), 1.0, atol=1e-6)
    design = df.rank().to_numpy()  # the normal scores are smooth in the ranks
    fit = np.linalg.lstsq(np.column_stack([design, np.ones(442)]), centered[:, 0], rcond=None)[0]
    predicted = np.column_stack([design, np.ones(442)]) @ fit
    assert np.corrcoef(predicted, centered[:, 0])[0, 1] > 0.97


def test_one_seed_has_one_weight_vector_whatever_the_pattern():
    df = numbers(442)
    general, quasi = (
        logit(ampute(df, pattern, "MNAR", seed=5, drop_empty_rows=False).propensity["x0"])
        for pattern in ("general", "quasi-monotone")
    )
    np.testing.assert_allclose(general - general.mean(), quasi - quasi.mean(), atol=1e-6)


def test_independent_columns_have_their_own_weights():
    scores = logit(ampute(numbers(), "general", "MNAR", "independent").propensity)
    correlation = np.abs(np.corrcoef(scores.to_numpy().T))
    assert np.median(correlation[np.triu_indices(10, 1)]) < 0.6


def test_categories_have_weights_of_their_own():
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"c": rng.choice(list("abcd"), size=2000), "x": rng.normal(size=2000)})
    holes = ampute(df, "monotone", "MAR", columns=["x"], seed=0)
    assert holes.propensity.groupby(df["c"])["x"].nunique().eq(1).all()
    assert holes.propensity["x"].nunique() == 4
    assert chi2_contingency(pd.crosstab(df["c"], holes.missing["x"])).pvalue < 1e-6


def test_an_outlier_does_not_rule_the_score():
    df = numbers(1000)
    df.loc[0, "x0"] = 1e12
    df.loc[1, "x1"] = np.inf
    holes = ampute(df, "general", "MNAR", seed=0, drop_empty_rows=False)
    assert np.ptp(logit(holes.propensity["x0"])) < 10


def test_empty_rows_are_dropped_from_all_parts():
    df = numbers(1000).set_index(pd.Index(np.arange(1000) // 2))
    everything = ampute(df, "general", "MNAR", seed=1, drop_empty_rows=False)
    assert everything.missing.all(axis=1).any()
    holes = ampute(df, "general", "MNAR", seed=1)
    keep = ~everything.missing.all(axis=1).to_numpy()
    for part in ("truth", "incomplete", "missing", "propensity"):
        expected = getattr(everything, part)[keep]
        pd.testing.assert_frame_equal(getattr(holes, part), expected, check_dtype=False)
    assert not holes.incomplete.isna().all(axis=1).any()


def test_identifiers_neither_get_holes_nor_save_a_row():
    df = numbers(300, 3).assign(patient_id=np.arange(300), note=[[1], [2]] * 150)
    schema = Schema.infer(df)
    assert schema.role("patient_id") is Role.IDENTIFIER and schema.role("note") is Role.IGNORED
    holes = ampute(df, "general", "MNAR", seed=0)
    assert not holes.missing[["patient_id", "note"]].any(axis=None)
    assert len(holes.truth) < 300
    named = ampute(df, "monotone", "self-masking", columns=["patient_id", "note", "x0"])
    assert with_holes(named) == ["x0", "patient_id", "note"]


def test_holes_that_were_there_stay_and_are_not_counted():
    df = mixed()
    already = np.random.default_rng(1).random(df.shape) < 0.2
    df = df.astype({"age": float, "big": "Int64", "member": "boolean"}).mask(already)
    for mechanism in [*MECHANISMS, "self-masking"]:
        holes = ampute(df, "general", mechanism, seed=2, drop_empty_rows=False)
        assert not (holes.missing.to_numpy() & already).any()
        np.testing.assert_array_equal(holes.incomplete.isna(), holes.missing.to_numpy() | already)
        assert holes.missing.to_numpy().any()
        assert holes.incomplete.dtypes.equals(df.dtypes)


def test_an_empty_column_stays_out_of_it():
    df = numbers(200, 3).assign(nothing=np.nan)
    holes = ampute(df, "general", "MNAR", drop_empty_rows=True)
    assert not holes.missing["nothing"].any()
    assert holes.incomplete.drop(columns="nothing").notna().any(axis=1).all()


def test_roles_may_be_given_and_are_part_of_the_settings():
    df = pd.DataFrame({"code": np.arange(600) % 3, "x": np.random.default_rng(0).normal(size=600)})
    schema = Schema.infer(df, roles={"code": "categorical"})
    holes = ampute(df, "monotone", "MAR", columns=["x"], schema=schema, seed=4)
    again = ampute(df, **json.loads(json.dumps(holes.settings)))
    pd.testing.assert_frame_equal(again.propensity, holes.propensity)
    amounts = Schema.infer(df, roles={"code": "numerical"})
    numerical = ampute(df, "monotone", "MAR", columns=["x"], seed=4, schema=amounts)
    assert not numerical.propensity.equals(holes.propensity)


def test_text_that_spells_numbers_is_ordered_as_numbers():
    df = pd.DataFrame({"x": np.arange(7.0, 207.0), "y": 1.0})
    text = df.assign(x=df["x"].map("{:.0f}".format))
    schema = Schema.infer(text, roles={"x": "numerical"})
    options = {"mechanism": "self-masking", "columns": ["x"]}
    pd.testing.assert_frame_equal(
        ampute(text, **options, schema=schema).propensity, ampute(df, **options).propensity
    )
    schema = Schema.infer(df.assign(x="many")).with_roles({"x": "numerical"})
    with pytest.raises(SchemaError, match="not all of its values are numbers"):
        ampute(df.assign(x="many"), **options, schema=schema)


def test_proportions_at_the_ends():
    df = numbers(100, 3)
    proportions = {"x0": 0.0, "x1": 1.0}
    holes = ampute(df, "general", "MNAR", proportions=proportions, drop_empty_rows=False)
    assert holes.missing["x0"].all() and not holes.missing["x1"].any()
    all_equal = ampute(df, "general", "MCAR", "independent", proportions=0.9)
    assert np.allclose(all_equal.propensity, 0.9)


def test_small_tables():
    one_row = ampute(numbers(1, 5), "general", "MCAR", "independent", seed=1)
    assert len(one_row.truth) == 1
    one_column = ampute(numbers(50, 1), "monotone", "MNAR")
    assert len(one_column.truth) == len(one_column.incomplete) < 50
    assert not one_column.incomplete.isna().any(axis=None)  # all rows with a hole are empty ones
    kept = ampute(numbers(50, 1), "monotone", "MNAR", drop_empty_rows=False)
    assert 0 < kept.missing["x0"].sum() < 50


@settings(max_examples=40)
@given(
    n_rows=st.integers(2, 12),
    n_columns=st.integers(2, 4),
    pattern=st.sampled_from(PATTERNS),
    mechanism=st.sampled_from([*MECHANISMS, "self-masking"]),
    seed=st.integers(0, 10_000),
)
def test_any_small_table(n_rows, n_columns, pattern, mechanism, seed):
    df = numbers(n_rows, n_columns, seed=seed)
    holes = ampute(df, pattern, mechanism, seed=seed, drop_empty_rows=False)
    np.testing.assert_array_equal(holes.incomplete.isna(), holes.missing)
    assert np.isfinite(holes.propensity.to_numpy()).all()


def test_wide_and_high_cardinality_tables_are_quick():
    rng = np.random.default_rng(0)
    df = numbers(3000, 40).assign(c=pd.Categorical(rng.integers(0, 2500, size=3000)))
    holes = ampute(df, "general", "MNAR", "independent")
    assert holes.missing["c"].any()


DF = numbers(30, 3)


@pytest.mark.parametrize(
    ("df", "options", "sentence"),
    [
        (DF, {"pattern": "diagonal"}, "no pattern 'diagonal'. Choose monotone"),
        (DF, {"mechanism": "mnar"}, "no mechanism 'mnar'. Choose MCAR"),
        (DF, {"coupling": "loose"}, "no coupling 'loose'. Choose nested"),
        (DF, {"mechanism": "self-masking", "coupling": "nested"}, "no nested form"),
        (DF.iloc[:0], {}, "no rows or no columns"),
        (DF[[]], {}, "no rows or no columns"),
        (DF.to_numpy(), {}, "a DataFrame, not in a ndarray"),
        (DF, {"columns": ["x0", "z"]}, "no column z. Its columns are x0, x1 and x2"),
        (DF, {"columns": []}, "Name at least one"),
        (DF.assign(x1=np.nan), {"columns": ["x1"]}, "x1 is empty"),
        (DF * np.nan, {}, "no column to remove cells from"),
        (DF, {"column_share": 0.0}, "above 0 and at most 1"),
        (DF, {"column_share": 1.1}, "above 0 and at most 1"),
        (DF, {"proportions": 1.5}, "between 0 and 1, not 1.5"),
        (DF, {"proportions": {"x0": float("nan")}}, "between 0 and 1"),
        (DF, {"proportions": {"x9": 0.5}}, "lose no cells: x9"),
        (DF, {"columns": ["x0"], "proportions": {"x1": 0.5}}, "lose no cells: x1"),
        (DF[["x0"]], {"mechanism": "MAR"}, "MAR needs at least one column that stays observed"),
        (DF, {"mechanism": "MAR", "columns": ["x0", "x1", "x2"]}, "MAR needs at least one"),
        (DF * 0, {"mechanism": "MNAR"}, "do not vary: x0, x1 and x2"),
        (DF.assign(x0=1.0), {"mechanism": "self-masking"}, "do not vary: x0"),
        (DF, {"proportions": 0.0}, "No row would keep a single cell"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(df, options, sentence):
    with pytest.raises(AmputationError, match=sentence):
        ampute(df, **options)


def test_repeated_column_names_are_refused():
    with pytest.raises(SchemaError, match="x"):
        ampute(DF.set_axis(["x", "x", "y"], axis=1))
