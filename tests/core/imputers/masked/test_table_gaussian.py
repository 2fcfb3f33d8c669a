"""One Gaussian of a table's columns, on ranks and on their own scale."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import ImputationError
from pmae_core.imputers import PMAENetworkImputer, load_imputer
from pmae_core.imputers.masked import _table_gaussian
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.imputers.masked._table_gaussian import TableGaussian, coordinates_of, is_too_wide
from pmae_core.table import EncodedTable, TableEncoder

BOTH_SCALES = pytest.mark.parametrize("on_own_scale", [False, True], ids=["ranks", "own"])


def encode(frame: pd.DataFrame) -> tuple[EncodedTable, OwnNumbers]:
    encoder = TableEncoder(numeric="rank").fit(frame)
    return encoder.transform(frame), OwnNumbers(encoder.scalers_)


def fit(frame: pd.DataFrame, *, on_own_scale: bool) -> tuple[TableGaussian, EncodedTable]:
    encoded, numbers = encode(frame)
    rng = np.random.default_rng(0)
    gaussian = TableGaussian.fit(
        encoded, encoded.observed, numbers, on_own_scale=on_own_scale, rng=rng
    )
    return gaussian, encoded


def long_tails(n: int, unit: float = 1.0) -> pd.DataFrame:
    """Return two columns with long tails, the second a straight line of the first."""
    rng = np.random.default_rng(0)
    first = np.exp(2 * rng.normal(size=n))
    return pd.DataFrame({"first": first, "second": 3 * first + rng.exponential(size=n)}) * unit


def mixed(n: int = 600) -> pd.DataFrame:
    """Return a number and a town that say much about each other, and a number of its own."""
    rng = np.random.default_rng(0)
    towns = rng.integers(3, size=n)
    return pd.DataFrame(
        {
            "rent": 100.0 * towns + rng.normal(size=n),
            "town": np.array(["Bonn", "Oslo", "Ulm"])[towns],
            "noise": rng.normal(size=n),
        }
    )


def without(encoded: EncodedTable, j: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all cells but those of one column as kept, and those as wanted."""
    wanted = np.zeros_like(encoded.observed)
    wanted[:, j] = True
    return encoded.observed & ~wanted, wanted


@BOTH_SCALES
def test_numbers_are_estimated_given_what_is_kept(on_own_scale):
    gaussian, encoded = fit(mixed(), on_own_scale=on_own_scale)
    kept, wanted = without(encoded, 0)

    estimates = gaussian.estimate(encoded.values, kept, wanted)

    assert list(estimates) == [0]
    truth = gaussian.numbers.of_scores(encoded.values[:, 0], 0)
    errors = np.abs(estimates[0][:, 0] - truth)
    assert errors.mean() < 0.05
    nothing = gaussian.estimate(encoded.values, np.zeros_like(kept), wanted)[0]
    assert np.ptp(nothing) < 1e-9  # without any cell there is one answer for all rows
    assert errors.mean() < 0.3 * np.abs(nothing[:, 0] - truth).mean()


@BOTH_SCALES
def test_categories_are_probabilities_that_add_up_to_one(on_own_scale):
    gaussian, encoded = fit(mixed(), on_own_scale=on_own_scale)
    kept, wanted = without(encoded, 1)

    likely = gaussian.estimate(encoded.values, kept, wanted)[1]

    assert likely.shape == (600, 3)
    assert likely.min() > 0
    np.testing.assert_allclose(likely.sum(axis=1), 1)
    # A line cannot put the town of middle rents first; the others it can.
    outer = encoded.values[:, 1] != 1
    assert (likely.argmax(axis=1) == encoded.values[:, 1])[outer].mean() > 0.95


def test_only_wanted_cells_are_returned():
    gaussian, encoded = fit(mixed(), on_own_scale=False)
    wanted = np.zeros_like(encoded.observed)
    wanted[:4, 0] = wanted[2, 1] = True

    estimates = gaussian.estimate(encoded.values, encoded.observed & ~wanted, wanted)

    assert {j: len(found) for j, found in estimates.items()} == {0: 4, 1: 1}


@pytest.mark.parametrize("unit", [1.0, -1.0, 1e-300, 1e303])
def test_straight_lines_of_numbers_of_any_size_are_found_on_their_own_scale(unit):
    table = long_tails(2000, unit)
    gaussian, encoded = fit(table, on_own_scale=True)
    kept, wanted = without(encoded, 1)

    found = gaussian.estimate(encoded.values, kept, wanted)[1][:, 0]

    truth = gaussian.numbers.of_scores(encoded.values[:, 1], 1)
    far_out = np.abs(table["first"] / unit) > 20
    np.testing.assert_allclose(found[far_out], truth[far_out], atol=0.005)
    assert np.isfinite(found).all()


