"""Auto: for each column the method that imputes its held-out cells best."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pmae_core.errors import Cancelled, ImputationError, ImputationWarning, PMAEError
from pmae_core.events import Callback
from pmae_core.imputers._choice import (
    FEWEST_CELLS_OF_TABLE,
    choices_frame,
    choose,
    overall_errors,
)
from pmae_core.imputers._columnwise import ColumnwiseImputation
from pmae_core.imputers._comparison import HeldOutComparison, hold_out, without_held_out
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.parameters import Constraints, InstanceOf, Integer, Number, SomeOf
from pmae_core.imputers.registry import make_imputer, register_imputer
from pmae_core.imputers.run import ProgressMeter
from pmae_core.imputers.work import WorkParts
from pmae_core.masking import HeldOut
from pmae_core.table import Schema, TableEncoder
from pmae_core.words import count, listed

DEFAULT_METHODS = ("pmae", "masked-trees", "em", "mice", "missforest", "knn", "naive")
NAME = "auto"


@register_imputer(
    name=NAME,
    title="Best method per column",
    explanation=(
        "Holds out some observed cells, imputes them with several methods, and uses for each "
        "column the method that came closest."
    ),
    citation=(
        "Own; choosing by held-out cells follows van der Laan, Polley and Hubbard: Super Learner. "
        "Statistical Applications in Genetics and Molecular Biology, 2007."
    ),
    draws_samples=True,
    limits="Takes as long as all its methods together, n_repeats + 1 times.",
)
class AutoImputer(BaseImputer):
    """Impute each column with the method that does best on its held-out cells.

    Observed cells are held out the way cells of other rows are missing, each method imputes them,
    and this is repeated. The method to beat is the first, or another that is ahead of it over all
    columns by more than the noise. A different method gets a column only if it is ahead there by
    more than the noise as well, so that a few lucky cells change nothing. The methods chosen are
    then fitted to all observed cells, and each imputes its columns.

    Parameters
    ----------
    methods : sequence of str
        Names of the methods to choose from, the one to beat first. Where too few cells can be
        held out to compare (fewer than 30), it imputes everything.
    method_params : mapping of method to mapping, optional
        Parameters of methods.
    n_repeats : int, default 3
        How often cells are held out and every method is fitted.
    holdout_share : float, default 0.2
        Share of rows that lend cells each time.
    noise : float, default 2.0
        By how many standard errors of the paired difference a method must be ahead of the
        one to beat; 0 always takes the lowest error.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of everything random.

    Attributes
    ----------
    choices_ : DataFrame
        For each column: the ``method`` chosen, its ``error``, that of the column's mean or
        most frequent value (``mean_error``), the ``margin`` to the best other method (negative
        where another was better, but within noise), ``ties``, the rows held out (``n_rows``),
        the ``reason`` in a sentence, and ``error_<method>`` of every method. Errors are mean
        squared errors in units of the column's variance, or shares of wrong categories.
    overall_errors_ : dict
        Mean error of each method over the columns with missing cells, the best first.
    left_out_ : dict
        For each method that failed and was left out, why.
    imputers_ : dict
        The fitted imputers of the methods chosen.

    Notes
    -----
    New rows can be imputed where the methods chosen can impute them. For ``sample``, a method that
    draws samples gives its own; to the one imputation of any other method, errors that it made on
    held-out cells are added. Columns of different methods are drawn independently.

    Examples
    --------
    >>> x = np.linspace(0, 1, 90)
    >>> table = pd.DataFrame({"x": x, "y": 2 * x})
    >>> table.loc[::4, "y"] = np.nan
    >>> imputer = AutoImputer(methods=["naive", "em"], random_state=0).fit(table)
    >>> imputer.choices_.loc[1, "method"]
    'em'
    """

    choices_: pd.DataFrame
    overall_errors_: dict[str, float]
    left_out_: dict[str, str]
    imputers_: dict[str, BaseImputer]

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseImputer._parameter_constraints,
        "methods": [SomeOf()],
        "method_params": [InstanceOf(Mapping, words="a mapping of methods to parameters"), None],
        "n_repeats": [Integer(least=1)],
        "holdout_share": [Number(above=0, most=1)],
        "noise": [Number(least=0)],
    }

    def __init__(
        self,
        *,
        methods: Sequence[str] = DEFAULT_METHODS,
        method_params: Mapping[str, Mapping[str, Any]] | None = None,
        n_repeats: int = 3,
        holdout_share: float = 0.2,
        noise: float = 2.0,
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.methods = methods
        self.method_params = method_params
        self.n_repeats = n_repeats
        self.holdout_share = holdout_share
        self.noise = noise
        self.schema = schema
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        callbacks: Sequence[Callback] = (),
        cancel: Callable[[], bool] | None = None,
        checkpoint_dir: str | Path | None = None,
    ) -> Self:
        """Compare the methods and fit those chosen; see :meth:`BaseImputer.fit`."""
        self._check_parameters()
        frame = self._read_input(X, reset=True)
        self.encoder_ = TableEncoder(
            schema=self._schema_of(frame, X), numeric="minmax", min_category_count=1
        ).fit(frame)
        self._warn_of_unlearned(frame)
        self._warn_of_broken_rules(frame)
        self.left_out_ = {}
        self.imputers_ = {}
        self._comparison = HeldOutComparison(self.encoder_.transform(frame))
        n_repeats = self.n_repeats if len(self.methods) > 1 and self.encoder_.columns_ else 0
        n_fits = (n_repeats + 1) * len(self.methods)
        progress = ProgressMeter(n_fits, "fit", callbacks, cancel or (lambda: False))
        progress.check()
        folder = Path(checkpoint_dir) if checkpoint_dir is not None else None
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=n_repeats + 1)
        for repeat, seed in enumerate(seeds[:-1]):
            self._compare(frame, int(seed), progress, folder and folder / f"repeat-{repeat}")
        if n_repeats and self._comparison.n_cells < FEWEST_CELLS_OF_TABLE:
            cells = count(self._comparison.n_cells, "cell")
            warnings.warn(
                f"auto compared nothing: only {cells} can be held out, which is too few. The first "
                "of its methods that works imputes the table.",
                ImputationWarning,
                stacklevel=2,
            )
        self._choose_and_fit(frame, int(seeds[-1]), progress, folder)
        return self

    def transform(self, X: Any) -> Any:
        """Return the table imputed; new rows where the methods chosen can impute them."""
        check_is_fitted(self, "encoder_")
        frame = self._read_input(X, reset=False)
        return self._like_input(self._columnwise().impute(frame), X)

    def sample(
        self, X: Any, n: int = 5, *, random_state: int | np.random.RandomState | None = None
    ) -> list[Any]:
        """Return ``n`` plausible imputations of the table; see :meth:`BaseImputer.sample`."""
        check_is_fitted(self, "encoder_")
        if n < 1:
            raise ImputationError(f"n must be at least 1, not {n}.")
        frame = self._read_input(X, reset=False)
        state = self.random_state if random_state is None else random_state
        seed = int(check_random_state(state).randint(2**31 - 1))
        return [self._like_input(draw, X) for draw in self._columnwise().sample(frame, n, seed)]

    def work_parts(self) -> WorkParts:
        """Return the methods to choose from; see :meth:`BaseImputer.work_parts`."""
        given = self.method_params or {}
        return WorkParts(
            methods=tuple((name, given.get(name, {})) for name in self.methods),
            n_comparisons=self.n_repeats if len(self.methods) > 1 else 0,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if NAME in self.methods:
            raise ImputationError("auto cannot be one of its own methods. Leave it out.")
        others = [name for name in self.method_params or {} if name not in self.methods]
        if others:
            raise ImputationError(
                f"method_params has parameters for {listed(others)}, but methods has only "
                f"{listed(self.methods, most=len(self.methods))}."
            )
        for name in self.methods:
            self._make(name, seed=0)  # a wrong name or parameter is an error, not a weak method

    def _make(self, name: str, seed: int, schema: Schema | None = None) -> BaseImputer:
        given = (self.method_params or {}).get(name, {})
        return make_imputer(name, **{"schema": schema, "random_state": seed, **given})

    def _compare(
        self, frame: pd.DataFrame, seed: int, progress: ProgressMeter, folder: Path | None
    ) -> None:
        """Hold out cells once and impute them with every method."""
        encoded = self._comparison.encoded
        held_out = hold_out(encoded, self.holdout_share, np.random.default_rng(seed))
        if held_out is None:
            return
        self._comparison.add_cells(
            held_out.rows, held_out.cells, held_out.remove_from(encoded.observed)
        )
        incomplete = without_held_out(frame, encoded, held_out)
        for name in self.methods:
            if name not in self.left_out_:
                imputed = self._try_to_impute(name, incomplete, held_out, seed, progress, folder)
                if imputed is not None:
                    self._comparison.add_imputed(name, imputed, held_out.cells)
            progress.advance()

    def _try_to_impute(
        self,
        name: str,
        incomplete: pd.DataFrame,
        held_out: HeldOut,
        seed: int,
        progress: ProgressMeter,
        folder: Path | None,
    ) -> np.ndarray | None:
        imputer = self._try_to_fit(name, incomplete, seed, progress, folder)
        if imputer is None:
            return None
        try:
            imputed = self.encoder_.transform(imputer.transform(incomplete).iloc[held_out.rows])
            if not imputed.observed[held_out.cells].all():
                raise ImputationError("It left cells missing.")
        except Exception as error:
            self._leave_out(name, error)
            return None
        return imputed.values

    def _try_to_fit(
        self,
        name: str,
        frame: pd.DataFrame,
        seed: int,
        progress: ProgressMeter,
        folder: Path | None,
    ) -> BaseImputer | None:
        imputer = self._make(name, seed, self.encoder_.schema_)
        try:
            with warnings.catch_warnings():
                # This warning was given for the whole table already.
                warnings.filterwarnings("ignore", message="Column .* keeps its missing cells")
                return imputer.fit(
                    frame, cancel=progress.cancel, checkpoint_dir=folder and folder / name
                )
        except Cancelled:
            raise
        except Exception as error:
            # Whatever is wrong with one method, the others go on; a warning names it.
            self._leave_out(name, error)
            return None

    def _leave_out(self, name: str, error: Exception) -> None:
        is_sentence = isinstance(error, PMAEError)
        reason = str(error) if is_sentence else f"{type(error).__name__}: {error}"
        self.left_out_[name] = reason
        warnings.warn(f"auto continues without {name}: {reason}", ImputationWarning, stacklevel=2)

    def _choose_and_fit(
        self, frame: pd.DataFrame, seed: int, progress: ProgressMeter, folder: Path | None
    ) -> None:
        """Choose, and fit the methods chosen; choose again if one fails now."""
        while methods := [name for name in self.methods if name not in self.left_out_]:
            choices = choose(self._comparison, methods, noise=self.noise)
            chosen = dict.fromkeys(choice.method for choice in choices)
            for name in chosen:
                if name not in self.imputers_:
                    imputer = self._try_to_fit(
                        name, frame, seed, progress, folder and folder / "final"
                    )
                    progress.advance()
                    if imputer is None:
                        break
                    self.imputers_[name] = imputer
            else:
                self.imputers_ = {name: self.imputers_[name] for name in chosen}
                self.choices_ = choices_frame(choices, self.methods)
                compared = len(methods) > 1 and self._comparison.n_cells >= FEWEST_CELLS_OF_TABLE
                self.overall_errors_ = overall_errors(self._comparison, methods) if compared else {}
                return
        reasons = " ".join(f"{name}: {reason}" for name, reason in self.left_out_.items())
        raise ImputationError(f"None of the methods can impute this table. {reasons}")

    def _columnwise(self) -> ColumnwiseImputation:
        chosen = zip(self.choices_["column"], self.choices_["method"], strict=True)
        return ColumnwiseImputation(dict(chosen), self.imputers_, self.encoder_, self._comparison)
