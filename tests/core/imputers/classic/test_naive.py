"""Mean and mode."""

import numpy as np
import pandas as pd

from pmae_core.imputers.classic.naive import NaiveImputer


def test_numbers_get_the_mean_and_categories_the_mode():
    table = pd.DataFrame(
        {
            "size": [0.25, 100.5, None, 3.75, None],
            "town": ["Ulm", "Bonn", "Ulm", None, None],
            "yes": pd.array([True, None, False, True, None], dtype="boolean"),
        }
    )
    imputed = NaiveImputer().fit_transform(table)
    mean = table["size"].mean().round(2)  # as many decimals as the column has
    np.testing.assert_allclose(imputed["size"], table["size"].fillna(mean), rtol=1e-6)
    assert imputed["town"].tolist() == ["Ulm", "Bonn", "Ulm", "Ulm", "Ulm"]
    assert imputed["yes"].tolist() == [True, True, False, True, True]


def test_the_mean_is_that_of_the_original_scale_even_when_skewed():
    skewed = np.exp(np.random.default_rng(0).normal(size=(500, 1)) * 2)
    skewed[::3] = np.nan
    imputed = NaiveImputer().fit_transform(skewed)
    np.testing.assert_allclose(imputed[0], np.nanmean(skewed), rtol=1e-5)


def test_new_rows_get_the_mean_of_the_fitted_ones():
    imputer = NaiveImputer().fit(np.array([[0.5], [1.0], [3.0]]))
    imputed = imputer.transform(np.array([[np.nan], [9.0]]))
    np.testing.assert_allclose(imputed, [[1.5], [9.0]], rtol=1e-6)