@BOTH_SCALES
def test_the_largest_numbers_have_finite_estimates(on_own_scale):
    x = 1.7e308 * np.linspace(-1, 1, 60)
    table = pd.DataFrame({"x": x, "y": -x, "town": np.where(x > 0, "Ulm", "Bonn")})
    gaussian, encoded = fit(table, on_own_scale=on_own_scale)

    for j in range(3):
        found = gaussian.estimate(encoded.values, *without(encoded, j))[j]
        assert np.isfinite(found).all()
        assert found.min() >= 0
        assert found.max() <= 1
    np.testing.assert_allclose(
        gaussian.estimate(encoded.values, *without(encoded, 1))[1][:, 0],
        np.linspace(1, 0, 60),
        atol=0.02,
    )


def test_missing_cells_say_nothing():
    table = long_tails(300)
    incomplete = table.mask(np.random.default_rng(1).random(table.shape) < 0.3)
    encoded, numbers = encode(incomplete)
    other = encoded.values.copy()
    other[~encoded.observed] = 0.123
    fits = [
        TableGaussian.fit(
            EncodedTable(values, encoded.observed, encoded.columns),
            encoded.observed,
            numbers,
            on_own_scale=True,
            rng=np.random.default_rng(0),
        )
        for values in (encoded.values, other)
    ]

    for first, second in zip(fits[0].arrays().values(), fits[1].arrays().values(), strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)


@BOTH_SCALES
def test_rows_that_are_left_out_do_not_count(on_own_scale):
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    slope = np.where(np.arange(400) < 100, -1.0, 1.0)  # the first rows contradict the others
    table = pd.DataFrame({"x": x, "y": slope * x + 0.05 * rng.normal(size=400)})
    gaussian, encoded = fit(table, on_own_scale=on_own_scale)

    others = gaussian.without_rows(encoded, encoded.observed, np.arange(400) < 100)

    def correlation(one: TableGaussian) -> float:
        covariance = one.model.covariance
        return covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])

    assert correlation(gaussian) < 0.7
    assert correlation(others) > 0.95
    nobody = np.zeros(400, dtype=bool)
    assert gaussian.without_rows(encoded, encoded.observed, nobody) is gaussian
    assert gaussian.without_rows(encoded, encoded.observed, ~nobody) is gaussian


@BOTH_SCALES
def test_arrays_give_the_same_gaussian_again(on_own_scale):
    gaussian, encoded = fit(mixed(), on_own_scale=on_own_scale)
    again = TableGaussian.from_arrays(
        gaussian.arrays(), encoded.columns, gaussian.numbers, on_own_scale=on_own_scale
    )
    wanted = np.random.default_rng(1).random(encoded.observed.shape) < 0.3

    ours, theirs = (
        one.estimate(encoded.values, encoded.observed & ~wanted, wanted)
        for one in (gaussian, again)
    )

    for j in range(3):
        np.testing.assert_array_equal(ours[j], theirs[j])


@pytest.mark.parametrize("name", ["mean", "covariance", "center", "scale"])
def test_damaged_arrays_are_refused_with_a_sentence(name):
    gaussian, encoded = fit(mixed(50), on_own_scale=True)

    def restore(arrays: dict[str, np.ndarray]) -> TableGaussian:
        return TableGaussian.from_arrays(
            arrays, encoded.columns, gaussian.numbers, on_own_scale=True
        )

    arrays = gaussian.arrays()
    restore(arrays)
    with pytest.raises(ImputationError, match=f"damaged: the Gaussian's {name} does not fit"):
        restore({key: array for key, array in arrays.items() if key != name})
    with pytest.raises(ImputationError, match=f"damaged: the Gaussian's {name} does not fit"):
        restore(arrays | {name: arrays[name][:-1]})
    with pytest.raises(ImputationError, match=f"damaged: the Gaussian's {name} is not finite"):
        restore(arrays | {name: np.full_like(arrays[name], np.nan)})


def test_a_category_has_a_coordinate_for_each_but_the_first(monkeypatch):
    encoded, _ = encode(mixed(50))

    assert coordinates_of(encoded.columns) == [(0, 0), (1, 1), (1, 2), (2, 0)]
    assert not is_too_wide(encoded.columns)
    monkeypatch.setattr(_table_gaussian, "MOST_COORDINATES", 3)
    assert is_too_wide(encoded.columns)


def test_a_network_imputes_long_tails_better_and_keeps_what_it_learned(tmp_path):
    truth = long_tails(3000)
    truth["third"] = np.random.default_rng(1).normal(size=3000)
    table = truth.copy()
    missing = np.random.default_rng(2).random(3000) < 0.3
    table.loc[missing, "second"] = np.nan
    errors = {}
    for own in (False, True):
        imputer = PMAENetworkImputer(
            preset="fast", steps=20, correct_means=own, device="cpu", random_state=0
        ).fit(table)
        imputed = imputer.transform(table)
        errors[own] = np.square(imputed["second"] - truth["second"])[missing].mean()
    assert errors[True] < 0.5 * errors[False]
    assert imputer.network_.calibration.shares[1, 1] > 0.5
    imputer.save(tmp_path / "model.safetensors")
    again = load_imputer(tmp_path / "model.safetensors").transform(table)
    pd.testing.assert_frame_equal(again, imputed)
