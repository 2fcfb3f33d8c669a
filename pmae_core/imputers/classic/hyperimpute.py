"""HyperImpute: chained equations that choose a learner for each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.classic._chained_columns import ChainedColumns
from pmae_core.imputers.classic._common import check_two_columns
from pmae_core.imputers.classic._learners import (
    BOOSTING,
    LEARNERS,
    LearnerFactory,
    boosting_package,
)
from pmae_core.imputers.parameters import Constraints, Integer, Number, OneOf, SomeOf
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun
from pmae_core.imputers.transductive import encoded_digest
from pmae_core.imputers.work import WorkProfile
from pmae_core.table import EncodedTable, Schema


@register_imputer(
    name="hyperimpute",
    title="HyperImpute",
    explanation=(
        "Predicts each column from the others in rounds, and chooses for each column what predicts "
        "it best: a linear model, a random forest or gradient boosting."
    ),
    citation=(
        "Jarrett, Cebere, Liu, Curth and van der Schaar: HyperImpute: Generalized Iterative "
        "Imputation with Automatic Model Selection. ICML 2022."
    ),
    limits="Time grows with rows × columns × rounds; minutes from about 20,000 rows.",
)
class HyperImputeImputer(BaseImputer):
    """Impute a table by chained equations with a learner chosen for each column.

    Missing cells start as mean or mode. In each round every column with missing cells is predicted
    from all others, the most complete column first. In the first round two folds decide which
    learner a column gets; later rounds use the same. Rounds end when the imputed cells hardly
    change any more, or when their change has stopped shrinking.

    The fitted table is returned as the last round left it. Other rows are imputed by the learners
    of the last round, with as many rounds as the fit took. A complete column gets its learner when
    a new row first needs it.

    Parameters
    ----------
    learners : sequence of {"linear", "forest", "boosting"}, default all three
        What to choose from. ``linear`` is ridge or logistic regression. A column with fewer than
        20 observed cells gets the first without a comparison.
    boosting : {"sklearn", "xgboost", "catboost"}, default "sklearn"
        Whose gradient boosting; the latter two need their package.
    n_rounds : int, default 40
        Most rounds.
    patience : int, default 1
        Rounds in a row whose change is no smaller than the smallest so far, before the fit ends.
    tolerance : float, default 1e-3
        Root mean square change of the imputed cells (numbers in units of their column's range, a
        changed category counts 1) below which the fit ends.
    comparison_rows : int, default 5000
        Most rows on which learners are compared.
    n_trees : int, default 40
        Trees of a forest.
    n_boosting_rounds : int, default 50
        Boosting rounds.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of everything random.

    Attributes
    ----------
    choices_ : DataFrame
        For each column with missing cells its ``learner`` and the error of each learner: mean
        squared error in units of the column's variance, or share of wrong categories.
    n_rounds_ : int
        Rounds run.

    Notes
    -----
    Departures from the original, for speed on few cores: gradient boosting is scikit-learn's by
    default, forests have 40 trees (of at least 3 cells per leaf) instead of 100, boosting has 50
    rounds, and the choice of the first round is kept. Categories are compared by accuracy.

    Examples
    --------
    >>> x = np.linspace(0, 1, 60)
    >>> table = pd.DataFrame({"x": x, "y": 2 * x})
    >>> table.loc[::7, "y"] = np.nan
    >>> imputer = HyperImputeImputer(random_state=0).fit(table)
    >>> imputer.choices_[["column", "learner"]].values.tolist()
    [['y', 'linear']]
    """

    choices_: pd.DataFrame
    n_rounds_: int

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseImputer._parameter_constraints,
        "learners": [SomeOf(*LEARNERS)],
        "boosting": [OneOf(*BOOSTING)],
        "n_rounds": [Integer(least=1)],
        "patience": [Integer(least=1)],
        "tolerance": [Number(least=0)],
        "comparison_rows": [Integer(least=1)],
        "n_trees": [Integer(least=1)],
        "n_boosting_rounds": [Integer(least=1)],
    }

    def __init__(
        self,
        *,
        learners: Sequence[str] = LEARNERS,
        boosting: str = "sklearn",
        n_rounds: int = 40,
        patience: int = 1,
        tolerance: float = 1e-3,
        comparison_rows: int = 5000,
        n_trees: int = 40,
        n_boosting_rounds: int = 50,
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.learners = learners
        self.boosting = boosting
        self.n_rounds = n_rounds
        self.patience = patience
        self.tolerance = tolerance
        self.comparison_rows = comparison_rows
        self.n_trees = n_trees
        self.n_boosting_rounds = n_boosting_rounds
        self.schema = schema
        self.random_state = random_state

    def work_profile(self, n_rows: int) -> WorkProfile:
        """Say that rounds usually end early; see :meth:`BaseImputer.work_profile`."""
        return WorkProfile(usual_share=0.15)

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        check_two_columns(encoded, "HyperImpute")
        self._fitted_table = encoded_digest(encoded)
        progress = run.progress(self.n_rounds, "round")
        factory = LearnerFactory(
            learners=tuple(self.learners),
            boosting=self.boosting,
            n_trees=self.n_trees,
            n_boosting_rounds=self.n_boosting_rounds,
            seed=run.seed,
        )
        self._chain = ChainedColumns(encoded, factory, self.comparison_rows)
        self.n_rounds_ = self._chain.run(progress, patience=self.patience, tolerance=self.tolerance)
        self.choices_ = self._chain.choices()

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        if encoded_digest(encoded) == self._fitted_table:
            # The same learners started again come close to this, but measurably worse.
            return self._chain.values
        return self._chain.impute(encoded, self.n_rounds_)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.boosting != "sklearn" and "boosting" in self.learners:
            boosting_package(self.boosting)
