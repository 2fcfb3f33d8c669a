"""What every imputer shares: its input is read and encoded, its output is of the same kind."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pmae_core.errors import ImputationError, ImputationWarning
from pmae_core.imputers.parameters import Constraints, InstanceOf, Integer, check_parameters
from pmae_core.imputers.run import FitRun, ProgressMeter
from pmae_core.imputers.work import WorkParts, WorkProfile
from pmae_core.progress import watched
from pmae_core.table import EncodedTable, Schema, TableEncoder

if TYPE_CHECKING:
    from pmae_core.events import Callback


class BaseImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Base of all imputers.

    A method implements :meth:`_fit_encoded` and :meth:`_impute_encoded` on encoded tables; a
    method that can draw implements :meth:`_draw_encoded` too. Everything that users rely on is
    here: observed cells, index, columns and dtypes are returned exactly as they came in, and the
    rules of the schema (limits, whole numbers, derived columns) hold in every imputation.

    A class declares in ``_parameter_constraints`` what its parameters may be; ``fit`` refuses
    anything else.

    Attributes
    ----------
    encoder_ : TableEncoder
        The fitted encoder; its ``not_learned_`` says which columns are not learned, and why.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    schema: Schema | Mapping[Any, str] | None
    random_state: int | np.random.RandomState | None

    _parameter_constraints: ClassVar[Constraints] = {
        "schema": [
            InstanceOf(Schema, words="a Schema"),
            InstanceOf(Mapping, words="a mapping of columns to roles"),
            None,
        ],
        "random_state": [
            Integer(least=0, most=2**32 - 1),
            InstanceOf(np.random.RandomState, words="a RandomState"),
            None,
        ],
    }

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        callbacks: Sequence[Callback] = (),
        cancel: Callable[[], bool] | None = None,
        checkpoint_dir: str | Path | None = None,
        progress: bool = False,
    ) -> Self:
        """Learn from the observed cells of a table.

        Parameters
        ----------
        X : DataFrame or numeric array of shape (rows, columns)
            The table with its missing cells (``NaN``, ``None``, ``NA``, ``NaT``).
        y : ignored
            For scikit-learn pipelines.
        callbacks : sequence of callables
            Each gets every progress event.
        cancel : callable, optional
            Asked between steps; ``True`` ends the fit with :class:`~pmae_core.errors.Cancelled`.
        checkpoint_dir : path, optional
            Where methods that train keep a checkpoint and resume from one.
        progress : bool, default False
            Whether to show a bar with the time that is left, in a terminal or a notebook. The
            first interrupt then ends the fit as `cancel` does, the second at once.
        """
        self._check_parameters()
        frame = self._read_input(X, reset=True)
        self._settle(frame)
        self.encoder_ = TableEncoder(
            schema=self._schema_of(frame, X), **self._encoder_options()
        ).fit(frame)
        self._warn_of_unlearned(frame)
        self._warn_of_broken_rules(frame)
        encoded = self.encoder_.transform(frame)
        if encoded.columns:
            with watched("Fitting", progress=progress, callbacks=callbacks, cancel=cancel) as work:
                run = FitRun(
                    seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
                    callbacks=work.callbacks,
                    cancel=work.cancel,
                    checkpoint_dir=Path(checkpoint_dir) if checkpoint_dir is not None else None,
                )
                self._fit_encoded(encoded, run)
        return self

    def transform(self, X: Any) -> Any:
        """Return the table imputed; it may have rows that ``fit`` did not learn from."""
        check_is_fitted(self, "encoder_")
        frame = self._read_input(X, reset=False)
        self._warn_of_unknown_levels(frame)
        return self._like_input(self.encoder_.decode(self._imputed_values(frame), frame), X)

    def _imputed_values(self, frame: pd.DataFrame) -> np.ndarray:
        """Return a table as numbers, imputed; its encoding is released on return."""
        encoded = self.encoder_.transform(frame)
        if not encoded.columns or encoded.observed.all():
            return encoded.values
        return self._impute_encoded(encoded)

    def sample(
        self,
        X: Any,
        n: int = 5,
        *,
        random_state: int | np.random.RandomState | None = None,
        callbacks: Sequence[Callback] = (),
        cancel: Callable[[], bool] | None = None,
        progress: bool = False,
    ) -> list[Any]:
        """Return ``n`` plausible imputations of the table.

        Their spread shows all of the uncertainty only where the method is proper (see
        :class:`~pmae_core.imputers.ImputerInfo`). Imputations from one fitted model leave out the
        uncertainty of that model.

        Parameters
        ----------
        X : DataFrame or array
            The table with its missing cells.
        n : int
            How many imputations.
        random_state : int, RandomState or None
            Seed of the imputations; the imputer's own where ``None``.
        callbacks : sequence of callables
            Each gets an event after every imputation.
        cancel : callable, optional
            Asked between imputations; ``True`` ends with :class:`~pmae_core.errors.Cancelled`.
        progress : bool, default False
            Whether to show a bar, as in :meth:`fit`.
        """
        check_is_fitted(self, "encoder_")
        if n < 1:
            raise ImputationError(f"n must be at least 1, not {n}.")
        frame = self._read_input(X, reset=False)
        self._warn_of_unknown_levels(frame)
        encoded = self.encoder_.transform(frame)
        state = self.random_state if random_state is None else random_state
        rng = np.random.default_rng(int(check_random_state(state).randint(2**31 - 1)))
        imputations = []
        with watched("Imputing", progress=progress, callbacks=callbacks, cancel=cancel) as work:
            draws: Iterable[np.ndarray] = (
                self._draw_encoded(encoded, n, rng) if encoded.columns else [encoded.values] * n
            )
            meter = ProgressMeter(n, "imputation", work.callbacks, work.cancel)
            meter.check()
            for draw in draws:
                imputed = self.encoder_.decode(draw, frame, random=True)
                imputations.append(self._like_input(imputed, X))
                meter.advance()
        return imputations

    @classmethod
    def draws_samples(cls) -> bool:
        """Whether :meth:`sample` draws several imputations: the class says how."""
        has_draws = cls._draw_encoded is not BaseImputer._draw_encoded
        return has_draws or cls.sample is not BaseImputer.sample

    def _check_parameters(self) -> None:
        """Refuse parameters that do not describe a fit, before anything else is done."""
        check_parameters(self)

    def _settle(self, frame: pd.DataFrame) -> None:
        """Settle what depends on the table, before it is encoded."""

    def _encoder_options(self) -> dict[str, Any]:
        """Return the options of the encoder that the method needs."""
        return {"numeric": "minmax"}

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        """Learn from an encoded table with at least one column."""
        raise NotImplementedError

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        """Return values for every cell of an encoded table; only the missing ones are used."""
        raise NotImplementedError

    def _draw_encoded(
        self, encoded: EncodedTable, n: int, rng: np.random.Generator
    ) -> Iterable[np.ndarray]:
        """Return ``n`` random imputations, each like the result of :meth:`_impute_encoded`."""
        raise ImputationError(
            f"{type(self).__name__} produces only one imputation. Call transform for it."
        )

    def _read_input(self, X: Any, *, reset: bool) -> pd.DataFrame:
        """Return the input as a frame, after scikit-learn's own checks of names and shape."""
        if isinstance(X, pd.DataFrame):
            if X.empty:
                raise ImputationError(
                    f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) while "
                    "a minimum of 1 is required: the table is empty."
                )
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        array = validate_data(self, X, reset=reset, ensure_all_finite="allow-nan")
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(array.shape[1])])
        return pd.DataFrame(array, columns=names, copy=False)

    def _schema_of(self, frame: pd.DataFrame, X: Any) -> Schema:
        if isinstance(self.schema, Schema):
            return self.schema
        roles = dict(self.schema or {})
        if not isinstance(X, pd.DataFrame):
            # A plain array has no names or types that distinguish an identifier from a number.
            roles = {name: "numerical" for name in frame.columns} | roles
        return Schema.infer(frame, roles=roles)

    def _warn_of_unlearned(self, frame: pd.DataFrame) -> None:
        """Warn of columns that keep their missing cells, and say why."""
        for name, reason in self.encoder_.not_imputed_.items():
            if frame[name].isna().any():
                warnings.warn(
                    f"Column {name!r} keeps its missing cells: {reason.clause}.",
                    ImputationWarning,
                    stacklevel=3,
                )

    def _warn_of_broken_rules(self, frame: pd.DataFrame) -> None:
        """Warn of observed cells that break the rules of their column."""
        for sentence in self.encoder_.schema_.rule_findings(frame):
            warnings.warn(sentence, ImputationWarning, stacklevel=3)

    def _warn_of_unknown_levels(self, frame: pd.DataFrame) -> None:
        """Warn of ordinal cells that have no place in the order that was learned."""
        schema = self.encoder_.schema_.only(frame.columns)
        for sentence in schema.level_findings(frame):
            warnings.warn(sentence, ImputationWarning, stacklevel=3)

    def _like_input(self, imputed: pd.DataFrame, X: Any) -> Any:
        if isinstance(X, pd.DataFrame):
            return imputed
        return imputed.to_numpy()

    # ---------------------------------------------------------------- cost of a run

    def work_profile(self, n_rows: int) -> WorkProfile:
        """Say how short runs of this method relate to a run on a table of so many rows.

        The default suits most methods; see :class:`~pmae_core.imputers.work.WorkProfile`.
        """
        return WorkProfile()

    def work_parts(self) -> WorkParts:
        """Return the methods that this one fits, each once; none if it does its work itself."""
        return ()

    # --------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
