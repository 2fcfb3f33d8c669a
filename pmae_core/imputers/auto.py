"""Auto: for each column the method that fills held-out cells of it best."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pmae_core.amputation import ampute_like
from pmae_core.errors import Cancelled, ImputationError, ImputationWarning, PMAEError
from pmae_core.events import Callback
from pmae_core.imputers._contest import (
    FEWEST_CELLS_OF_TABLE,
    Choice,
    Contest,
    choose,
    overall_errors,
)
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.registry import list_imputers, make_imputer, register_imputer
from pmae_core.imputers.run import ProgressMeter
from pmae_core.imputers.work import WorkParts
from pmae_core.masking import HeldOut, hold_out_cells
from pmae_core.table import EncodedTable, Schema, TableEncoder

DEFAULT_METHODS = ("pmae-mix", "em", "mice", "missforest", "knn", "naive")
NAME = "auto"


@register_imputer(
    name=NAME,
    title="Best method per column",
    explanation=(
        "Hides some known cells, lets several methods fill them, and takes for each column the "
        "method that came closest."
    ),
    citation=(
        "Own; choosing by held-out cells follows van der Laan, Polley and Hubbard: Super Learner. "
        "Statistical Applications in Genetics and Molecular Biology, 2007."
    ),
    draws_samples=True,
    limits="Takes as long as all its methods together, n_repeats + 1 times.",
)
class AutoImputer(BaseImputer):
    """Fill each column with the method that does best on held-out cells of it.

    Observed cells are hidden the way cells of other rows are missing, each method fills them, and
    this is repeated. The first method is the one to beat, or another that is ahead of it over all
    columns by more than the noise; a column goes to yet another only if that one is ahead there by
    more than the noise, too. So a few lucky cells change nothing. The methods chosen are then
    fitted to all observed cells, and each gives its columns.

    Parameters
    ----------
    methods : sequence of str
        Names of the methods to choose from, the one to beat first. Where too few cells can be
        held out to compare (fewer than 30), it fills everything.
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
        where another looked better, but within noise), ``ties``, the rows held out (``n_rows``),
        the ``reason`` in a sentence, and ``error_<method>`` of every method. Errors are mean
        squared errors in units of the column's variance, or shares of wrong categories.
    overall_errors_ : dict
        Mean error of each method over the columns with holes, the best first.
    left_out_ : dict
        For each method that failed, why. It takes no part.
    imputers_ : dict
        The fitted imputers of the methods chosen.

    Notes
    -----
    New rows can be filled where the methods chosen can. A draw takes the column of a method
    that draws samples from one of its draws. A method with one answer gets errors that it
    made on held-out cells added to it. Columns of different methods are drawn independently.

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
        self._check_settings()
        frame = self._read_input(X, reset=True)
        self.encoder_ = TableEncoder(
            schema=self._schema_of(frame, X), numeric="minmax", min_category_count=1
        ).fit(frame)
        self._warn_of_unfilled(frame)
        self.left_out_ = {}
        self.imputers_ = {}
        self._contest = Contest(self.encoder_.transform(frame))
        n_repeats = self.n_repeats if len(self.methods) > 1 and self.encoder_.columns_ else 0
        n_fits = (n_repeats + 1) * len(self.methods)
        progress = ProgressMeter(n_fits, "fit", callbacks, cancel or (lambda: False))
        progress.check()
        folder = Path(checkpoint_dir) if checkpoint_dir is not None else None
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=n_repeats + 1)
        for repeat, seed in enumerate(seeds[:-1]):
            self._compare(frame, int(seed), progress, folder and folder / f"repeat-{repeat}")
        if n_repeats and self._contest.n_cells < FEWEST_CELLS_OF_TABLE:
            warnings.warn(
                f"auto compared nothing: only {self._contest.n_cells} cells can be held out, which "
                "is too few. The first of its methods that works fills the table.",
                ImputationWarning,
                stacklevel=2,
            )
        self._choose_and_fit(frame, int(seeds[-1]), progress, folder)
        return self

    def transform(self, X: Any) -> Any:
        """Return the table with its holes filled; new rows where the methods chosen can."""
        check_is_fitted(self, "encoder_")
        frame = self._read_input(X, reset=False)
        encoded = self.encoder_.transform(frame)
        filled = self.encoder_.decode(encoded.values, frame)
        for method, names in self._methods_for(frame).items():
            columns = self._fill(method, names, frame)
            for name in names:
                filled[name] = columns[name]
        return self._like_input(filled, X)

    def sample(
        self, X: Any, n: int = 5, *, random_state: int | np.random.RandomState | None = None
    ) -> list[Any]:
        """Return ``n`` plausible fillings of the table; see :meth:`BaseImputer.sample`."""
        check_is_fitted(self, "encoder_")
        if n < 1:
            raise ImputationError(f"n must be at least 1 draw, got {n}.")
        frame = self._read_input(X, reset=False)
        encoded = self.encoder_.transform(frame)
        state = self.random_state if random_state is None else random_state
        seed = int(check_random_state(state).randint(2**31 - 1))
        rng = np.random.default_rng(seed)
        draws = [self.encoder_.decode(encoded.values, frame) for _ in range(n)]
        for method, names in self._methods_for(frame).items():
            drawn: Iterable[pd.DataFrame]
            if _draws_samples(method):
                drawn = self._sample(method, names, frame, n, seed)
            else:
                drawn = self._add_errors(method, names, frame, n, rng)
            for draw, columns in zip(draws, drawn, strict=True):
                for name in names:
                    draw[name] = columns[name]
        return [self._like_input(draw, X) for draw in draws]

    def work_parts(self) -> WorkParts:
        """Return the methods to choose from; see :meth:`BaseImputer.work_parts`."""
        given = self.method_params or {}
        return WorkParts(
            methods=tuple((name, given.get(name, {})) for name in self.methods),
            n_comparisons=self.n_repeats if len(self.methods) > 1 else 0,
        )

    def _check_settings(self) -> None:
        if isinstance(self.methods, str) or not len(self.methods):
            raise ImputationError("methods must be a list of at least one method's name.")
        if NAME in self.methods:
            raise ImputationError("auto cannot be one of its own methods; leave it out.")
        if len(set(self.methods)) < len(self.methods):
            raise ImputationError("methods names a method twice.")
        if self.n_repeats < 1:
            raise ImputationError(f"n_repeats must be at least 1, not {self.n_repeats}.")
        if not 0 < self.holdout_share <= 1:
            raise ImputationError(
                f"holdout_share must lie above 0 and up to 1, not {self.holdout_share}."
            )
        stray = [name for name in self.method_params or {} if name not in self.methods]
        if stray:
            raise ImputationError(
                f"method_params are given for {', '.join(stray)}, not one of the methods "
                f"{', '.join(self.methods)}."
            )
        for name in self.methods:
            self._make(name, seed=0)  # a wrong name or parameter is an error, not a weak method

    def _make(self, name: str, seed: int, schema: Schema | None = None) -> BaseImputer:
        given = (self.method_params or {}).get(name, {})
        return make_imputer(name, **{"schema": schema, "random_state": seed, **given})

    def _compare(
        self, frame: pd.DataFrame, seed: int, progress: ProgressMeter, folder: Path | None
    ) -> None:
        """Hold out cells once and let every method fill them."""
        encoded = self._contest.encoded
        held_out = _hold_out(encoded, self.holdout_share, np.random.default_rng(seed))
        if held_out is None:
            return
        self._contest.add_cells(
            held_out.rows, held_out.cells, held_out.remove_from(encoded.observed)
        )
        incomplete = _hide(frame, encoded, held_out)
        for name in self.methods:
            if name not in self.left_out_:
                filled = self._try_to_fill(name, incomplete, held_out, seed, progress, folder)
                if filled is not None:
                    self._contest.add_filled(name, filled, held_out.cells)
            progress.advance()

    def _try_to_fill(
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
            filled = self.encoder_.transform(imputer.transform(incomplete).iloc[held_out.rows])
            if not filled.observed[held_out.cells].all():
                raise ImputationError("It left cells unfilled.")
        except Exception as error:
            self._leave_out(name, error)
            return None
        return filled.values

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
                # Said once already, for the whole table.
                warnings.filterwarnings("ignore", message="Column .* keeps its missing cells")
                return imputer.fit(
                    frame, cancel=progress.cancel, checkpoint_dir=folder and folder / name
                )
        except Cancelled:
            raise
        except Exception as error:
            # Whatever is wrong with one method, the others can go on; the user is told.
            self._leave_out(name, error)
            return None

    def _leave_out(self, name: str, error: Exception) -> None:
        is_sentence = isinstance(error, PMAEError)
        reason = str(error) if is_sentence else f"{type(error).__name__}: {error}"
        self.left_out_[name] = reason
        warnings.warn(f"auto goes on without {name}: {reason}", ImputationWarning, stacklevel=2)

    def _choose_and_fit(
        self, frame: pd.DataFrame, seed: int, progress: ProgressMeter, folder: Path | None
    ) -> None:
        """Choose, and fit the methods chosen; choose again if one fails now."""
        while methods := [name for name in self.methods if name not in self.left_out_]:
            choices = choose(self._contest, methods, noise=self.noise)
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
                self._describe(choices, methods)
                return
        reasons = " ".join(f"{name}: {reason}" for name, reason in self.left_out_.items())
        raise ImputationError(f"None of the methods can fill this table. {reasons}")

    def _describe(self, choices: Sequence[Choice], methods: Sequence[str]) -> None:
        rows = [
            {
                "column": choice.column.name,
                "method": choice.method,
                "error": choice.errors.get(choice.method, np.nan),
                "mean_error": choice.reference,
                "margin": choice.margin,
                "ties": ", ".join(choice.ties),
                "n_rows": choice.n_rows,
                "reason": choice.reason,
                **{f"error_{name}": choice.errors.get(name, np.nan) for name in self.methods},
            }
            for choice in choices
        ]
        names = ["column", "method", "error", "mean_error", "margin", "ties", "n_rows", "reason"]
        self.choices_ = pd.DataFrame(
            rows, columns=[*names, *(f"error_{name}" for name in self.methods)]
        )
        compared = len(methods) > 1 and self._contest.n_cells >= FEWEST_CELLS_OF_TABLE
        errors = overall_errors(self._contest, methods) if compared else {}
        self.overall_errors_ = dict(sorted(errors.items(), key=lambda item: item[1]))

    def _methods_for(self, frame: pd.DataFrame) -> dict[str, list[Any]]:
        """Return the methods that have columns of this table to fill, with these columns."""
        needed: dict[str, list[Any]] = {}
        for column, method in zip(self.choices_["column"], self.choices_["method"], strict=True):
            if frame[column].isna().any():
                needed.setdefault(method, []).append(column)
        return needed

    def _fill(self, method: str, names: Sequence[Any], frame: pd.DataFrame) -> pd.DataFrame:
        try:
            filled: pd.DataFrame = self.imputers_[method].transform(frame)
        except ImputationError as error:
            raise self._with_columns(method, names, error) from None
        return filled

    def _sample(
        self, method: str, names: Sequence[Any], frame: pd.DataFrame, n: int, seed: int
    ) -> list[pd.DataFrame]:
        try:
            return self.imputers_[method].sample(frame, n, random_state=seed)
        except ImputationError as error:
            raise self._with_columns(method, names, error) from None

    def _add_errors(
        self,
        method: str,
        names: Sequence[Any],
        frame: pd.DataFrame,
        n: int,
        rng: np.random.Generator,
    ) -> Iterator[pd.DataFrame]:
        """Yield the one answer of a method, with errors it made on held-out cells added."""
        filled = self.encoder_.transform(self._fill(method, names, frame)).values
        places = {column.name: j for j, column in enumerate(self.encoder_.columns_)}
        for number in range(n):
            values = filled.copy()
            for name in names:
                drawn = self._contest.draw(method, places[name], filled[:, places[name]], rng)
                if drawn is not None:
                    values[:, places[name]] = drawn
                elif number == 0:
                    warnings.warn(
                        f"Column {name!r} is the same in every draw: {method} has one answer, and "
                        "no cell was held out to learn its errors from.",
                        ImputationWarning,
                        stacklevel=2,
                    )
            yield self.encoder_.decode(values, frame)

    def _with_columns(
        self, method: str, names: Sequence[Any], error: ImputationError
    ) -> ImputationError:
        columns = ", ".join(map(str, names))
        return ImputationError(f"auto chose {method} for {columns}: {error}")


def _draws_samples(method: str) -> bool:
    return any(info.draws_samples for info in list_imputers() if info.name == method)


def _hold_out(encoded: EncodedTable, share: float, rng: np.random.Generator) -> HeldOut | None:
    """Hold out cells, but none of a column that would be left without two different values."""
    held_out = hold_out_cells(encoded.observed, share, rng, min_cells=1)
    if held_out is None:
        return None
    remaining = held_out.remove_from(encoded.observed)
    cells = held_out.cells.copy()
    for j in range(cells.shape[1]):
        seen = encoded.values[remaining[:, j], j]
        if not seen.size or seen.min() == seen.max():
            cells[:, j] = False
    kept = held_out.kept | (held_out.cells & ~cells)
    return HeldOut(rows=held_out.rows, kept=kept, cells=cells) if cells.any() else None


def _hide(frame: pd.DataFrame, encoded: EncodedTable, held_out: HeldOut) -> pd.DataFrame:
    """Return the table without its held-out cells."""
    hidden = np.zeros(encoded.observed.shape, dtype=bool)
    hidden[held_out.rows] = held_out.cells
    names = [column.name for column in encoded.columns]
    patterns = pd.DataFrame(hidden, columns=names)
    return ampute_like(frame, patterns, shuffle=False, drop_empty_rows=False).incomplete
