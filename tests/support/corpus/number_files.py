"""Numbers, dates and booleans in text, as they are written around the world."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from tests.support.corpus.files import CorpusFile, beside_letters, with_letters

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
STAYS_TEXT = "has numbers that stay text"


def number_files() -> Iterator[CorpusFile]:
    """Yield all files of this kind."""
    yield from _with_marks()
    yield from _in_doubt()
    yield from _decided_far_below()
    yield from _that_stay_text()
    yield from _of_odd_size()
    yield from _dates_and_booleans()


def _column(
    title: str,
    cells: Sequence[str],
    values: Sequence[object] | None = None,
    delimiter: str = ";",
    *remarks: str,
    **more,
) -> CorpusFile:
    expected = beside_letters(list(cells if values is None else values))
    content = with_letters(cells, delimiter)
    return CorpusFile(title, "numbers.csv", content, expected, remarks, **more)


def _digits(cells: Sequence[str], zero: str) -> list[str]:
    """Return numbers in the digits of another script."""
    digits = {ord("0") + digit: chr(ord(zero) + digit) for digit in range(10)}
    return [cell.translate(digits) for cell in cells]


def _arabic(cells: Sequence[str], zero: str) -> list[str]:
    """Return numbers in Arabic or Persian digits and marks."""
    return [
        cell.translate({ord("."): "\u066b", ord(","): "\u066c"}) for cell in _digits(cells, zero)
    ]


def _with_marks() -> Iterator[CorpusFile]:
    values = [1234567.25, 12.5, -98765.75, 3.0]
    ways = {
        "decimal points": ["1234567.25", "12.5", "-98765.75", "3"],
        "decimal commas": ["1234567,25", "12,5", "-98765,75", "3"],
        "commas and points": ["1,234,567.25", "12.5", "-98,765.75", "3"],
        "points and commas": ["1.234.567,25", "12,5", "-98.765,75", "3"],
        "apostrophes": ["1'234'567.25", "12.5", "-98'765.75", "3"],
        "curly apostrophes": ["1’234’567.25", "12.5", "-98’765.75", "3"],
        "spaces": ["1 234 567,25", "12,5", "-98 765,75", "3"],
        "no-break spaces": ["1\u00a0234\u00a0567,25", "12,5", "-98\u00a0765,75", "3"],
        "narrow no-break spaces": ["1\u202f234\u202f567,25", "12,5", "-98\u202f765,75", "3"],
        "thin spaces": ["1\u2009234\u2009567.25", "12.5", "-98\u2009765.75", "3"],
        "lakhs": ["12,34,567.25", "12.5", "-98,765.75", "3"],
        "a typographic minus": ["1234567.25", "12.5", "−98765.75", "3"],
        "a typographic minus and commas": ["1.234.567,25", "12,5", "−98.765,75", "3"],
        "a minus and no-break spaces": ["1\u00a0234\u00a0567,25", "12,5", "−98\u00a0765,75", "3"],
        "Arabic digits": _arabic(["1,234,567.25", "12.5", "-98,765.75", "3"], "\u0660"),
        "Persian digits": _arabic(["1,234,567.25", "12.5", "−98,765.75", "3"], "\u06f0"),
        "full-width digits": _digits(["1234567.25", "12.5", "-98765.75", "3"], "\uff10"),
        "Devanagari digits": _digits(["1234567.25", "12.5", "-98765.75", "3"], "\u0966"),
        "exponents": ["1.23456725e6", "1.25E1", "-9.876575e+04", "3e0"],
        "plus signs": ["+1234567.25", "+12.5", "-98765.75", "+3"],
    }
    for (way, cells), delimiter in itertools.product(ways.items(), ";\t|"):
        yield _column(f"{way} between {DELIMITERS[delimiter]}", cells, values, delimiter)
    yield _column("commas and points in quotes", ways["commas and points"], values, ",")
    yield _column("points and commas in quotes", ways["points and commas"], values, ",")
    yield _column("lakhs in quotes", ways["lakhs"], values, ",")
    yield _column("whole lakhs and crores", ["1,00,000", "2,50,00,000"], [100_000, 25_000_000])
    yield _column("thousands without decimals", ["1,234,567", "12,345"], [1_234_567, 12_345])
    yield _column("plain numbers below decimal commas", ["0,5", "7"], [0.5, 7])
    yield CorpusFile(
        "decimal commas beside decimal points",
        "t.csv",
        b"a;b\n1,5;0.25\n2,5;0.5\n3,5;0.75\n",
        pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": [0.25, 0.5, 0.75]}),
    )
    yield _column(
        "marks that are told", ["1,234", "2,345"], [1234, 2345], options={"thousands": ","}
    )
    yield _column(
        "a decimal mark that is told", ["1,234", "2,345"], [1.234, 2.345], options={"decimal": ","}
    )


def _in_doubt() -> Iterator[CorpusFile]:
    cases = [
        ("\t", ["1,234", "2,345"], [1234, 2345], (1234, 1.234)),
        (";", ["1,234", "2,345"], [1.234, 2.345], (1.234, 1234)),
        ("|", ["1,234", "999"], [1234, 999], (1234, 1.234)),
        ("\t", ["1.234", "999"], [1.234, 999], (1.234, 1234)),
        (";", ["12.500", "7"], [12.5, 7], (12.5, 12500)),
        (",", ["1,234", "5"], [1234, 5], (1234, 1.234)),
        (";", ["−1,234", "−2,345"], [-1.234, -2.345], (-1.234, -1234)),
    ]
    for delimiter, cells, values, doubt in cases:
        title = f"{cells[0]} and {cells[1]} between {DELIMITERS[delimiter]}"
        yield _column(title, cells, values, delimiter, "it could also be", doubt=doubt)

    yield CorpusFile(
        "columns that disagree, and one that may be either",
        "t.csv",
        b"a;b;c\n0,5;0.5;1,234\n1,5;1.5;2,345\n",
        pd.DataFrame({"a": [0.5, 1.5], "b": [0.5, 1.5], "c": [1.234, 2.345]}),
        ("it could also be 1234",),
        doubt=(1.234, 1234),
    )
    yield CorpusFile(
        "columns that disagree, each for sure",
        "t.csv",
        b"a;b\n0,5;0.5\n1,234;1.234\n",
        pd.DataFrame({"a": [0.5, 1.234], "b": [0.5, 1.234]}),
    )


def _decided_far_below() -> Iterator[CorpusFile]:
    many = 700
    for decisive, taken in (("0,5", 1.234), ("1,234,567", 1234), ("1,234.5", 1234)):
        last = float(decisive.replace(",", "." if taken < 2 else ""))
        cells, values = [*["1,234"] * many, decisive], [*[taken] * many, last]
        for delimiter in ";\t":
            title = f"{decisive} far below 1,234 between {DELIMITERS[delimiter]}"
            yield _column(title, cells, values, delimiter)
    for decisive in ("1,234,567", "1,234.5", "12,34,567"):
        last = float(decisive.replace(",", ""))
        yield _column(
            f"{decisive} far below 0.5", [*["0.5"] * many, decisive], [*[0.5] * many, last], "\t"
        )
    yield _column(
        "1'234 far below decimal commas", [*["0,5"] * many, "1'234"], [*[0.5] * many, 1234]
    )


def _that_stay_text() -> Iterator[CorpusFile]:
    ways = {
        "percentages": ["12%", "7.5 %", "3%"],
        "per mille": ["12‰", "3‰"],
        "dollars": ["$1,234.50", "-$5", "$3"],
        "euros": ["1.234,50 €", "3,00 €"],
        "pounds and blanks": ["£5", "", "£3"],
        "rupees in lakhs": ["₹12,34,567", "₹5"],
        "codes of currencies": ["EUR 5", "USD 3.50"],
        "parentheses": ["(1,234)", "567"],
        "a minus at the end": ["5-", "3", "1.5-"],
        "underscores": ["1_234", "5"],
        "two decimal marks": ["1,5", "2.5"],
        "two thousands marks": ["1'234'567", "1 234 567"],
        "lists of answers": ["1,2", "3"],
        "full-width marks": ["\uff11\uff0e\uff15", "\uff12\uff0e\uff15"],
        "Arabic digits with a comma": _digits(["1,5", "2"], "\u0660"),
    }
    for way, cells in ways.items():
        values = [cell or None for cell in cells]
        yield _column(way, cells, values, "," if "lists" in way else ";", STAYS_TEXT)
    silent = {
        "leading zeros": ["007", "123"],
        "hexadecimal numbers": ["0x1A", "0x1B"],
        "units": ["5 mg", "7 mg"],
        "ranges": ["1-5", "6-9"],
        "superscripts": ["m²", "5²"],
        "IP addresses": ["10.0.0.1", "192.168.1.20"],
        "versions": ["1.2.3", "1.10.0"],
        "telephone numbers": ["+49 30 1234", "555-1234"],
        "grades": ["1+", "2-", "3"],
        "days before months": ["01.02.2024", "13.02.2024"],
        "days or months": ["01/02/2024", "03/04/2024"],
        "times": ["10:30", "11:45"],
        "numbers and a word": ["1", "2", "about 3"],
        "lists of three": ["1,2,3", "4,5,6"],
        "Roman numerals": ["XII", "IV"],
        "fractions": ["1/2", "3/4"],
    }
    for way, cells in silent.items():
        yield _column(way, cells)


def _of_odd_size() -> Iterator[CorpusFile]:
    yield _column("64-bit integers", [str(2**63 - 1), str(-(2**63))], [2**63 - 1, -(2**63)])
    yield _column("unsigned 64-bit integers", [str(2**64 - 1), "1"], [2**64 - 1, 1])
    yield _column("integers above floats", ["9007199254740993", "1"], [2**53 + 1, 1])
    yield CorpusFile(
        "integers above floats with a missing one",
        "t.csv",
        b"a,b\n9007199254740993,x\n,y\n",
        pd.DataFrame({"a": pd.array([2**53 + 1, None], "Int64"), "b": ["x", "y"]}),
    )
    yield _column("integers of 20 digits", ["9" * 20, "1"])
    yield _column(
        "integers above floats beside decimals",
        ["9007199254740993", "1.5"],
        None,
        ";",
        STAYS_TEXT,
    )
    yield _column("long integers that floats keep", ["9007199254740992", "1.5"], [2.0**53, 1.5])
    yield _column("too large for floats", ["1e400", "1"], None, ";", STAYS_TEXT)
    yield _column("400 digits", ["1" * 400 + ".5", "1"], None, ";", STAYS_TEXT)
    yield _column(
        "large floats", ["1.7976931348623157e308", "5e-324"], [1.7976931348623157e308, 5e-324]
    )
    yield _column("long decimals", ["0.1", "3.14159265358979323846"], [0.1, 3.14159265358979323846])
    yield _column("infinite numbers", ["inf", "-Infinity", "1"], [np.inf, -np.inf, 1.0])
    yield _column("no digit before the point", [".5", "-.25"], [0.5, -0.25])
    yield _column("no digit after the point", ["5.", "0.25"], [5.0, 0.25])
    yield _column("negative zero", ["-0.0", "1.5"], [-0.0, 1.5])
    yield _column("numbers with spaces around", [" 5", "7 "], [5, 7])


def _dates_and_booleans() -> Iterator[CorpusFile]:
    for way, cells in {
        "ISO dates": ["2024-02-29", "", "1969-12-31"],
        "dates with slashes": ["2024/02/29", "2024/03/01"],
        "times of day": ["2024-02-29 10:20:30", "2024-02-29T00:00"],
        "nanoseconds": ["2024-01-01 00:00:00.123456789", "2024-01-01"],
        "universal time": ["2024-01-01T10:00Z", "2024-01-02T10:00Z"],
        "old and late dates": ["1492-10-12", "2999-12-31"],
    }.items():
        yield _column(way, cells, [pd.Timestamp(cell) if cell else pd.NaT for cell in cells])
    for way, cells in {
        "time zones that differ": ["2024-01-01T00:00+01:00", "2024-07-01T00:00+02:00"],
        "a day that does not exist": ["2024-02-30", "2024-01-01"],
        "a date beside a number": ["2024-01-01", "1"],
        "yes and no": ["yes", "no"],
        "T and F": ["T", "F"],
    }.items():
        yield _column(way, cells)
    yield _column("true and false", ["true", "FALSE", "True"], [True, False, True])
    yield CorpusFile(
        "true, false and missing",
        "t.csv",
        with_letters(["true", "", "false"]),
        beside_letters([True, None, False]).astype({"value": "boolean"}),
    )
    yield _column("zeros and ones", ["0", "1"], [0, 1])
