"""Chains of drawn models: what columns are predicted from, and what a chain changes."""

import numpy as np
import pytest

from pmae_core.imputers.classic._drawn_chain import ChainMaker
from pmae_core.imputers.classic._drawn_regressions import DrawnLogistic, MatchedLinear
from pmae_core.table import EncodedColumn, EncodedTable

NUMBERS = tuple(EncodedColumn(f"x{j}", "numerical", 0) for j in range(4))
GROUP = EncodedColumn("g", "categorical", 5)


def table(n: int = 90, *, missing: float = 0.2) -> EncodedTable:
    """Return four numbers, of which the first two are closely related, and a category."""
    rng = np.random.default_rng(0)
    values = rng.random((n, 5))
    values[:, 1] = values[:, 0] + 0.01 * values[:, 1]
    values[:, 4] = rng.integers(5, size=n)
    observed = rng.random((n, 5)) >= missing
    return EncodedTable(values.astype(np.float32), observed, (*NUMBERS, GROUP))


def maker(encoded: EncodedTable, n_nearest: int | None = None) -> ChainMaker:
    return ChainMaker(
        encoded,
        n_rounds=2,
        number=MatchedLinear.fit,
        category=DrawnLogistic.fit,
        n_nearest=n_nearest,
    )


def test_a_column_is_predicted_from_all_others_where_cells_suffice():
    predictors = maker(table(900)).predictors
    np.testing.assert_array_equal(predictors[0], [1, 2, 3, 4, 5, 6, 7])
    np.testing.assert_array_equal(predictors[4], [0, 1, 2, 3])


@pytest.mark.parametrize(("n_nearest", "n"), [(1, 900), (None, 5)])
def test_the_most_related_columns_are_chosen_where_not_all_can_be(n_nearest, n):
    predictors = maker(table(n, missing=0.0), n_nearest).predictors
    np.testing.assert_array_equal(predictors[0], [1])
    np.testing.assert_array_equal(predictors[1], [0])


def test_a_chain_keeps_observed_cells_and_draws_possible_ones():
    encoded = table()
    chain = maker(encoded).run(np.random.default_rng(0))
    np.testing.assert_array_equal(
        chain.values[encoded.observed], encoded.values.astype(float)[encoded.observed]
    )
    for j in range(5):
        assert set(chain.values[:, j]) <= set(chain.values[encoded.observed[:, j], j])
    blocks = chain.maker.layout.features(chain.values)
    np.testing.assert_array_equal(chain.features, blocks)


def test_other_rows_are_imputed_in_columns_that_were_complete_too():
    fitted = table(missing=0.0)
    chains = maker(fitted)
    chain = chains.run(np.random.default_rng(0))
    assert not chain.models
    new = table(30)
    imputed = chains.impute_others(new, chain, np.random.default_rng(1))
    missing = ~new.observed[:, 1] & new.observed[:, 0]
    assert missing.any()
    np.testing.assert_allclose(imputed[missing, 1], new.values[missing, 0], atol=0.1)
    assert set(imputed[:, 4]) <= set(range(5))
