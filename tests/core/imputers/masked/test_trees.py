"""Masked trees: what they learn from, and what they are good at."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import Cancelled, ImputationWarning
from pmae_core.imputers.masked.trees import MaskedTreesImputer
from tests.support.correlated import correlated_table, r2


def curved_table(n: int = 400) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table with a parabola, and the same with a fifth of it missing."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, n)
    truth = pd.DataFrame({"x": x, "y": x**2 + rng.normal(0, 0.1, n), "noise": rng.normal(size=n)})
    incomplete = truth.copy()
    incomplete.loc[rng.random(n) < 0.2, "y"] = np.nan
    return truth, incomplete


def r2_of_y(imputer: MaskedTreesImputer, truth: pd.DataFrame, incomplete: pd.DataFrame) -> float:
    cells = incomplete["y"].isna()
    errors = imputer.fit_transform(incomplete).loc[cells, "y"] - truth.loc[cells, "y"]
    return float(1 - (errors**2).mean() / truth.loc[cells, "y"].var())


def test_curves_are_learned():
    truth, incomplete = curved_table()
    for gaussian, least in ((True, 0.95), (False, 0.65)):
        imputer = MaskedTreesImputer(n_trees=30, gaussian=gaussian, random_state=0)
        assert r2_of_y(imputer, truth, incomplete) > least


def test_the_gaussian_helps_where_lines_say_it_all():
    truth, incomplete = correlated_table(0, n=80)
    with_it, without = (
        r2(
            truth,
            MaskedTreesImputer(gaussian=g, random_state=0).fit_transform(incomplete),
            incomplete,
        )
        for g in (True, False)
    )
    assert with_it > without


def test_neither_threads_nor_pieces_change_the_result(monkeypatch):
    _, incomplete = curved_table()
    alone = MaskedTreesImputer(n_trees=10, random_state=0).fit(incomplete)
    together = MaskedTreesImputer(n_trees=10, n_jobs=2, random_state=0).fit(incomplete)
    whole = alone.transform(incomplete)

    pd.testing.assert_frame_equal(together.transform(incomplete), whole, check_exact=True)
    monkeypatch.setattr("pmae_core.imputers.masked._blend._CELLS_AT_ONCE", 30)
    pd.testing.assert_frame_equal(alone.transform(incomplete), whole, check_exact=True)


def test_rows_are_imputed_one_by_one():
    _, incomplete = curved_table()
    imputer = MaskedTreesImputer(n_trees=10, random_state=0).fit(incomplete)
    row = incomplete[incomplete["y"].isna()].iloc[[3]]

    pd.testing.assert_frame_equal(
        imputer.transform(row), imputer.transform(incomplete).loc[row.index], rtol=1e-5
    )


def test_too_many_coordinates_for_a_gaussian_are_left_to_the_trees(monkeypatch):
    monkeypatch.setattr("pmae_core.imputers.masked._table_gaussian.MOST_COORDINATES", 2)
    truth, incomplete = curved_table()
    imputer = MaskedTreesImputer(n_trees=30, random_state=0)

    with pytest.warns(ImputationWarning, match="too many columns and categories"):
        assert r2_of_y(imputer, truth, incomplete) > 0.65
    assert imputer.forests_.gaussian is None


def test_growing_can_be_cancelled_between_trees():
    _, incomplete = curved_table()
    seen = []

    with pytest.raises(Cancelled):
        MaskedTreesImputer(n_trees=50, random_state=0).fit(
            incomplete, callbacks=[seen.append], cancel=lambda: len(seen) >= 2
        )
    assert (seen[-1].done, seen[-1].total, seen[-1].unit) == (20, 150, "tree")


def test_draws_have_the_spread_of_what_cannot_be_known():
    rng = np.random.default_rng(1)
    truth = pd.DataFrame({"x": rng.normal(size=600)})
    truth["y"] = truth["x"] + rng.normal(0, 0.5, 600)
    incomplete = truth.assign(y=truth["y"].where(rng.random(600) > 0.3))
    cells = incomplete["y"].isna()

    draws = MaskedTreesImputer(n_trees=30, random_state=0).fit(incomplete).sample(incomplete, 40)

    spread = np.std([draw.loc[cells, "y"] for draw in draws], axis=0).mean()
    assert spread == pytest.approx(0.5, abs=0.12)
    drawn, observed = draws[0].loc[cells, "y"], incomplete["y"].dropna()
    assert drawn.between(observed.min(), observed.max()).all()


def test_drawn_categories_follow_their_probabilities():
    rng = np.random.default_rng(2)
    side = rng.random(800) < 0.5
    town = np.where(rng.random(800) < np.where(side, 0.8, 0.3), "Ulm", "Bonn")
    table = pd.DataFrame({"side": side, "town": pd.Series(town).where(rng.random(800) > 0.3)})
    cells = table["town"].isna()

    draws = MaskedTreesImputer(n_trees=30, random_state=0).fit(table).sample(table, 30)

    share = np.mean([draw.loc[cells, "town"] == "Ulm" for draw in draws], axis=0)
    assert share[side[cells]].mean() == pytest.approx(0.8, abs=0.08)
    assert share[~side[cells]].mean() == pytest.approx(0.3, abs=0.08)
