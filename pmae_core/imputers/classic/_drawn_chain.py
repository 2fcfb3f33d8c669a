"""Chained equations with drawn coefficients: one chain per imputation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from pmae_core.imputers.classic._common import columns_by_missing
from pmae_core.imputers.classic._features import FeatureLayout, column_relations
from pmae_core.table import EncodedTable

# With more coefficients per observed cell, the spread of residuals is hardly known.
_CELLS_PER_COEFFICIENT = 3
# A regression of a category takes time with the cube of its coefficients.
_MOST_LOGISTIC_COEFFICIENTS = 200


class DrawnModel(Protocol):
    """A model of a column, drawn from those that the observed cells allow."""

    def draw(self, features: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return a cell per row."""


DrawModel = Callable[[np.ndarray, np.ndarray, np.random.Generator], DrawnModel]
"""Draws a model from features and a target."""


class ChainMaker:
    """Makes imputations of the fitted table, each by a chain of its own.

    Parameters
    ----------
    encoded : EncodedTable
        The fitted table.
    n_rounds : int
        Rounds per chain.
    number, category : callable
        Draw the model of a column from features and the column: numbers, or indicators of all codes
        but the first.
    n_nearest : int or None
        Most columns that a column is predicted from.
    """

    def __init__(
        self,
        encoded: EncodedTable,
        *,
        n_rounds: int,
        number: DrawModel,
        category: DrawModel,
        n_nearest: int | None,
    ) -> None:
        self.encoded = encoded
        self.n_rounds = n_rounds
        self.draw_number = number
        self.draw_category = category
        self.layout = FeatureLayout(encoded.columns)
        self.order = columns_by_missing(encoded.observed)
        self.values = encoded.values.astype(np.float64)
        self.cells = [self.values[encoded.observed[:, j], j] for j in range(len(encoded.columns))]
        self.predictors = self._choose_predictors(n_nearest)

    def _choose_predictors(self, n_nearest: int | None) -> list[np.ndarray]:
        """Return the features that each column is predicted from."""
        observed, widths, blocks = self.encoded.observed, self.layout.widths, self.layout.blocks
        relations = column_relations(self.layout, self.values, observed)
        chosen = []
        for j in range(len(widths)):
            left = self._most_features(j)
            nearest = [k for k in np.argsort(-relations[j], kind="stable") if k != j][:n_nearest]
            features: list[int] = []
            for k in nearest:
                if widths[k] <= left:
                    features.extend(range(blocks[k].start, blocks[k].stop))
                    left -= widths[k]
            chosen.append(np.sort(features).astype(np.intp))
        return chosen

    def _most_features(self, j: int) -> int:
        """Return how many features a column can be predicted from."""
        most = len(self.cells[j]) // _CELLS_PER_COEFFICIENT
        if self.encoded.columns[j].kind == "numerical":
            return most
        n_regressions = max(self.encoded.columns[j].n_categories - 1, 1)
        return min(most, _MOST_LOGISTIC_COEFFICIENTS) // n_regressions

    def run(self, rng: np.random.Generator) -> Chain:
        """Run a chain on the fitted table."""
        chain = Chain(self, self.values, self.encoded.observed, rng)
        for _ in range(self.n_rounds):
            for j in chain.incomplete_columns:
                chain.models[j] = chain.draw_model(j)
                chain.impute(j, chain.models[j])
        return chain

    def impute_others(
        self, encoded: EncodedTable, fitted: Chain, rng: np.random.Generator
    ) -> np.ndarray:
        """Return other rows imputed with the last coefficients of a chain on the fitted table."""
        chain = Chain(self, encoded.values.astype(np.float64), encoded.observed, rng)
        models = {j: fitted.models.get(j) or fitted.draw_model(j) for j in chain.incomplete_columns}
        for _ in range(self.n_rounds):
            for j, model in models.items():
                chain.impute(j, model)
        return chain.values


class Chain:
    """A table whose missing cells are drawn again and again, from random observed ones on.

    Parameters
    ----------
    maker : ChainMaker
        Knows the fitted table.
    values, observed : ndarray
        The table to impute.
    rng : Generator
        Source of randomness.

    Attributes
    ----------
    values : ndarray
        The table as imputed so far.
    models : dict
        The last drawn model of each column.
    """

    def __init__(
        self,
        maker: ChainMaker,
        values: np.ndarray,
        observed: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        self.maker = maker
        self.observed = observed
        self.rng = rng
        self.models: dict[int, DrawnModel] = {}
        self.values = values.copy()
        self.incomplete_columns = [j for j in maker.order if not observed[:, j].all()]
        for j in self.incomplete_columns:
            missing = ~observed[:, j]
            self.values[missing, j] = rng.choice(maker.cells[j], int(missing.sum()))
        self.features = maker.layout.features(self.values)

    def draw_model(self, j: int) -> DrawnModel:
        """Draw a model of a column from the rows in which it is observed."""
        seen, maker = self.observed[:, j], self.maker
        features = self.features[np.ix_(seen, maker.predictors[j])]
        if maker.encoded.columns[j].kind == "numerical":
            return maker.draw_number(features, self.values[seen, j], self.rng)
        return maker.draw_category(features, self.features[seen, maker.layout.blocks[j]], self.rng)

    def impute(self, j: int, model: DrawnModel) -> None:
        """Draw the missing cells of a column again."""
        missing = ~self.observed[:, j]
        features = self.features[np.ix_(missing, self.maker.predictors[j])]
        self.values[missing, j] = model.draw(features, self.rng)
        block = self.maker.layout.blocks[j]
        self.features[missing, block] = self.maker.layout.of_column(j, self.values[missing, j])
