"""Missing values that another column explains."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core.amputation import ampute
from pmae_core.errors import SchemaError
from pmae_core.explain import (
    Condition,
    StructuralMissingness,
    find_structural_missingness,
    leave_alone,
)
from pmae_core.table import Schema, load_dataset


@pytest.fixture
def survey() -> pd.DataFrame:
    """600 people; what does not apply to them is missing."""
    rng = np.random.default_rng(0)
    n = 600
    smoker = rng.choice(["yes", "no", "former"], n)
    return pd.DataFrame(
        {
            "person_id": np.arange(n),
            "smoker": smoker,
            "age": rng.integers(0, 90, n),
            "country": rng.choice(list("ABCDEFGH"), n),
            "married": rng.random(n) < 0.5,
            "visit": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 365, n), "D"),
            "packs": rng.gamma(2.0, size=n),
            "income": rng.lognormal(10, 1, n),
        }
    )


def found(frame: pd.DataFrame, **options) -> list[tuple]:
    findings = find_structural_missingness(frame, **options)
    return [
        (h.column, h.condition.column, h.condition.relation, h.condition.values) for h in findings
    ]


def test_one_value_explains_and_the_sentence_counts(survey):
    survey.loc[survey["smoker"] == "no", "packs"] = np.nan
    n = int((survey["smoker"] == "no").sum())

    (finding,) = find_structural_missingness(survey)

    assert finding == StructuralMissingness("packs", Condition("smoker", "is", ("no",)), n)
    assert (
        finding.sentence
        == f"packs is missing in all {n} rows where smoker is no, and nowhere else."
    )


@pytest.mark.parametrize(
    ("emptied", "reason"),
    [
        (lambda t: t["smoker"].isin(["no", "former"]), ("smoker", "is", {"no", "former"})),
        (lambda t: t["country"].isin(["A", "C"]), ("country", "is", {"A", "C"})),
        (lambda t: t["country"] != "B", ("country", "is not", ("B",))),
        (lambda t: t["age"] < 18, ("age", "<=", (17,))),
        (lambda t: t["age"] >= 65, ("age", ">", (64,))),
        (lambda t: ~t["married"], ("married", "is", (False,))),
        (
            lambda t: t["visit"] < pd.Timestamp("2020-07-01"),
            ("visit", "<=", (pd.Timestamp("2020-06-29"),)),  # the last visit of June
        ),
    ],
)
def test_conditions_of_every_kind(survey, emptied, reason):
    survey.loc[emptied(survey), "income"] = np.nan

    [(column, by, relation, values)] = found(survey)

    wanted = set(values) if isinstance(reason[2], set) else values
    assert (column, by, relation, wanted) == ("income", *reason)


def test_codes_in_the_middle_of_numbers_are_values(survey):
    survey["children"] = np.random.default_rng(1).integers(0, 4, len(survey))
    survey.loc[survey["children"] == 2, "income"] = np.nan

    assert found(survey) == [("income", "children", "is", (2,))]


def test_few_exceptions_and_other_missing_cells_are_stated(survey):
    no = survey.index[survey["smoker"] == "no"]
    yes = survey.index[survey["smoker"] == "yes"]
    survey.loc[no[1:], "packs"] = np.nan
    survey.loc[yes[:3], "packs"] = np.nan

    (finding,) = find_structural_missingness(survey)

    assert (finding.n_exceptions, finding.n_other_missing) == (1, 3)
    assert f"in {len(no) - 1} of the {len(no)} rows" in finding.sentence
    assert finding.sentence.endswith("and in 3 other rows.")
    assert find_structural_missingness(survey, max_exceptions=0.0) == []
    assert find_structural_missingness(survey, max_other_missing=0.0) == []


def test_missing_more_often_is_not_structural(survey):
    rng = np.random.default_rng(2)
    often = np.where(survey["smoker"] == "no", 0.9, 0.02)
    survey.loc[rng.random(len(survey)) < often, "packs"] = np.nan

    assert find_structural_missingness(survey) == []


def test_missing_also_elsewhere_is_not_structural(survey):
    rng = np.random.default_rng(2)
    survey.loc[(survey["smoker"] == "no") | (rng.random(600) < 0.3), "packs"] = np.nan

    assert find_structural_missingness(survey) == []


def test_too_few_rows_are_no_rule(survey):
    survey.loc[survey.index[:19], "smoker"] = "never asked"
    survey.loc[survey.index[:19], "packs"] = np.nan

    assert find_structural_missingness(survey) == []
    assert len(find_structural_missingness(survey, min_rows=19)) == 1


def test_names_of_rows_explain_nothing(survey):
    # The first 100 rows: person_id is at most 99, and no name of a person comes twice.
    survey["name"] = [f"Person {k}" for k in range(len(survey))]
    survey.loc[:99, "packs"] = np.nan

    assert find_structural_missingness(survey) == []


def test_a_value_is_preferred_to_another_missing_cell(survey):
    survey.loc[survey["smoker"] == "no", ["packs", "income"]] = np.nan

    assert found(survey, by_missingness=True) == [
        ("packs", "smoker", "is", ("no",)),
        ("income", "smoker", "is", ("no",)),
    ]


def test_columns_missing_together_are_reported_on_request_with_a_warning(survey):
    survey.loc[np.random.default_rng(3).random(600) < 0.3, ["packs", "income"]] = np.nan

    assert find_structural_missingness(survey) == []
    first, second = find_structural_missingness(survey, by_missingness=True)

    assert (first.column, first.condition.words) == ("packs", "income is missing")
    assert (second.column, second.condition.words) == ("income", "packs is missing")
    assert "missing together" in first.sentence


@pytest.mark.parametrize("share", [0.03, 0.3, 0.9])
def test_random_missing_values_are_never_taken_for_structure(share):
    for seed in range(15):
        rng = np.random.default_rng(seed)
        n = 150
        table = pd.DataFrame(
            {
                "a": rng.normal(size=n),
                "b": rng.integers(0, 5, n).astype(float),
                "c": rng.choice(list("uvwxyz"), n),
                "d": rng.choice([True, False], n).astype(object),
                "e": rng.choice([f"town {k}" for k in range(15)], n),
            }
        )
        findings = rng.random(table.shape) < share
        assert find_structural_missingness(table.mask(findings)) == [], seed


@pytest.mark.parametrize("coupling", ["nested", "independent"])
@pytest.mark.parametrize("mechanism", ["MCAR", "MAR", "MNAR"])
def test_simulated_missingness_is_not_taken_for_structure(mechanism, coupling):
    complete = load_dataset("diabetes").frame
    for seed, pattern in enumerate(("monotone", "quasi-monotone", "general")):
        incomplete = ampute(complete, pattern, mechanism, coupling, seed=seed).incomplete
        assert find_structural_missingness(incomplete) == [], pattern


@given(
    share=st.floats(0.1, 0.9), seed=st.integers(0, 10_000), dtype=st.sampled_from(["str", "object"])
)
@settings(max_examples=25)
def test_a_planted_rule_is_found_whatever_its_size(share, seed, dtype):
    rng = np.random.default_rng(seed)
    applies = rng.permutation(400) < 400 * share
    table = pd.DataFrame(
        {"x": rng.normal(size=400), "a": np.where(applies, "=no", "yes"), "b": rng.normal(size=400)}
    ).astype({"a": dtype})
    table.loc[applies, "b"] = np.nan

    (finding,) = find_structural_missingness(table)

    assert finding.n_rows == applies.sum()
    assert finding.condition.holds(table).tolist() == applies.tolist()


def test_leave_alone_marks_only_missing_cells_that_are_explained(survey):
    no = (survey["smoker"] == "no").to_numpy()
    survey.loc[no, "packs"] = np.nan
    first_no, first_yes = np.flatnonzero(no)[0], np.flatnonzero(survey["smoker"] == "yes")[0]
    survey.loc[first_no, "packs"] = 1.0
    survey.loc[first_yes, "packs"] = np.nan

    findings = find_structural_missingness(survey)
    left = leave_alone(survey, findings)

    assert left["packs"].sum() == no.sum() - 1
    assert not left.loc[first_no, "packs"]
    assert not left.loc[first_yes, "packs"]
    assert not left.drop(columns="packs").to_numpy().any()
    emptied = survey.fillna({"packs": 0.0}).mask(left)
    assert emptied["packs"].isna().sum() == no.sum() - 1
    assert emptied.dtypes.equals(survey.dtypes)


def test_without_missing_values_there_is_nothing_to_explain(survey):
    assert find_structural_missingness(survey) == []
    assert find_structural_missingness(survey, Schema.infer(survey)) == []
    assert not leave_alone(survey, []).to_numpy().any()


def test_saved_as_json_and_back():
    finding = StructuralMissingness(
        "b", Condition("when", "<=", (pd.Timestamp("2024-02-29"),)), 30, 1, 2
    )

    assert StructuralMissingness.from_dict(json.loads(json.dumps(finding.to_dict()))) == finding
    with pytest.raises(SchemaError, match="not a saved finding"):
        StructuralMissingness.from_dict({"column": "b"})


def test_a_condition_on_another_table_is_refused(survey):
    finding = StructuralMissingness("packs", Condition("vapes", "is", ("no",)), 30)

    with pytest.raises(SchemaError, match="no column 'vapes'"):
        leave_alone(survey, [finding])


def test_in_a_large_table_some_rows_propose_and_all_decide(survey):
    survey.loc[survey["smoker"] == "no", "packs"] = np.nan
    n = int((survey["smoker"] == "no").sum())

    (finding,) = find_structural_missingness(survey, max_rows=200)

    assert finding == StructuralMissingness("packs", Condition("smoker", "is", ("no",)), n)


def test_what_holds_in_some_rows_only_is_not_told(survey):
    survey.loc[survey["smoker"] == "no", "packs"] = np.nan
    rows = np.sort(np.random.default_rng(0).choice(len(survey), 200, replace=False))
    others = np.setdiff1d(np.arange(len(survey)), rows)
    survey.loc[others, "packs"] = 1.0  # against the rule wherever the search does not look

    assert find_structural_missingness(survey.iloc[rows])
    assert not find_structural_missingness(survey, max_rows=200)
