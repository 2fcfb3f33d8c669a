"""JSON lines (one object per line) or a JSON array of objects to a data frame."""

import itertools
import json
from collections.abc import Iterator

import pandas as pd

from pmae_core.errors import EmptyTableError, UnreadableFileError
from pmae_core.names import make_unique
from pmae_core.table.io.charset import TextScan, scan_text
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.names import clean_names
from pmae_core.table.io.source import TableSource
from pmae_core.table.values import type_cells
from pmae_core.words import listed

Record = dict[str, object]


def read_jsonl(source: TableSource, *, encoding: str | None, limits: ReadingLimits) -> pd.DataFrame:
    """Read objects of plain values; a key that an object lacks is a missing cell."""
    scan = scan_text(source, encoding)
    records, keys = _gather(source, scan, limits)
    if not keys:
        raise EmptyTableError(f"{source.name} holds no JSON objects with keys: it has no columns.")
    try:
        return _frame(source, records, keys)
    except UnicodeEncodeError as error:
        raise UnreadableFileError(
            f"{source.name} has half of a character (such as \\ud800) in a name or a cell: "
            "the program that wrote it cut a text in the middle of a character."
        ) from error


def _frame(source: TableSource, records: list[Record], keys: list[str]) -> pd.DataFrame:
    columns, mixed = {}, []
    for name, key in zip(clean_names(keys, source.remark), keys, strict=True):
        columns[name], is_mixed = type_cells([record.get(key) for record in records])
        if is_mixed:
            mixed.append(name)
    remark_on_mixed(source, mixed)
    return pd.DataFrame(columns)


def remark_on_mixed(source: TableSource, mixed: list[str]) -> None:
    """Note which columns hold cells of different types and therefore became text."""
    if mixed:
        source.remark(
            f"{source.name} has columns with cells of different types, read as text: "
            f"{listed(map(repr, mixed), 10)}."
        )


def _gather(
    source: TableSource, scan: TextScan, limits: ReadingLimits
) -> tuple[list[Record], list[str]]:
    records: list[Record] = []
    keys: dict[str, None] = {}
    most_rows = limits.max_rows
    for place, record in _records(source, scan):
        if not {dict, list}.isdisjoint(map(type, record.values())):
            key = next(key for key, value in record.items() if isinstance(value, dict | list))
            raise UnreadableFileError(
                f"{place} of {source.name} has a nested value in column {key!r}.",
                advice="Each cell needs one plain value: text, number, true, false or null.",
            )
        records.append(record)
        if not record.keys() <= keys.keys():
            keys |= dict.fromkeys(record)
            limits.check_columns(len(keys), source.name)
            most_rows = limits.most_rows(len(keys))
        if len(records) > most_rows:
            limits.check_shape(len(records), len(keys), source.name)
    return records, list(keys)


def _records(source: TableSource, scan: TextScan) -> Iterator[tuple[str, Record]]:
    """Yield each object with words for its place in the file."""
    text = scan.open(source)
    decoder = _Decoder(source)
    try:
        lines = ((number, line) for number, line in enumerate(text, start=1) if line.strip())
        number, first = next(lines, (1, ""))
        if first.lstrip().startswith("["):
            array = decoder.decode(first + text.read(), "The JSON array")
            places = ((f"Record {index}", value) for index, value in enumerate(array, start=1))
        else:
            places = (
                (f"Line {number}", decoder.decode(line, f"Line {number}"))
                for number, line in itertools.chain([(number, first)], lines)
                if line
            )
        for place, record in places:
            if not isinstance(record, dict):
                raise UnreadableFileError(
                    f"{place} of {source.name} is not a JSON object such as "
                    '{"age": 41, "city": "Kyiv"}.'
                )
            yield place, record
    finally:
        text.detach()
    if decoder.found_repeated_keys:
        source.remark(
            f"{source.name} has JSON objects in which a key occurs more than once; "
            "the later ones were numbered, as in 'a.1'."
        )


class _Decoder:
    """Decode JSON, keep the values of repeated keys, and raise sentences."""

    def __init__(self, source: TableSource) -> None:
        self.source = source
        self.found_repeated_keys = False

    def decode(self, text: str, place: str) -> list[object] | Record:
        try:
            return json.loads(text, object_pairs_hook=self._object)
        except RecursionError as error:
            raise UnreadableFileError(
                f"{place} of {self.source.name} is nested too deeply for a table."
            ) from error
        except json.JSONDecodeError as error:
            raise UnreadableFileError(
                f"{place} of {self.source.name} is not complete, valid JSON: {error.msg} "
                f"at character {error.pos + 1:,}."
            ) from error
        except ValueError as error:
            # Python refuses to convert numbers of thousands of digits.
            raise UnreadableFileError(
                f"{place} of {self.source.name} holds a number with too many digits."
            ) from error

    def _object(self, pairs: list[tuple[str, object]]) -> Record:
        record = dict(pairs)
        if len(record) == len(pairs):
            return record
        self.found_repeated_keys = True
        keys = make_unique([key for key, _ in pairs])
        return dict(zip(keys, (value for _, value in pairs), strict=True))
