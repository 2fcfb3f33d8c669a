"""Shift the odds of one category among imputed cells, each cell from its own row's odds."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.errors import ScoringError
from pmae_core.table import Schema, TableEncoder
from pmae_core.table.cells import as_objects, impute_cells
from pmae_core.words import cell_text, listed

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

# Limits that keep the regression below a second: what a row says about a category rarely takes
# more, and the odds need no more precision than the imputations have.
MOST_ROWS = 5_000
MOST_CELLS = 2_000_000
MOST_FEATURES = 100
MOST_LEVELS = 20
MOST_CLASSES = 20
_ROWS_AT_ONCE = 50_000
# The weight of a category's share beside its estimated probability, so that no odds are 0 or
# infinite.
_LEAST_WEIGHT = 1e-9
# Beyond this the odds are those of certainty; e to its power is still a finite number.
_LARGEST_DELTA = 500.0


@dataclass(frozen=True, eq=False)
class OddsShift:
    """One category of a column whose odds can be shifted by any amount.

    Attributes
    ----------
    cells : Series
        The imputed column.
    moved : array of bool
        True for its imputed cells, which may change.
    category
        The category whose odds are shifted.
    probabilities : array
        For each imputed cell, its row's probability of the category.
    turns : array
        For each imputed cell, a uniform number that decides at which shift the cell changes.
    replacements : array
        For each imputed cell, the position in `cells` of the category it gets if it leaves.
    """

    cells: pd.Series
    moved: BoolArray
    category: Any
    probabilities: FloatArray
    turns: FloatArray
    replacements: IntArray

    @classmethod
    def fit(
        cls,
        table: pd.DataFrame,
        column: Hashable,
        moved: BoolArray,
        category: Any,
        *,
        probabilities: pd.DataFrame | None = None,
        schema: Schema | None = None,
        seed: int = 0,
    ) -> OddsShift:
        """Find each imputed cell's own odds once, for all shifts.

        Parameters
        ----------
        table : DataFrame
            The imputed table.
        column, category, probabilities, schema, seed
            As in :func:`~pmae_core.inference.shifted`.
        moved : array of bool
            True for the imputed cells of the column.

        Raises
        ------
        ScoringError
            If the column has no odds to shift, or the probabilities do not fit it.
        """
        cells = table[column]
        _check_category(cells, category)
        for_turns, for_rows = np.random.default_rng(seed).spawn(2)
        if probabilities is None:
            known = _estimated(table, column, moved, category, schema, for_rows)
        else:
            known = _given(probabilities, cells, moved, category)
        shares = known.shares / known.shares.sum()
        own = (1 - _LEAST_WEIGHT) * known.probabilities + _LEAST_WEIGHT * shares
        turns = for_turns.random(len(own))
        others = own.copy()
        others[:, 0] = 0.0
        return cls(
            cells=cells,
            moved=moved,
            category=category,
            probabilities=own[:, 0],
            turns=turns,
            replacements=known.members(_choose(others, for_turns), for_turns),
        )

    def at(self, delta: float) -> pd.Series:
        """Return the column with `delta` added to each imputed cell's log odds of the category.

        A cell outside the category enters it, and one inside leaves it, with the probability that
        takes the row's probability p to p' = expit(logit(p) + delta). A cell that changes at one
        delta stays changed at larger ones.
        """
        if not np.isfinite(delta):
            raise ScoringError(f"delta must be a finite number, not {delta}.")
        growth = np.expm1(np.clip(delta, -_LARGEST_DELTA, _LARGEST_DELTA))
        p = self.probabilities
        # (p' - p) / (1 - p) and (p - p') / p, in a form that is exactly 0 for a delta of 0.
        entering = p * growth / (1 + p * growth)
        leaving = -(1 - p) * growth / (1 + p * growth)
        inside = _is_category(self.cells, self.category)[self.moved]
        leaves = inside & (self.turns < leaving)
        enters = ~inside & (self.turns < entering)
        sources = np.flatnonzero(self.moved)
        sources[leaves] = self.replacements[leaves]
        sources[enters] = _first_position(self.cells, self.category)
        return impute_cells(self.cells, self.moved, self.cells.array.take(sources))


class _ClassProbabilities(NamedTuple):
    """For each imputed cell its probability of each class; class 0 is the shifted category.

    A class is one category or, if there are many, all the rare ones together. `categories` are
    positions of a cell of each category, in `weights` its number of cells, and in `classes` its
    class; `shares` are the numbers of cells by class.
    """

    probabilities: FloatArray
    shares: FloatArray
    categories: IntArray
    weights: FloatArray
    classes: IntArray

    def members(self, chosen: IntArray, rng: np.random.Generator) -> IntArray:
        """Return for each chosen class one of its categories, in proportion to their frequency."""
        result = np.empty(len(chosen), dtype=np.intp)
        for number in np.unique(chosen):
            is_chosen, of_class = chosen == number, self.classes == number
            weights = self.weights[of_class]
            picked = self.categories[of_class]
            result[is_chosen] = rng.choice(picked, is_chosen.sum(), p=weights / weights.sum())
        return result


def _is_category(cells: pd.Series, category: Any) -> BoolArray:
    return (cells == category).fillna(False).to_numpy(dtype=bool)


def _first_position(cells: pd.Series, category: Any) -> int:
    return int(_is_category(cells, category).argmax())


def _check_category(cells: pd.Series, category: Any) -> None:
    is_category = _is_category(cells, category)
    if not is_category.any() or is_category[cells.notna()].all():
        raise ScoringError(
            f"Column {cells.name!r} has no odds to shift: it needs cells that are "
            f"{cell_text(category)} and cells that are not."
        )


def _choose(weights: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return for each row a column, chosen in proportion to the row's weights."""
    sums = weights.cumsum(axis=1)
    chosen = rng.random((len(weights), 1)) * sums[:, -1:]
    # The last sum is never exceeded, so a row always has a column.
    return (sums[:, :-1] <= chosen).sum(axis=1)


