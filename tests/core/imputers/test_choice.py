"""Choosing a method for each column from held-out cells."""

import numpy as np
import pytest

from pmae_core.imputers._choice import choose, overall_errors
from pmae_core.imputers._comparison import HeldOutComparison
from pmae_core.table import EncodedColumn, EncodedTable

N = 100


def encoded(*kinds: str, observed: np.ndarray | None = None) -> EncodedTable:
    rng = np.random.default_rng(0)
    columns = tuple(
        EncodedColumn(f"c{j}", kind, 0 if kind == "numerical" else 3)
        for j, kind in enumerate(kinds)
    )
    values = np.column_stack(
        [rng.random(N) if k == "numerical" else rng.integers(0, 3, N) for k in kinds]
    ).astype(np.float32)
    if observed is None:
        observed = np.ones(values.shape, dtype=bool)
    return EncodedTable(np.where(observed, values, 0), observed, columns)


def comparison(table: EncodedTable, rows: np.ndarray, **methods: np.ndarray) -> HeldOutComparison:
    """Hold out all cells of the rows; each method is given by its deviation from the truth."""
    cells = table.observed[rows]
    found = HeldOutComparison(table)
    found.add_cells(rows, cells, table.observed & ~np.isin(np.arange(N), rows)[:, None])
    for name, deviation in methods.items():
        found.add_imputed(name, table.values[rows] + deviation, cells)
    return found


def test_errors_are_in_units_of_the_variance():
    table = encoded("numerical")
    rows = np.arange(20)
    found = comparison(table, rows, off=np.full((20, 1), 0.1))
    expected = 0.1**2 / table.values.astype(float).var()
    np.testing.assert_allclose(found.row_errors("off", 0), expected, rtol=1e-4)
    mean = table.values[20:].mean()
    expected = (table.values[:20, 0] - mean) ** 2 / table.values.var()
    np.testing.assert_allclose(found.row_errors(None, 0), expected, rtol=1e-3)


def test_errors_of_categories_are_misses():
    table = encoded("categorical")
    deviation = np.zeros((10, 1))
    deviation[:3] = 1
    found = comparison(table, np.arange(10), some=deviation)
    assert found.row_errors("some", 0).mean() == pytest.approx(0.3)
    mode = np.bincount(table.values[10:, 0].astype(int)).argmax()
    assert found.row_errors(None, 0).tolist() == (table.values[:10, 0] != mode).tolist()


def test_a_row_held_out_twice_counts_once():
    table = encoded("numerical")
    found = comparison(table, np.arange(5), a=np.full((5, 1), 0.1))
    everything = np.ones((5, 1), dtype=bool)
    found.add_cells(np.arange(5), everything, table.observed)
    found.add_imputed("a", table.values[:5] + 0.3, everything)
    errors = found.row_errors("a", 0)
    assert len(errors) == 5
    variance = table.values.astype(float).var()
    np.testing.assert_allclose(errors, (0.01 + 0.09) / 2 / variance, rtol=1e-4)
    assert found.n_cells == 10


def test_each_column_gets_its_clear_winner():
    table = encoded("numerical", "numerical", "categorical")
    rng = np.random.default_rng(1)
    good, bad = 0.01 * rng.normal(size=(40, 3)), 0.5 * rng.normal(size=(40, 3))
    wrong = (rng.random(40) < 0.8).astype(float)
    left = np.column_stack([good[:, 0], bad[:, 0], np.zeros(40)])
    right = np.column_stack([bad[:, 1], good[:, 1], wrong])
    choices = choose(
        comparison(table, np.arange(40), left=left, right=right), ["left", "right"], noise=1.0
    )
    assert [choice.method for choice in choices] == ["left", "right", "left"]
    assert all(choice.margin > 0 and not choice.ties for choice in choices)
    assert choices[0].errors["left"] < choices[0].reference
    assert choices[2].reason.startswith("c2: left, error 0.00 (the most frequent value has 0.")


def test_within_noise_the_best_overall_stays():
    table = encoded("numerical", "numerical")
    rng = np.random.default_rng(2)
    shared = 0.2 * rng.normal(size=(30, 1))
    steady = np.column_stack([shared, 0.05 * rng.normal(size=30)])
    # A hair better in the first column, by chance; much worse in the second.
    lucky = np.column_stack([shared + 0.01 * rng.normal(size=(30, 1)), 0.5 * np.ones(30)])
    means = [np.mean(m[:, 0] ** 2) for m in (steady, lucky)]
    if means[1] > means[0]:
        lucky[:, 0] *= np.sqrt(0.999 * means[0] / means[1])
    found = comparison(table, np.arange(30), steady=steady, lucky=lucky)
    first, second = choose(found, ["steady", "lucky"], noise=1.0)
    assert first.method == "steady"
    assert first.margin < 0
    assert first.ties == ("lucky",)
    assert "lucky has" in first.reason
    assert "within noise of the best overall" in first.reason
    assert second.method == "steady"
    assert choose(found, ["steady", "lucky"], noise=0.0)[0].method == "lucky"


