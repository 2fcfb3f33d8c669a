import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import TableError
from pmae_core.missingness import MissingnessTree, predict_missingness
from pmae_core.table import Schema


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, size=n),
            "weight": rng.normal(70, 10, size=n),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], size=n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "income": rng.normal(size=n),
        }
    )


def rule_with_most_missing(df, **options):
    tree = predict_missingness(df, "income", **options)
    return tree, tree.rules[0]


def test_whole_numbers_are_bounded_by_whole_numbers():
    df = people()
    df["income"] = df["income"].mask(df["age"].between(40, 59))
    tree, rule = rule_with_most_missing(df)
    assert rule.conditions == ("age is at least 40 and at most 59",)
    assert rule.share_missing == 1
    assert rule.share_of_rows == pytest.approx(df["age"].between(40, 59).mean())
    assert tree.skill == pytest.approx(1, abs=0.02)
    assert tree.better_than_guessing
    assert tree.importance.idxmax() == "age"


def test_labels_and_numbers_together():
    df = people(2000)
    df["income"] = df["income"].mask((df["town"] == "Ulm") & (df["weight"] > 70))
    tree, rule = rule_with_most_missing(df)
    assert set(rule.conditions) >= {"town is Ulm"}
    (weight,) = [words for words in rule.conditions if words.startswith("weight is above ")]
    assert float(weight.rsplit(" ", 1)[1]) == pytest.approx(70, abs=0.5)
    assert "town is not Ulm" in {words for rule in tree.rules for words in rule.conditions}


def test_one_of_two_labels_is_called_by_its_name():
    df = people()
    df["smoker"] = np.arange(len(df)) % 2 == 0
    df["income"] = df["income"].mask(df["smoker"])
    tree, rule = rule_with_most_missing(df)
    assert rule.conditions == ("smoker is True",)
    assert tree.rules[-1].conditions == ("smoker is False",)


def test_dates_are_written_as_dates():
    df = people()
    df["income"] = df["income"].mask(df["since"] >= "2021-06-01")
    _, rule = rule_with_most_missing(df)
    (words,) = rule.conditions
    assert words.startswith("since is above 2021-05-31") or words.startswith(
        "since is above 2021-06"
    )


@pytest.mark.parametrize("other", ["weight", "town"])
def test_holes_of_other_columns_are_seen(other):
    df = people()
    rng = np.random.default_rng(1)
    df[other] = df[other].mask(rng.random(len(df)) < 0.3)
    df["income"] = df["income"].mask(df[other].isna())
    tree, rule = rule_with_most_missing(df)
    assert rule.conditions == (f"{other} is missing",)
    assert tree.rules[-1].conditions == (f"{other} is observed",)


def test_holes_that_go_along_with_a_range_are_said():
    df = people()
    df["weight"] = df["weight"].mask(np.arange(len(df)) % 5 == 0)
    df["income"] = df["income"].mask(df["weight"].isna() | (df["weight"] > 75))
    _, rule = rule_with_most_missing(df)
    assert rule.conditions[0].startswith("weight is above 7")
    assert rule.conditions[0].endswith(" or missing")


def test_of_identifiers_only_the_holes_are_looked_at():
    df = people().drop(columns=["age", "weight", "town", "since"])
    df["id"] = [f"p{i}" if i % 3 else None for i in range(len(df))]
    df["income"] = df["income"].mask(df["id"].isna())
    schema = Schema.infer(df)
    assert schema.role("id") == "identifier"
    assert rule_with_most_missing(df, schema=schema)[1].conditions == ("id is missing",)


def test_chance_is_called_chance():
    outcomes = []
    for seed in range(20):
        df = people(400, seed)
        df["income"] = df["income"].mask(np.random.default_rng(100 + seed).random(400) < 0.3)
        outcomes.append(predict_missingness(df, "income"))
    assert sum(tree.better_than_guessing for tree in outcomes) <= 2
    assert np.mean([tree.skill for tree in outcomes]) == pytest.approx(0.5, abs=0.03)
    assert "No observed column is clearly related" in outcomes[0].sentence()


def test_rules_divide_all_rows():
    df = people()
    df["income"] = df["income"].mask(df["weight"] + 5 * (df["town"] == "Kiel") > 75)
    tree, _ = rule_with_most_missing(df)
    assert sum(rule.share_of_rows for rule in tree.rules) == pytest.approx(1)
    share = sum(rule.share_of_rows * rule.share_missing for rule in tree.rules)
    assert share == pytest.approx(df["income"].isna().mean())


def test_long_tables_are_sampled_and_shares_are_those_of_the_table():
    df = people(30_000)
    df["income"] = df["income"].mask((df["age"] >= 75) & (df["weight"] > 75))
    tree, rule = rule_with_most_missing(df, max_rows=2000)
    assert (tree.n_rows, tree.n_rows_table) == (2000, 30_000)
    total = sum(rule.share_of_rows * rule.share_missing for rule in tree.rules)
    assert total == pytest.approx(df["income"].isna().mean())
    assert rule.share_missing > 0.9
    again, _ = rule_with_most_missing(df, max_rows=2000)
    assert again.rules == tree.rules and again.skill == tree.skill


def test_huge_and_infinite_numbers_do_no_harm():
    df = people()
    df.loc[0, "weight"] = np.inf
    df.loc[1, "weight"] = 1e300
    df["income"] = df["income"].mask(df["age"] > 50)
    assert rule_with_most_missing(df)[1].conditions == ("age is at least 51",)


def test_without_other_columns_there_is_one_rule():
    df = pd.DataFrame({"income": [1.0, None] * 20})
    tree, rule = rule_with_most_missing(df)
    assert (rule.conditions, rule.share_missing, rule.share_of_rows) == ((), 0.5, 1)
    assert rule.sentence() == "All rows"
    assert not tree.better_than_guessing


@pytest.mark.parametrize(("n_missing", "kind"), [(3, "missing"), (28, "observed")])
def test_too_few_rows_of_one_kind(n_missing, kind):
    df = pd.DataFrame({"x": range(30), "y": [np.nan] * n_missing + [1.0] * (30 - n_missing)})
    with pytest.raises(TableError, match=f"is {kind} in"):
        predict_missingness(df, "y")


@pytest.mark.parametrize(
    ("skill", "words"),
    [
        (0.99, "The tree separates missing from observed rows of x well (AUC 0.99"),
        (0.75, "fairly well (AUC 0.75"),
        (0.6, "poorly, but better than guessing (AUC 0.60"),
        (0.5, "No observed column is clearly related to missingness in x (AUC 0.50"),
    ],
)
def test_how_well_the_tree_predicts_in_words(skill, words):
    tree = MissingnessTree("x", skill, 0.55, (), pd.Series(dtype=float), 10, 10)
    assert words in tree.sentence()