def _categories(cells: pd.Series, category: Any) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the code of each cell (-1: missing), and first position and count of each category.

    The shifted category has code 0, the others follow from frequent to rare.
    """
    codes, _ = pd.factorize(cells)
    present, first, counts = np.unique(codes, return_index=True, return_counts=True)
    first, weights = first[present >= 0], counts[present >= 0].astype(np.float64)
    at_front = codes[_first_position(cells, category)]
    ranked_by = np.where(np.arange(len(weights)) == at_front, np.inf, weights)
    order = np.argsort(-ranked_by, kind="stable")
    new_code = np.full(len(order) + 1, -1, dtype=np.intp)
    new_code[order] = np.arange(len(order))
    return new_code[codes], first[order], weights[order]


# Probabilities that the caller knows


def _given(
    probabilities: pd.DataFrame, cells: pd.Series, moved: BoolArray, category: Any
) -> _ClassProbabilities:
    if not probabilities.index.equals(cells.index):
        raise ScoringError(
            "The probabilities must have the rows of the imputed table, in the same order."
        )
    _, categories, weights = _categories(cells, category)
    labels = as_objects(cells.iloc[categories].tolist())
    unknown = [name for name in probabilities.columns if name not in set(labels)]
    if unknown or category not in probabilities.columns:
        problem = f"{listed(unknown)} besides" if unknown else f"no column {cell_text(category)} of"
        raise ScoringError(
            f"The probabilities have {problem} the categories of {cells.name!r}. Give one column "
            "per category, named by it."
        )
    known = probabilities.reindex(columns=pd.Index(labels, dtype=object), fill_value=0.0)
    own = known.to_numpy(dtype=np.float64)[moved]
    if not ((own >= 0).all() and np.allclose(own.sum(axis=1), 1, atol=1e-6)):
        raise ScoringError(
            "The probabilities of each imputed cell must be at least 0 and add up to 1."
        )
    return _ClassProbabilities(own, weights, categories, weights, np.arange(len(weights)))


# Probabilities by a regression of the column on the others


def _estimated(
    table: pd.DataFrame,
    column: Hashable,
    moved: BoolArray,
    category: Any,
    schema: Schema | None,
    rng: np.random.Generator,
) -> _ClassProbabilities:
    """Estimate each imputed cell's probabilities by a penalized multinomial regression."""
    codes, categories, weights = _categories(table[column], category)
    classes = np.minimum(np.arange(len(weights)), MOST_CLASSES - 1)
    shares = np.bincount(classes, weights).astype(np.float64)
    targets = np.where(codes < 0, -1, np.minimum(codes, MOST_CLASSES - 1))
    most = min(MOST_ROWS, MOST_CELLS // table.shape[1])
    rows = _rows_to_fit(targets, moved, most, rng)
    own = np.tile(shares / shares.sum(), (int(moved.sum()), 1))
    seen = np.unique(targets[rows])
    if len(seen) > 1:
        features = _Features.fit(table.drop(columns=column).iloc[rows], schema)
        model = _regression(features(table.iloc[rows], moved[rows]), targets[rows])
        own[:] = 0.0
        own[:, seen] = _predicted(model, features, table, moved)
    return _ClassProbabilities(own, shares, categories, weights, classes)


def _rows_to_fit(
    targets: IntArray, moved: BoolArray, most: int, rng: np.random.Generator
) -> IntArray:
    """Return all rows of a small table; of a large one a sample, half of it of imputed cells."""
    imputed, observed = np.flatnonzero(moved), np.flatnonzero(~moved & (targets >= 0))
    if len(imputed) + len(observed) <= most:
        return np.sort(np.concatenate([imputed, observed]))
    n_imputed = max(most - len(observed), min(len(imputed), most // 2))
    n_observed = most - n_imputed
    taken = [rng.choice(imputed, n_imputed, False), rng.choice(observed, n_observed, False)]
    return np.sort(np.concatenate(taken))


@dataclass(frozen=True, eq=False)
class _Features:
    """The other columns as standardized numbers and as 0 and 1 per category.

    Identifiers, ignored and constant columns are left out, as the schema says. The last feature
    is whether the cell was imputed: imputed cells may have another level than observed ones.
    """

    encoder: TableEncoder

    @classmethod
    def fit(cls, others: pd.DataFrame, schema: Schema | None) -> _Features:
        rare = max(1, len(others) // MOST_LEVELS)
        used = Schema.infer(others) if schema is None else schema.for_table(others)
        encoder = TableEncoder(schema=used, numeric="standard", min_category_count=rare)
        return cls(encoder.fit(others))

    def __call__(self, table: pd.DataFrame, was_imputed: BoolArray) -> FloatArray:
        encoded = self.encoder.transform(table)
        parts = [was_imputed[:, None].astype(float)]
        for place, column in enumerate(encoded.columns):
            values, observed = encoded.values[:, [place]], encoded.observed[:, [place]]
            if column.kind == "numerical":
                # From mean ± 3 standard deviations in [0, 1]; missing cells get the mean.
                parts.append(np.where(observed, 6.0 * values - 3.0, 0.0))
            else:
                parts.append((values == np.arange(column.n_categories)) & observed)
        return np.concatenate(parts, axis=1, dtype=np.float64)


def _regression(features: FloatArray, targets: IntArray) -> Any:
    from sklearn.feature_selection import SelectKBest, f_classif
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    best = SelectKBest(f_classif, k=min(MOST_FEATURES, features.shape[1]))
    model = make_pipeline(best, LogisticRegression(max_iter=50, tol=1e-3))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # Features that do not vary have no score, and 50 steps are close enough to the optimum.
        warnings.simplefilter("ignore")
        return model.fit(features, targets)


def _predicted(
    model: Any, features: _Features, table: pd.DataFrame, moved: BoolArray
) -> FloatArray:
    rows = np.flatnonzero(moved)
    blocks = np.split(rows, range(_ROWS_AT_ONCE, len(rows), _ROWS_AT_ONCE))
    parts = [model.predict_proba(features(table.iloc[one], moved[one])) for one in blocks]
    return np.concatenate(parts)
