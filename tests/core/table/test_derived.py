import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core.errors import ImputationWarning, SchemaError
from pmae_core.imputers import make_imputer
from pmae_core.table import Schema, TableEncoder

BMI = {"bmi": {"derived": "weight / height ** 2"}}


def people(n: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    height = rng.normal(1.75, 0.1, n).round(2)
    weight = (22 * height**2 + rng.normal(0, 5, n)).round(1)
    return pd.DataFrame({"weight": weight, "height": height, "bmi": weight / height**2})


def decode(frame: pd.DataFrame, rules, score: float = 0.5, **roles: str) -> pd.DataFrame:
    encoder = TableEncoder(schema=Schema.infer(frame, roles, rules)).fit(frame)
    return encoder.decode(np.full((len(frame), len(encoder.columns_)), score), frame)


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ({"bmi": "weight +"}, "The expression of 'bmi': .*"),
        ({"bmi": "open('x')"}, "The expression of 'bmi': `open` is not a function"),
        ({"bmi": "3"}, "The expression of 'bmi' names no column"),
        ({"bmi": "Weight / height"}, "uses 'Weight', but .* Did you mean 'weight'?"),
        ({"bmi": "bmi + 1"}, "The derived column 'bmi' depends on itself"),
        (
            {"bmi": "weight", "weight": "height", "height": "bmi"},
            "The derived columns 'weight', 'height' and 'bmi' depend on each other in a circle",
        ),
    ],
)
def test_expressions_that_cannot_be_computed_are_refused(rules, sentence):
    given = {name: {"derived": text} for name, text in rules.items()}
    with pytest.raises(SchemaError, match=sentence):
        Schema.infer(people()).with_rules(given)
    saved = Schema.infer(people()).to_dict()
    for column in saved["columns"]:
        if column["name"] in given:
            column["rules"] = given[column["name"]]
    with pytest.raises(SchemaError, match=sentence):
        Schema.from_dict(saved)


def test_cells_that_are_no_numbers_are_refused():
    frame = people().assign(town="Ulm", day=pd.Timestamp("2024-01-01"))
    for name, text, sentence in (
        ("town", "weight", "Column 'town' cannot be numerical"),
        ("bmi", "2 * town", "The expression of 'bmi': Column `town` holds text"),
        ("bmi", "2 * day", "The expression of 'bmi': Column `day` holds dates or times"),
    ):
        with pytest.raises(SchemaError, match=sentence):
            Schema.infer(frame, rules={name: {"derived": text}})


def test_derived_columns_are_ordered_by_what_they_depend_on():
    frame = pd.DataFrame({"c": [None, 7.0], "b": [None, 6.0], "a": [1.0, 3.0]})
    rules = {"c": {"derived": "b + 1"}, "b": {"derived": "2 * a"}}
    schema = Schema.infer(frame, rules=rules)
    assert list(schema.derived) == ["b", "c"]
    assert decode(frame, rules).loc[0].tolist() == [3, 2, 1]


def test_missing_cells_are_computed_and_observed_ones_kept():
    frame = people()
    frame.loc[1::3, "weight"] = np.nan
    frame.loc[1::2, "bmi"] = np.nan
    frame.loc[2, "bmi"] = 99.0
    imputed = decode(frame, BMI)
    missing = frame["bmi"].isna()
    expected = imputed["weight"] / imputed["height"] ** 2
    np.testing.assert_allclose(imputed["bmi"][missing], expected[missing], rtol=1e-12)
    assert imputed["bmi"][~missing].equals(frame["bmi"].dropna())


def test_the_one_missing_column_of_an_observed_result_is_solved_for():
    frame = people()
    truth = frame.copy()
    frame.loc[::3, "weight"] = np.nan
    frame.loc[1::3, "height"] = np.nan
    imputed = decode(frame, BMI)
    np.testing.assert_allclose(imputed["weight"], truth["weight"], rtol=1e-12)
    # The expression is no straight line in the height: the method's value is kept.
    assert set(imputed["height"][1::3]) != set(truth["height"][1::3])
    assert imputed["height"][1::3].nunique() == 1


def test_a_solution_outside_the_limits_is_not_imputed():
    frame = people()
    frame.loc[0, "weight"] = np.nan
    frame.loc[0, "bmi"] = 1000.0
    rules = BMI | {"weight": {"upper": 100}}
    assert decode(frame, rules)["weight"][0] <= 100
    assert decode(frame, BMI)["weight"][0] == pytest.approx(1000 * frame["height"][0] ** 2, abs=0.1)


def test_what_is_no_straight_line_is_not_solved():
    frame = pd.DataFrame({"x": [-2.0, 2.0, 1.0, None], "y": [2.0, 2.0, 1.0, 1.0]})
    assert decode(frame, {"y": {"derived": "abs(x)"}}, score=0.0)["x"][3] == -2
    assert decode(frame, {"y": {"derived": "x > 0"}}, score=0.0)["x"][3] == -2


