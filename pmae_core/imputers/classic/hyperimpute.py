"""HyperImpute: chained equations that choose a learner for each column."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pmae_core.errors import ImputationError
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.classic.naive import column_center
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun, ProgressMeter
from pmae_core.imputers.transductive import encoded_digest
from pmae_core.imputers.work import WorkProfile
from pmae_core.table import EncodedColumn, EncodedTable, Schema

LEARNERS = ("linear", "forest", "boosting")
BOOSTING = ("sklearn", "xgboost", "catboost")
FEWEST_CELLS_TO_COMPARE = 20
MOST_NATIVE_CATEGORIES = 255


@register_imputer(
    name="hyperimpute",
    title="HyperImpute",
    explanation=(
        "Predicts each column from the others in rounds, and picks for each column what predicts "
        "it best: a linear model, a random forest or gradient boosting."
    ),
    citation=(
        "Jarrett, Cebere, Liu, Curth and van der Schaar: HyperImpute: Generalized Iterative "
        "Imputation with Automatic Model Selection. ICML 2022."
    ),
    limits="Time grows with rows × columns × rounds; minutes from about 20,000 rows.",
)
class HyperImputeImputer(BaseImputer):
    """Fill a table by chained equations with a learner picked for each column.

    Holes start as mean or mode. In each round every column with holes is predicted from all
    others, the most complete column first. In the first round two folds decide which learner a
    column gets; later rounds reuse the pick. Rounds end when the filled cells hardly change any
    more, or when their change has stopped shrinking.

    The fitted table comes back as the last round left it. Other rows are filled by the learners
    of the last round, with as many rounds as the fit took. A column without holes gets its learner
    when a new row first needs it.

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
        Rounds in a row whose change is no smaller than the smallest so far, before it ends.
    tolerance : float, default 1e-3
        Root mean square change of the filled cells (numbers in units of their column's range, a
        changed category counts 1) below which it ends.
    contest_rows : int, default 5000
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
    picks_ : DataFrame
        For each column with holes the pick and the error of each learner: mean squared error in
        units of the column's variance, or share of wrong categories.
    n_rounds_ : int
        Rounds run.

    Notes
    -----
    Departures from the original, for speed on few cores: gradient boosting is scikit-learn's by
    default, forests have 40 trees (of at least 3 cells a leaf) instead of 100, boosting has 50
    rounds, and the pick of the first round is kept. Categories are compared by accuracy.

    Examples
    --------
    >>> x = np.linspace(0, 1, 60)
    >>> table = pd.DataFrame({"x": x, "y": 2 * x})
    >>> table.loc[::7, "y"] = np.nan
    >>> imputer = HyperImputeImputer(random_state=0).fit(table)
    >>> imputer.picks_[["column", "pick"]].values.tolist()
    [['y', 'linear']]
    """

    picks_: pd.DataFrame
    n_rounds_: int

    def __init__(
        self,
        *,
        learners: Sequence[str] = LEARNERS,
        boosting: str = "sklearn",
        n_rounds: int = 40,
        patience: int = 1,
        tolerance: float = 1e-3,
        contest_rows: int = 5000,
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
        self.contest_rows = contest_rows
        self.n_trees = n_trees
        self.n_boosting_rounds = n_boosting_rounds
        self.schema = schema
        self.random_state = random_state

    def work_profile(self, n_rows: int) -> WorkProfile:
        """Say that rounds usually end early; see :meth:`BaseImputer.work_profile`."""
        return WorkProfile(usual_share=0.15)

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        self._check_settings()
        if len(encoded.columns) < 2:
            raise ImputationError(
                "HyperImpute predicts each column from the others, but this table has only 1 "
                "column to learn from."
            )
        self._fitted_table = encoded_digest(encoded)
        progress = run.progress(self.n_rounds, "round")
        self._chain = _Chain(
            encoded,
            _Toolbox(
                learners=tuple(self.learners),
                boosting=self.boosting,
                n_trees=self.n_trees,
                n_boosting_rounds=self.n_boosting_rounds,
                contest_rows=self.contest_rows,
                seed=run.seed,
            ),
        )
        self.n_rounds_ = self._chain.run(progress, patience=self.patience, tolerance=self.tolerance)
        self.picks_ = self._chain.picks()

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        if encoded_digest(encoded) == self._fitted_table:
            # The same learners started anew would come close to this, but measurably worse.
            return self._chain.values
        return self._chain.fill(encoded, self.n_rounds_)

    def _check_settings(self) -> None:
        unknown = [name for name in self.learners if name not in LEARNERS]
        if unknown or not len(self.learners):
            raise ImputationError(
                f"learners must be some of {', '.join(LEARNERS)}, not {list(self.learners)!r}."
            )
        if self.boosting not in BOOSTING:
            raise ImputationError(
                f"boosting must be one of {', '.join(BOOSTING)}, not {self.boosting!r}."
            )
        for name in ("n_rounds", "patience", "n_trees", "n_boosting_rounds", "contest_rows"):
            if getattr(self, name) < 1:
                raise ImputationError(f"{name} must be at least 1, not {getattr(self, name)}.")
        if self.boosting != "sklearn" and "boosting" in self.learners:
            _boosting_package(self.boosting)


@dataclass(frozen=True)
class _Toolbox:
    """Makes the learners.

    Attributes
    ----------
    learners, boosting, n_trees, n_boosting_rounds, contest_rows
        As in :class:`HyperImputeImputer`.
    seed : int
        Seed of every learner; the same in each round, so that rounds can converge.
    """

    learners: tuple[str, ...]
    boosting: str
    n_trees: int
    n_boosting_rounds: int
    contest_rows: int
    seed: int

    def make(self, learner: str, *, classify: bool, categorical: np.ndarray) -> Any:
        """Return an untrained learner; ``categorical`` says which features are codes."""
        if learner == "linear":
            model = LogisticRegression(max_iter=200) if classify else Ridge()
            return make_pipeline(StandardScaler(), model)
        if learner == "forest":
            forest = RandomForestClassifier if classify else RandomForestRegressor
            return forest(self.n_trees, min_samples_leaf=3, random_state=self.seed)
        if self.boosting == "sklearn":
            boosted = HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor
            return boosted(
                max_iter=self.n_boosting_rounds,
                categorical_features=categorical,
                early_stopping=False,
                random_state=self.seed,
            )
        return self._make_foreign(classify)

    def reads_codes(self, learner: str) -> bool:
        """Say whether a learner reads categories as codes, and not as 0/1 columns."""
        return learner == "forest" or (learner == "boosting" and self.boosting == "sklearn")

    def _make_foreign(self, classify: bool) -> Any:
        package = _boosting_package(self.boosting)
        if self.boosting == "xgboost":
            boosted = package.XGBClassifier if classify else package.XGBRegressor
            return boosted(n_estimators=self.n_boosting_rounds, random_state=self.seed)
        boosted = package.CatBoostClassifier if classify else package.CatBoostRegressor
        return boosted(
            iterations=self.n_boosting_rounds,
            random_seed=self.seed,
            verbose=False,
            allow_writing_files=False,
        )


def _boosting_package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImputationError(
            f'boosting="{name}" needs the package {name}, which is not installed: '
            f'run "pip install {name}", or choose boosting="sklearn".'
        ) from None


@dataclass
class _Pick:
    """The learner of a column, with the errors of all that were compared."""

    learner: str
    errors: dict[str, float] = field(default_factory=dict)


class _Chain:
    """A table being filled column by column, and the learners that do it."""

    def __init__(self, encoded: EncodedTable, tools: _Toolbox) -> None:
        self.columns = encoded.columns
        self.observed = encoded.observed
        self.tools = tools
        centers = [column_center(encoded, j) for j in range(len(encoded.columns))]
        self.start = np.array(centers, dtype=np.float32)
        self.values = np.where(encoded.observed, encoded.values, self.start)
        holes = (~encoded.observed).sum(axis=0)
        self.order = [int(j) for j in np.argsort(holes, kind="stable") if holes[j]]
        self._picks: dict[int, _Pick] = {}
        self._models: dict[int, Any] = {}

    def run(self, progress: ProgressMeter, *, patience: int, tolerance: float) -> int:
        """Run rounds until the filled cells settle; return how many."""
        progress.check()
        smallest, rounds_since_smallest = np.inf, 0
        for round_ in range(progress.total):
            before = self.values.copy()
            for j in self.order:
                progress.check()
                self._train(j, progress.check)
                rows = ~self.observed[:, j]
                self.values[rows, j] = self._predict(j, self.values[rows])
            progress.advance()
            change = self._change(before)
            rounds_since_smallest = 0 if change < smallest else rounds_since_smallest + 1
            smallest = min(change, smallest)
            if change < tolerance or rounds_since_smallest >= patience:
                return round_ + 1
        return progress.total

    def fill(self, encoded: EncodedTable, n_rounds: int) -> np.ndarray:
        """Return the table with its holes predicted; each row by itself."""
        values = np.where(encoded.observed, encoded.values, self.start)
        holes = np.flatnonzero(~encoded.observed.all(axis=0)).tolist()
        complete = [j for j in holes if j not in self.order]
        for j in complete:
            if j not in self._models:
                self._train(j, lambda: None)
        columns = [j for j in (*complete, *self.order) if j in holes]
        for _ in range(n_rounds):
            for j in columns:
                rows = ~encoded.observed[:, j]
                values[rows, j] = self._predict(j, values[rows])
        return values

    def picks(self) -> pd.DataFrame:
        """Return what was picked for each column with holes, in the table's order."""
        rows = [
            {
                "column": self.columns[j].name,
                "pick": self._picks[j].learner,
                **{name: self._picks[j].errors.get(name, np.nan) for name in self.tools.learners},
            }
            for j in sorted(self._picks)
        ]
        return pd.DataFrame(rows, columns=["column", "pick", *self.tools.learners])

    def _train(self, j: int, check: Callable[[], None]) -> None:
        rows = np.flatnonzero(self.observed[:, j])
        if j not in self._picks:
            self._picks[j] = self._contest(j, rows, check)
        self._models[j] = self._fit(j, self._picks[j].learner, rows)

    def _contest(self, j: int, rows: np.ndarray, check: Callable[[], None]) -> _Pick:
        """Compare the learners on two folds of the observed rows of a column."""
        learners = self.tools.learners
        if len(learners) == 1 or len(rows) < FEWEST_CELLS_TO_COMPARE:
            return _Pick(learners[0])
        rng = np.random.default_rng([self.tools.seed, j])
        if len(rows) > self.tools.contest_rows:
            rows = rng.choice(rows, self.tools.contest_rows, replace=False)
        target = self.values[rows, j]
        errors = dict.fromkeys(learners, 0.0)
        for train, test in self._folds(j, target):
            for name in learners:
                check()
                model = self._fit(j, name, rows[train])
                predicted = self._predict_with(model, j, name, self.values[rows[test]])
                errors[name] += self._error(j, target[test], predicted, target) / 2
        return _Pick(min(errors, key=lambda name: errors[name]), errors)

    def _folds(self, j: int, target: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        splitter = StratifiedKFold if self._is_categorical(j) else KFold
        with warnings.catch_warnings():
            # A category seen once cannot be in both folds, and need not be.
            warnings.filterwarnings("ignore", message="The least populated class")
            folds = splitter(2, shuffle=True, random_state=self.tools.seed)
            return list(folds.split(target, target))

    def _error(self, j: int, truth: np.ndarray, predicted: np.ndarray, column: np.ndarray) -> float:
        if self._is_categorical(j):
            return float(np.mean(truth != predicted))
        return float(np.mean((truth - predicted) ** 2) / max(column.var(), 1e-12))

    def _fit(self, j: int, learner: str, rows: np.ndarray) -> Any:
        features = self._features(self.values[rows], j, learner)
        target = self.values[rows, j].astype(np.float64)
        classify = self._is_categorical(j)
        if classify:
            # Packages differ in which labels they accept; 0, 1, 2, ... suits all.
            classes, target = np.unique(target, return_inverse=True)
        model = self.tools.make(learner, classify=classify, categorical=self._code_features(j))
        if classify and len(classes) == 1:
            model = DummyClassifier()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(features, target)
        return (model, classes) if classify else (model, None)

    def _predict(self, j: int, values: np.ndarray) -> np.ndarray:
        return self._predict_with(self._models[j], j, self._picks[j].learner, values)

    def _predict_with(self, fitted: Any, j: int, learner: str, values: np.ndarray) -> np.ndarray:
        model, classes = fitted
        predicted = np.asarray(model.predict(self._features(values, j, learner))).ravel()
        if classes is not None:
            found: np.ndarray = classes[predicted.astype(np.intp)]
            return found
        # Encoded numbers lie in [0, 1]: the observed range of the column.
        return np.clip(predicted, 0.0, 1.0)

    def _features(self, values: np.ndarray, j: int, learner: str) -> np.ndarray:
        """Return all columns but ``j`` the way a learner wants them."""
        others = [k for k in range(len(self.columns)) if k != j]
        if self.tools.reads_codes(learner):
            return values[:, others]
        return np.concatenate([_indicators(values[:, k], self.columns[k]) for k in others], axis=1)

    def _code_features(self, j: int) -> np.ndarray:
        """Return which features (all columns but ``j``) are codes that boosting takes natively."""
        return np.array(
            [
                0 < column.n_categories <= MOST_NATIVE_CATEGORIES
                for k, column in enumerate(self.columns)
                if k != j
            ]
        )

    def _change(self, before: np.ndarray) -> float:
        """Return the root mean square change of the filled cells."""
        change = np.abs(self.values - before)
        for j in range(len(self.columns)):
            if self._is_categorical(j):
                change[:, j] = change[:, j] > 0
        changed = change[~self.observed]
        return float(np.sqrt(np.mean(changed**2))) if changed.size else 0.0

    def _is_categorical(self, j: int) -> bool:
        return self.columns[j].kind == "categorical"


def _indicators(values: np.ndarray, column: EncodedColumn) -> np.ndarray:
    """Return a column as features: itself, or one 0/1 column per category."""
    if column.kind == "numerical":
        return values[:, None]
    return np.equal(values[:, None], np.arange(column.n_categories)).astype(np.float32)
