"""Verdicts on columns: the best method is the best, and chance is not called predictable."""

import math

import numpy as np
import pandas as pd
import pytest

from pmae_core.evaluation import compare
from pmae_core.evaluation.winners import (
    NOT_SHOWN_TO_BEAT_THE_MEAN,
    column_winners,
    without_baseline,
)


def tables(gains):
    """Turn {method: array (seeds, columns, cells)} into the tables of a comparison."""
    cells = [
        {"method": method, "seed": seed, "column": f"c{column}", "row": row, "gain": gain}
        for method, values in gains.items()
        for (seed, column, row), gain in np.ndenumerate(np.asarray(values, dtype=float))
    ]
    frame = pd.DataFrame(cells)
    skill = frame.groupby(["method", "seed", "column"], sort=False)["gain"].mean()
    return skill.rename("skill").reset_index(), frame


def noisy(mean, noise=0.5, seeds=3, columns=1, cells=60, seed=0):
    return mean + noise * np.random.default_rng(seed).normal(size=(seeds, columns, cells))


def winners(gains):
    return column_winners(*tables(gains))


def test_the_best_method_is_the_one_with_the_highest_skill():
    """Though its own advantage over the mean is less certain than that of a steadier method."""
    found = winners({"steady": noisy(0.3, 0.1), "erratic": noisy(0.5, 6.0, seed=3)})
    skill = tables({"steady": noisy(0.3, 0.1), "erratic": noisy(0.5, 6.0, seed=3)})[0]
    by_method = skill.groupby("method")["skill"].mean()
    assert by_method["erratic"] > by_method["steady"]
    assert found.loc["c0", "best"] == "erratic"
    assert found.loc["c0", "tied"] == ["steady"]
    assert found.loc["c0", "skill"] == pytest.approx(by_method["erratic"])


def test_methods_are_told_apart_on_the_same_cells():
    shared = noisy(0.0, 2.0)
    found = winners({"a": 1.4 + shared, "b": 1.0 + shared + noisy(0, 0.1, seed=1)})
    assert (found.loc["c0", "best"], found.loc["c0", "tied"]) == ("a", [])
    assert found.loc["c0", "verdict"] == "a"
    close = winners({"a": 1.0 + shared, "b": 0.999 + shared + noisy(0, 0.1, seed=1)})
    assert len(close.loc["c0", "tied"]) == 1
    assert "tied with" in close.loc["c0", "verdict"]


def test_chance_does_not_beat_the_mean():
    found = winners({"a": noisy(0.02, 1.0), "b": noisy(-0.3, 1.0, seed=1)})
    assert found.loc["c0", "best"] is None
    assert found.loc["c0", "verdict"] == NOT_SHOWN_TO_BEAT_THE_MEAN
    assert found.loc["c0", "p_value"] > 0.05


def test_three_lucky_seeds_are_no_proof():
    """Each seed alike, as a t-test over three seeds likes it, but cells that vary widely."""
    cells = noisy(0.0, 3.0, seeds=1, cells=90)
    cells += 0.1 - cells.mean()
    found = winners({"a": np.repeat(cells, 3, axis=0)})
    assert found.loc["c0", "best"] is None


def test_columns_and_methods_are_corrected_for():
    one = noisy(0.25, 1.0, seeds=1, cells=80, seed=2)
    alone = winners({"a": one})
    noise = noisy(-0.2, 1.0, seeds=1, columns=40, cells=80, seed=5)
    among_many = winners({"a": np.concatenate([one, noise], axis=1)})
    assert alone.loc["c0", "p_value"] < 0.05 < among_many.loc["c0", "p_value"]


def test_few_cells_that_all_gain_are_no_proof():
    """Three categories right where the mode is wrong: by chance in one of eight columns."""
    assert winners({"a": np.ones((1, 1, 3))}).loc["c0", "best"] is None
    assert winners({"a": np.ones((1, 1, 10))}).loc["c0", "best"] == "a"


def test_noise_is_seldom_called_predictable():
    """At most 5% of comparisons name any of 15 columns of numbers and of rare categories."""
    rng = np.random.default_rng(0)
    n_wrong = 0
    for _ in range(100):
        errors = rng.normal(size=(1, 12, 40))
        numbers = [errors**2 - (errors - 0.3 * rng.normal(size=errors.shape)) ** 2 for _ in "abc"]
        labels = [rng.choice([-1, 0, 1], p=[0.1, 0.8, 0.1], size=(1, 3, 40)) for _ in "abc"]
        found = winners(
            {
                name: np.concatenate(both, axis=1)
                for name, *both in zip("abc", numbers, labels, strict=True)
            }
        )
        n_wrong += found["best"].notna().any()
    assert n_wrong <= 8


def test_a_method_that_errs_where_the_mean_does_not_cannot_win():
    skill, gains = tables({"good": noisy(0.5, 0.1), "odd": noisy(0.9, 0.1, seed=1)})
    skill.loc[(skill["method"] == "odd") & (skill["seed"] == 1), "skill"] = math.nan
    assert column_winners(skill, gains).loc["c0", "best"] == "good"


def test_one_lucky_seed_does_not_win_a_column():
    found = winners({"steady": noisy(0.5, 0.1), "lucky": noisy(0.9, 0.1, seeds=1, seed=1)})
    assert found.loc["c0", "best"] == "steady"


def test_the_mean_does_not_tie_with_what_beats_it():
    found = winners({"a": noisy(0.5, 0.1), "mean": np.zeros((3, 1, 60))})
    assert (found.loc["c0", "best"], found.loc["c0", "tied"]) == ("a", [])


def test_results_saved_without_cells_are_not_tested():
    skill, gains = tables({"a": noisy(0.5, 0.1)})
    found = column_winners(skill, gains.iloc[:0])
    assert found.loc["c0", "best"] == "a"
    assert "not tested" in found.loc["c0", "verdict"]


def test_a_randomized_column_is_not_predictable():
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(500, 3)), columns=list("xyz"))
    table["y"] += 2 * table["x"]
    table["trt"] = rng.integers(1, 3, size=500).astype(float)
    table = table.mask(rng.random(table.shape) < 0.15)
    found = compare(
        table, ["em", "naive"], schema={"trt": "numerical"}, imputations=0
    ).column_winners()
    assert found.loc["y", "best"] == "em"
    assert found.loc["trt", "best"] is None


def test_nullable_booleans_with_missing_values_are_scored():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"smoker": pd.array(rng.random(80) < 0.4, dtype="boolean"), "x": rng.normal(size=80)}
    )
    frame.loc[::7, "smoker"] = None

    compared = compare(frame, ["naive", "knn"], seeds=[0])

    assert [(task.status, task.error) for task in compared.tasks] == [("done", None)] * 2
    assert "smoker" in compared.tasks[0].gains


def test_the_baseline_is_never_tied_with_a_method_that_beats_it():
    rows = {"best": ["em", None], "tied": [["knn", "naive"], []]}
    winners = pd.DataFrame(rows, index=["x", "y"], dtype=object)

    assert without_baseline(winners)["tied"].tolist() == [["knn"], []]