def test_the_first_method_stays_unless_another_is_clearly_ahead_overall():
    table = encoded("numerical", "numerical")
    rng = np.random.default_rng(4)
    first = 0.2 * rng.normal(size=(40, 2))
    lucky = first * np.where(rng.random((40, 2)) < 0.5, 1.3, 0.65)
    clear = 0.2 * first
    found = comparison(table, np.arange(40), first=first, lucky=lucky, clear=clear)
    errors = overall_errors(found, ["first", "lucky", "clear"])
    assert errors["lucky"] < errors["first"]  # or the test would show nothing
    assert {c.method for c in choose(found, ["first", "lucky"], noise=2.0)} == {"first"}
    assert {c.method for c in choose(found, ["first", "lucky", "clear"], noise=2.0)} == {"clear"}


def test_shares_of_rows_add_up_to_the_mean_over_columns():
    observed = np.ones((N, 2), dtype=bool)
    observed[20:60, 1] = False
    table = encoded("numerical", "categorical", observed=observed)
    deviation = np.column_stack([np.linspace(0, 0.3, 40), np.arange(40) % 3 == 0])
    found = comparison(table, np.arange(40), a=deviation)
    shares = found.row_shares("a", [0, 1])
    assert shares.sum() == pytest.approx(
        np.mean([found.row_errors("a", j).mean() for j in range(2)])
    )
    assert len(shares) == 40


def test_ties_are_named_and_nothing_better_than_the_mean_is_said():
    table = encoded("numerical")
    rng = np.random.default_rng(3)
    noise = 3 * rng.normal(size=(40, 1))
    found = comparison(table, np.arange(40), a=noise, b=noise, c=noise)
    (choice,) = choose(found, ["a", "b", "c"], noise=1.0)
    assert choice.method == "a"
    assert choice.ties == ("b", "c")
    assert "; tied with b and c" in choice.reason
    assert choice.reason.endswith("; no method is better than the mean here.")


def test_overall_counts_the_columns_with_missing_cells():
    observed = np.ones((N, 2), dtype=bool)
    observed[50:, 1] = False
    table = encoded("numerical", "numerical", observed=observed)
    deviation = np.column_stack([np.full(40, 0.9), np.full(40, 0.1)])
    found = comparison(table, np.arange(40), a=deviation)
    variance = table.values[:50, 1].astype(float).var()
    assert overall_errors(found, ["a"])["a"] == pytest.approx(0.01 / variance, rel=1e-4)


def test_without_evidence_the_best_overall_or_the_first():
    observed = np.ones((N, 2), dtype=bool)
    observed[5:90, 1] = False
    table = encoded("numerical", "numerical", observed=observed)
    rows = np.arange(40)
    good, bad = np.full((40, 2), 0.01), np.full((40, 2), 0.3)
    found = comparison(table, rows, bad=bad, good=good)
    assert choose(found, ["bad", "good"], noise=1.0)[1].method == "good"
    assert "only 5 cells" in choose(found, ["bad", "good"], noise=1.0)[1].reason
    few = comparison(table, rows[:5], bad=bad[:5], good=good[:5])
    choices = choose(few, ["bad", "good"], noise=1.0)
    assert {choice.method for choice in choices} == {"bad"}
    assert "too few cells" in choices[0].reason
    assert np.isnan(choices[0].margin)
    assert "the only method" in choose(found, ["good"], noise=1.0)[0].reason


def test_draws_repeat_the_errors_on_held_out_cells():
    table = encoded("numerical", "categorical")
    deviation = np.column_stack([np.where(np.arange(40) % 2, 0.1, -0.2), np.zeros(40)])
    found = comparison(table, np.arange(40), a=deviation)
    rng = np.random.default_rng(0)
    drawn = found.draw("a", 0, np.full(200, 0.5), rng)
    assert set(drawn.round(4)) == {0.4, 0.7}
    # Always right on held-out cells, so sure of itself.
    codes = rng.integers(0, 3, 50).astype(float)
    assert found.draw("a", 1, codes, rng).tolist() == codes.tolist()
    assert HeldOutComparison(table).draw("a", 0, codes, rng) is None


def test_draws_of_categories_follow_what_was_mistaken_for_what():
    table = encoded("categorical")
    truth = table.values[:60, 0]
    found = comparison(table, np.arange(60), ones=1 - truth[:, None])
    drawn = found.draw("ones", 0, np.ones(3000), np.random.default_rng(0))
    shares = np.bincount(drawn.astype(int), minlength=3) / 3000
    expected = np.bincount(truth.astype(int), minlength=3) / 60
    np.testing.assert_allclose(shares, expected, atol=0.05)
