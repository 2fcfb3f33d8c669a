"""Limits that protect memory and disk while a table is read."""

from dataclasses import dataclass, fields

from pmae_core.errors import TableTooLargeError

# Unpacked, a workbook of this size is read in seconds whatever it holds.
_HARMLESS_BYTES = 10_000_000


@dataclass(frozen=True)
class ReadingLimits:
    """How large a table may be.

    Every limit is checked before the memory is spent, from the file's size, its metadata or a scan.

    Parameters
    ----------
    max_bytes : int
        Size of the file itself.
    max_rows, max_columns, max_cells : int
        Shape of the table; cells are rows times columns.
    max_expanded_bytes : int
        Size after unpacking, for formats that compress (Excel, Parquet, Feather).
    max_packing : int
        How many times smaller a workbook may be than its content, if that is large at all. What
        people write packs to a tenth or a twentieth; only bombs come near a thousandth.

    Examples
    --------
    >>> ReadingLimits(max_rows=10).max_rows
    10
    """

    max_bytes: int = 2_000_000_000
    max_rows: int = 5_000_000
    max_columns: int = 10_000
    max_cells: int = 200_000_000
    max_expanded_bytes: int = 4_000_000_000
    max_packing: int = 100

    def __post_init__(self) -> None:
        """Refuse limits that no table could meet."""
        for field in fields(self):
            if getattr(self, field.name) < 1:
                raise ValueError(f"{field.name} must be at least 1.")

    def most_rows(self, n_columns: int) -> int:
        """Return how many rows a table of so many columns may have."""
        return min(self.max_rows, self.max_cells // max(n_columns, 1))

    def check_file_size(self, n_bytes: int, name: str) -> None:
        """Raise if the file is too large."""
        if n_bytes > self.max_bytes:
            raise TableTooLargeError(
                f"{name} has {_bytes(n_bytes)}, more than the limit of {_bytes(self.max_bytes)}.",
                code="max_bytes",
                advice="Take a part of it, or raise the limit max_bytes.",
            )

    def check_expanded(self, n_bytes: int, name: str) -> None:
        """Raise if the unpacked content is too large."""
        if n_bytes > self.max_expanded_bytes:
            raise TableTooLargeError(
                f"{name} unpacks to at least {_bytes(n_bytes)}, more than the limit of "
                f"{_bytes(self.max_expanded_bytes)}.",
                code="max_expanded_bytes",
                advice="Take a part of it, or raise the limit max_expanded_bytes.",
            )

    def check_packing(self, n_bytes: int, n_packed_bytes: int, name: str) -> None:
        """Raise if a workbook is packed so tightly that it can only be a zip bomb."""
        if n_bytes > max(_HARMLESS_BYTES, self.max_packing * n_packed_bytes):
            raise TableTooLargeError(
                f"{name} unpacks to {_bytes(n_bytes)}, more than {self.max_packing:,} times its "
                "size.",
                code="max_packing",
                advice="Save the table as .csv, or raise the limit max_packing.",
            )

    def check_columns(self, n_columns: int, name: str, where: str = "") -> None:
        """Raise if there are too many columns; ``where`` tells the reader how that was found."""
        if n_columns > self.max_columns:
            raise TableTooLargeError(
                f"{name} has {n_columns:,} columns{where}, more than the limit of "
                f"{self.max_columns:,}.",
                code="max_columns",
                advice="Keep only the columns you need, or raise the limit max_columns.",
            )

    def check_shape(self, n_rows: int, n_columns: int, name: str) -> None:
        """Raise if there are too many rows, columns or cells."""
        self.check_columns(n_columns, name)
        if n_rows > self.max_rows:
            raise TableTooLargeError(
                f"{name} has at least {n_rows:,} rows, more than the limit of {self.max_rows:,}.",
                code="max_rows",
                advice="Take a sample of its rows, or raise the limit max_rows.",
            )
        if n_rows * n_columns > self.max_cells:
            raise TableTooLargeError(
                f"{name} has at least {n_rows * n_columns:,} cells ({n_rows:,} rows by "
                f"{n_columns:,} columns), more than the limit of {self.max_cells:,}.",
                code="max_cells",
                advice="Take fewer rows or columns, or raise the limit max_cells.",
            )


DEFAULT_LIMITS = ReadingLimits()


def _bytes(count: int) -> str:
    """Return a number of bytes as people read it."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count} bytes"
