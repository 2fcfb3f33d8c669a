"""Errors and warnings of the library: each carries one sentence written for its user."""

from pathlib import Path


class PMAEError(Exception):
    """Base of every error that the library raises on purpose.

    Parameters
    ----------
    problem : str
        What happened, in a sentence for the user.
    code : str, optional
        What a page can offer help for, e.g. ``"delimiter"``; messages are never parsed.
    advice : str, optional
        What to do, for people who write code. A page may give its own advice instead.
    """

    def __init__(self, problem: str = "", *, code: str | None = None, advice: str = "") -> None:
        super().__init__(f"{problem} {advice}".strip())
        self.problem = problem
        self.code = code
        self.advice = advice


class TableError(PMAEError, ValueError):
    """A table cannot be read, written or used."""


class EmptyTableError(TableError):
    """The table has no rows or no columns."""


class TableTooLargeError(TableError):
    """The table exceeds a limit that protects memory and disk."""


class UnreadableFileError(TableError):
    """The file's content is not what its name or format promises."""


class SchemaError(PMAEError, ValueError):
    """Column names or roles do not fit the table."""


class AmputationError(PMAEError, ValueError):
    """Missing values of the wanted kind cannot be simulated in this table."""


class ImputationError(PMAEError, ValueError):
    """A table cannot be imputed as asked."""


class ScoringError(PMAEError, ValueError):
    """Truth, imputation and missing cells do not fit together."""


class ExpressionError(PMAEError, ValueError):
    """A formula or an expression cannot be read, or not computed from the columns at hand.

    Parameters
    ----------
    problem : str
        What happened, in a sentence for the user.
    position : int, optional
        Where in the text, counted from 0.
    code, advice : str, optional
        As for every error; the advice says what is allowed instead.
    """

    def __init__(
        self,
        problem: str = "",
        *,
        position: int | None = None,
        code: str | None = None,
        advice: str = "",
    ) -> None:
        super().__init__(problem, code=code, advice=advice)
        self.position = position


class AnalysisError(PMAEError, ValueError):
    """A model cannot be fitted to the imputations as asked."""


class MissingPackageError(PMAEError, ImportError):
    """A package that only part of the library needs is not installed."""


class DatasetUnavailableError(PMAEError):
    """A named dataset is neither on disk nor to be downloaded."""


class StorageError(PMAEError):
    """A table cannot be stored exactly, or cannot be read from disk again."""


class DamagedFileError(StorageError, ValueError):
    """A file does not hold what was written into it.

    Parameters
    ----------
    problem : str
        What happened, in a sentence for the user.
    path : Path, optional
        The file of a result, which a page can offer to make again.
    code, advice : str, optional
        As for every error.
    """

    def __init__(
        self,
        problem: str = "",
        *,
        path: Path | None = None,
        code: str | None = None,
        advice: str = "",
    ) -> None:
        super().__init__(problem, code=code, advice=advice)
        self.path = path


class JobError(PMAEError):
    """A job cannot be submitted, found, changed or finished as asked."""


class Cancelled(PMAEError):
    """The user asked long work to stop."""


class TableWarning(UserWarning):
    """Something about a table was changed or assumed while reading it."""


class ImputationWarning(UserWarning):
    """Part of a table was left as it is, or imputed with less than full information."""


class DamageWarning(UserWarning):
    """A file of earlier work is damaged, and the work went on without it."""


class LeakageWarning(UserWarning):
    """A feature predicts the target so well that it may contain the answer."""
