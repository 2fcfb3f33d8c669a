"""Trees that learn to impute from copied masks, with a Gaussian's estimate among their inputs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from pmae_core.errors import ImputationWarning
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.masked._blend import Blend
from pmae_core.imputers.masked._blending import Blending
from pmae_core.imputers.masked._forests import Growth, enough_trees
from pmae_core.imputers.masked._masked_forests import MaskedForests, Masks
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.imputers.masked._saved_errors import errors_arrays, errors_of_columns
from pmae_core.imputers.masked._table_gaussian import TableGaussian, is_too_wide
from pmae_core.imputers.masked.saving import FittedParts, SavingImputer
from pmae_core.imputers.parameters import BOOLEAN, STRING, Constraints, Integer, Number, OneOf
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun
from pmae_core.table import EncodedTable, Schema
from pmae_core.threads import allowed_threads

TREE_CONSTRAINTS: Constraints = {
    "n_trees": [OneOf("auto"), Integer(least=1)],
    "min_leaf": [OneOf("auto"), Integer(least=1)],
    "max_features": [OneOf("auto"), Number(above=0, most=1)],
    "n_copies": [OneOf("auto"), Integer(least=1)],
    "max_samples": [Integer(least=1), None],
    "masking": [STRING],
    "copy_share": [Number(least=0, most=1)],
    "n_jobs": [Integer(least=1), Integer(most=-1), None],
}


@register_imputer(
    name="masked-trees",
    title="Masked trees",
    explanation="Predicts each column by randomized trees. They learn from rows in which the "
    "column is observed, masked as in rows in which it is missing, and take a Gaussian's estimates "
    "as further inputs.",
    citation="This project: extremely randomized trees (Geurts, Ernst and Wehenkel, Machine "
    "Learning, 2006) trained on copied masks.",
    limits="The forests of all columns stay in memory: up to about 70 MB per column.",
    draws_samples=True,
    is_proper=True,
)
class MaskedTreesImputer(SavingImputer):
    """Impute by forests for each column, trained on masks copied from rows that miss the column.

    To impute a column, a forest has to do with the cells of the rows in which the column is
    missing. So it learns from rows in which the column is observed, after the cells that are
    missing in a random row of the other kind are masked. Masked and missing cells stay missing
    inputs, which the trees split on as they are. A Gaussian, fitted to all columns on the scale of
    normal scores, adds its estimates given the remaining cells: it is good at linear relations and
    on few rows, and the trees correct it. Every row is imputed by itself, in one pass. Random
    imputations are made like those of the blend, see
    :class:`~pmae_core.imputers.masked.pmae.PMAEImputer`.

    Parameters
    ----------
    n_trees : int or "auto", default "auto"
        Trees per column; "auto" is 100, and fewer for millions of missing cells or more than 50
        columns.
    min_leaf : int or "auto", default "auto"
        Fewest rows in a leaf; "auto" is 5, and more where rows are shown often or trees
        would have too many leaves.
    max_features : float or "auto", default "auto"
        Share of the inputs that a split chooses from; "auto" is a half, and 50 inputs at most.
    n_copies : int or "auto", default "auto"
        How often a row is shown, each time with another mask; "auto" is up to 8 in small tables.
    max_samples : int or None, default 20_000
        Most rows that a column is learned from.
    masking : str, default "logit"
        Masking function ``M_j`` of the rows whose mask is not copied.
    copy_share : float, default 1.0
        Share of rows whose mask is copied from a row in which the column is missing.
    gaussian : bool, default True
        Whether the Gaussian's estimates are inputs; not beyond 1,000 numbers and categories.
    n_jobs : int, optional
        Threads that grow trees; -1 for all cores. By default as many as numerical libraries may
        use in this process. The result does not depend on it.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of masks and trees.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.repeat(np.arange(10.0), 8)
    >>> table = np.column_stack([x, x**2])
    >>> table[12, 1] = np.nan
    >>> MaskedTreesImputer(n_trees=20, random_state=0).fit_transform(table)[12, 1].round()
    np.float64(1.0)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseImputer._parameter_constraints,
        **TREE_CONSTRAINTS,
        "gaussian": [BOOLEAN],
    }

    def __init__(
        self,
        *,
        n_trees: int | str = "auto",
        min_leaf: int | str = "auto",
        max_features: float | str = "auto",
        n_copies: int | str = "auto",
        max_samples: int | None = 20_000,
        masking: str = "logit",
        copy_share: float = 1.0,
        gaussian: bool = True,
        n_jobs: int | None = None,
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.min_leaf = min_leaf
        self.max_features = max_features
        self.n_copies = n_copies
        self.max_samples = max_samples
        self.masking = masking
        self.copy_share = copy_share
        self.gaussian = gaussian
        self.n_jobs = n_jobs
        self.schema = schema
        self.random_state = random_state

    def _encoder_options(self) -> dict[str, Any]:
        return {"numeric": "rank"}

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        run.check()
        masks = Masks(
            n_copies=self.n_copies,
            most_rows=self.max_samples,
            function=self.masking,
            copy_share=self.copy_share,
        )
        given = self.n_trees
        growth = Growth(
            n_trees=enough_trees(encoded.observed) if isinstance(given, str) else given,
            min_leaf=self.min_leaf,
            max_features=self.max_features,
            n_jobs=allowed_threads(self.n_jobs),
        )
        blending = Blending(
            encoded, self.encoder_.scalers_, masks, run, allowed_threads(self.n_jobs)
        )
        if self.gaussian and is_too_wide(encoded.columns):
            warnings.warn(
                "The table has too many columns and categories for a Gaussian; the trees learn "
                "without its estimates.",
                ImputationWarning,
                stacklevel=3,
            )
        elif self.gaussian:
            blending.fit_gaussians(on_own_scale=False)
        self._blend = blending.add_forests(growth).blend

    @property
    def forests_(self) -> MaskedForests:
        """The forests of all columns."""
        forests = self._blend.forests
        if forests is None:
            raise AttributeError("forests_")
        return forests

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        return self._blend.impute(encoded)

    def _draw_encoded(
        self, encoded: EncodedTable, n: int, rng: np.random.Generator
    ) -> Iterator[np.ndarray]:
        return self._blend.draw(encoded, n, rng)

    def _fitted_parts(self) -> FittedParts:
        blend = getattr(self, "_blend", None)
        if blend is None:  # no column could be learned
            return FittedParts({"has_gaussian": False}, {})
        forests = self.forests_
        groups = {"forests": forests.arrays(), "errors": errors_arrays(blend.errors)}
        if forests.gaussian is not None:
            groups["gaussian"] = forests.gaussian.arrays()
        return FittedParts({"has_gaussian": forests.gaussian is not None}, groups)

    def _restore_parts(self, parts: FittedParts) -> None:
        numbers = OwnNumbers(self.encoder_.scalers_)
        columns, gaussian = self.encoder_.columns_, None
        if parts.state["has_gaussian"]:
            gaussian = TableGaussian.from_arrays(
                parts.groups.get("gaussian", {}), columns, numbers, on_own_scale=False
            )
        if "forests" in parts.groups:
            self._blend = Blend(
                columns,
                numbers,
                forests=MaskedForests.from_arrays(parts.groups["forests"], columns, gaussian),
                shares=np.ones((len(columns), 1)),
                errors=errors_of_columns(parts.groups.get("errors", {}), columns),
                n_threads=allowed_threads(self.n_jobs),
            )