@pytest.mark.parametrize(
    ("halves", "dtype", "expected"),
    [
        ([1.0, 2.0, None], "float64", 2.5),  # not rounded: whole by chance
        ([1.0, 2.1, None], "float64", 2.5),
        ([1, 2, None], "Int64", 2),  # the dtype holds whole numbers only
    ],
)
def test_computed_numbers_are_written_as_observed_ones(halves, dtype, expected):
    frame = pd.DataFrame({"x": [2, 4, 5], "half": pd.Series(halves, dtype=dtype)})
    assert decode(frame, {"half": {"derived": "x / 2"}})["half"][2] == expected


def test_columns_that_are_not_learned_are_computed_too():
    frame = people().assign(bmi=np.nan, twice=people()["weight"] * 2)
    frame.loc[0, ["weight", "twice"]] = np.nan
    rules = BMI | {"twice": {"derived": "2 * weight"}}
    schema = Schema.infer(frame, {"twice": "ignored"}, rules)
    assert not schema.not_imputed()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ImputationWarning)
        imputed = make_imputer("naive", schema=schema).fit_transform(frame)
    assert imputed["twice"][0] == pytest.approx(2 * imputed["weight"][0], abs=0.05)
    np.testing.assert_allclose(imputed["bmi"], imputed["weight"] / imputed["height"] ** 2)


def test_where_an_expression_gives_no_number_it_is_said():
    frame = people()
    frame.loc[0, ["height", "bmi"]] = [0, np.nan]
    with pytest.warns(ImputationWarning, match=r"'bmi' gives no number in 1 row .* is kept there"):
        imputed = decode(frame, BMI)
    assert imputed["bmi"].notna().all()
    with pytest.warns(ImputationWarning, match="Cells stay missing there"):
        assert decode(frame, BMI, bmi="ignored")["bmi"].isna()[0]


def test_a_table_without_what_a_column_is_computed_from_is_refused():
    frame = people()
    schema = Schema.infer(frame, {"height": "ignored"}, BMI)
    encoder = TableEncoder(schema=schema).fit(frame)
    with pytest.raises(SchemaError, match="lacks 1 of the expected columns: 'height'"):
        encoder.decode(np.zeros((60, 2)), frame.drop(columns="height"))


def test_contradictions_beyond_rounding_are_found():
    frame = people()
    schema = Schema.infer(frame, rules=BMI)
    rounded = frame.assign(bmi=frame["bmi"].round(1))
    # Computed before weight and height were rounded.
    height = frame["height"] + np.linspace(-0.0049, 0.0049, len(frame))
    before = rounded.assign(bmi=(frame["weight"] / height**2).round(1))
    assert (before["bmi"] - frame["bmi"]).abs().max() > 0.06
    for agreeing in (frame, rounded, before):
        assert not schema.rule_findings(agreeing)
    wrong = rounded.copy()
    wrong.loc[[3, 5], "bmi"] += 20
    wrong.loc[0, "height"] = np.nan
    (sentence,) = schema.rule_findings(wrong)
    assert sentence.startswith("In 2 of 59 rows, 'bmi' differs from weight / height ** 2")


def test_part_of_a_schema_computes_what_it_can():
    schema = Schema.infer(people(), rules=BMI)
    assert schema.only(["height", "bmi", "weight"]) == schema
    part = schema.only(["bmi", "height"])
    assert part.names() == ["height", "bmi"]
    assert not part.derived


def test_text_can_be_compared():
    frame = pd.DataFrame({"sex": ["f", "m", "f", None], "male": [0.0, 1.0, None, None]})
    imputed = decode(frame, {"male": {"derived": 'sex == "m"'}}, score=0.0)
    assert imputed["male"].tolist()[:3] == [0, 1, 0]


def test_a_saved_encoder_computes_the_same():
    frame = people()
    frame.loc[::3, ["weight", "bmi"]] = np.nan
    encoder = TableEncoder(schema=Schema.infer(frame, rules=BMI)).fit(frame)
    loaded = TableEncoder.from_dict(encoder.to_dict())
    values = np.full((60, 3), 0.3)
    pd.testing.assert_frame_equal(loaded.decode(values, frame), encoder.decode(values, frame))


@settings(max_examples=50)
@given(
    seed=st.integers(0, 999),
    text=st.sampled_from(["a + b", "a - 2 * b", "a * b", "a / (b + 9)", "exp(a) + b", "a ** 2"]),
)
def test_every_imputed_table_is_consistent(seed, text):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])
    schema = Schema.infer(frame.assign(c=0.5)).with_rules({"c": {"derived": text}})
    frame["c"] = schema.derived["c"].evaluate({name: frame[name].to_numpy() for name in "ab"})
    frame = frame.mask(rng.random(frame.shape) < 0.3)
    encoder = TableEncoder(schema=Schema.infer(frame, rules=schema.rules)).fit(frame)
    imputed = encoder.decode(rng.random((20, len(encoder.columns_))), frame, random=True)
    assert imputed.mask(frame.isna()).equals(frame)
    if imputed.isna().any(axis=None):
        return
    expected = schema.derived["c"].evaluate({name: imputed[name].to_numpy() for name in "ab"})
    missing = frame["c"].isna()
    np.testing.assert_allclose(imputed["c"][missing], expected[missing], rtol=1e-9, atol=1e-9)
