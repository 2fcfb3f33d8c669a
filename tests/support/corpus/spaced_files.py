"""Text whose columns are separated by spaces, aligned or not."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tests.support.corpus.files import CorpusFile

ALIGNED = "columns aligned with spaces"
SEPARATED = "columns separated by spaces"
UNDECIDED = "not aligned in every line"


def spaced_files() -> Iterator[CorpusFile]:
    """Yield all files of this kind."""
    yield from _aligned()
    yield from _printed_at_random()
    yield from _separated()
    yield from _undecided()


def _file(title: str, text: str, columns: dict, *remarks: str, **more) -> CorpusFile:
    return CorpusFile(title, "t.txt", text.encode(), pd.DataFrame(columns), remarks, **more)


def _refused(title: str, text: str, refusal: str) -> CorpusFile:
    return CorpusFile(title, "t.txt", text.encode(), refusal=refusal)


def _aligned() -> Iterator[CorpusFile]:
    yield _file(
        "numbers aligned left, one missing",
        "a    b   c\n1    2   3\n10      30\n",
        {"a": [1, 10], "b": [2, None], "c": [3, 30]},
        ALIGNED,
    )
    yield _file(
        "numbers aligned right, one missing",
        "   a   b\n   1   2\n      20\n 300   4\n",
        {"a": [1, None, 300], "b": [2, 20, 4]},
        ALIGNED,
    )
    people = {"name": ["Anna Maria", "Bert"], "age": [41, None], "city": ["Kyiv", "New York"]}
    text = "name        age  city\nAnna Maria   41  Kyiv\nBert             New York\n"
    yield _file("words, numbers and a missing value", text, people, ALIGNED)
    for title, line_end in (("CRLF", "\r\n"), ("CR", "\r")):
        yield _file(f"aligned, {title}", text.replace("\n", line_end), people, ALIGNED)
    yield CorpusFile(
        "aligned, UTF-16",
        "t.txt",
        text.encode("utf-16"),
        pd.DataFrame(people),
        (ALIGNED,),
    )
    yield _file("aligned below blank lines", f"\n\n{text}\n\n", people, ALIGNED)
    yield _file(
        "two words and a missing value, as many as columns",
        "name       age city\nAnna        41 Kyiv\nAnna Maria     Bonn\n",
        {"name": ["Anna", "Anna Maria"], "age": [41, None], "city": ["Kyiv", "Bonn"]},
        ALIGNED,
    )
    yield _file(
        "a missing value at the end",
        "name   note\nAnna   late\nBert\n",
        {"name": ["Anna", "Bert"], "note": ["late", None]},
        ALIGNED,
    )
    yield _file(
        "an aligned column without values",
        "a    b    c\n1         3\n4         6\n",
        {"a": [1, 4], "b": [np.nan, np.nan], "c": [3, 6]},
        ALIGNED,
    )
    yield _file(
        "printed by R, with names of rows",
        "               mpg cyl\nMazda RX4     21.0   6\nMazda RX4 Wag 21.0  NA\n",
        {"column_1": ["Mazda RX4", "Mazda RX4 Wag"], "mpg": [21.0, 21.0], "cyl": [6, None]},
        ALIGNED,
        "without a name",
    )
    yield _file(
        "printed by R, with numbers of rows",
        "   a  b\n1 10 20\n2 11 NA\n",
        {"column_1": [1, 2], "a": [10, 11], "b": [20, None]},
        ALIGNED,
        "without a name",
    )
    yield _file(
        "decimal commas",
        "   x      y\n 1,5   2,25\n10,5\n",
        {"x": [1.5, 10.5], "y": [2.25, None]},
        ALIGNED,
    )
    yield _file(
        "no header",
        " 0.00632  18.00\n 0.02731   0.00\n10.00000\n",
        {"column_1": [0.00632, 0.02731, 10.0], "column_2": [18.0, 0.0, None]},
        "seems to have no header",
        ALIGNED,
    )
    yield _file(
        "dates with times",
        "time                 n\n2024-01-01 10:00:00  1\n2024-01-02 11:00:00  22\n",
        {"time": pd.to_datetime(["2024-01-01 10:00", "2024-01-02 11:00"]), "n": [1, 22]},
        ALIGNED,
    )
    yield _file(
        "a name of two words",
        "full name    age\nAnna Lee      41\nEmilia Bo      7\n",
        {"full name": ["Anna Lee", "Emilia Bo"], "age": [41, 7]},
        ALIGNED,
    )
    rows = [f"{at:<5}{at * 2:>6}" for at in range(2000)]
    wide = [*rows, f"{123456:<7}{7:>4}"]
    yield _file(
        "a wide value far below",
        "\n".join(["a         b", *wide, ""]),
        {"a": [*range(2000), 123456], "b": [*range(0, 4000, 2), 7]},
        ALIGNED,
    )


def _printed_at_random() -> Iterator[CorpusFile]:
    """Tables as pandas prints them, with missing values left blank."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n_rows = int(rng.integers(3, 30))
        frame = pd.DataFrame(
            {
                "code": rng.integers(100, 999, n_rows),
                "dose": np.round(rng.normal(100, 50, n_rows), 2),
                "name": rng.choice(["Anna Maria", "Bo", "Jean Luc"], n_rows),
                "score": np.round(rng.normal(size=n_rows), 3),
                "town": rng.choice(["Ulm", "New York", "Rio"], n_rows),
            }
        )
        lost = rng.random(frame.shape) < 0.2
        lost[:, 0] = False
        lost[0] = False
        frame = frame.mask(lost)
        text = frame.to_string(index=False, na_rep="", col_space=8)
        yield CorpusFile(f"printed by pandas, {seed}", "t.txt", text.encode(), frame, (ALIGNED,))


def _separated() -> Iterator[CorpusFile]:
    yield _file(
        "one space between numbers", "a b\n1 2\n30 40\n", {"a": [1, 30], "b": [2, 40]}, SEPARATED
    )
    yield _file(
        "one space between words and numbers",
        "name age\nAnna 41\nBert 7\n",
        {"name": ["Anna", "Bert"], "age": [41, 7]},
        SEPARATED,
    )
    yield _file(
        "one space and quotes",
        '"name" "age"\n"Anna Maria" 41\n"Bert" 7\n',
        {"name": ["Anna Maria", "Bert"], "age": [41, 7]},
        SEPARATED,
    )
    yield _file(
        "one space and an empty cell",
        "a b c\n1  3\n4 5 6\n",
        {"a": [1, 4], "b": [None, 5], "c": [3, 6]},
        SEPARATED,
    )
    yield _file(
        "one space and NA",
        "a b c\n1 NA 3\n4 5 6\n",
        {"a": [1, 4], "b": [None, 5], "c": [3, 6]},
        SEPARATED,
    )
    yield _file(
        "several spaces between numbers that are not aligned",
        "a  b   c\n1 2 3\n  100   20  30 \n4 5     6\n",
        {"a": [1, 100, 4], "b": [2, 20, 5], "c": [3, 30, 6]},
        SEPARATED,
    )
    yield _file(
        "a space that is told",
        "a b c\n1  x\n4 5 y\n",
        {"a": [1, 4], "b": [None, 5], "c": ["x", "y"]},
        options={"delimiter": " "},
    )
    yield _file("one column of words", "name\nAnna Maria\nBert\n", {"name": ["Anna Maria", "Bert"]})
    yield _file(
        "one column of two words each",
        "full name\nAnna Maria\nJo Li\n",
        {"full name": ["Anna Maria", "Jo Li"]},
        "one column of text with spaces",
    )
    yield _file(
        "one column with double spaces",
        "text\nOne  two.\nThree.  Four five\n",
        {"text": ["One  two.", "Three.  Four five"]},
    )


def _undecided() -> Iterator[CorpusFile]:
    yield _refused(
        "words that are not aligned",
        "name   age   city\nAnna Maria  41   Kyiv\nBert   7  New York\n",
        UNDECIDED,
    )
    yield _refused(
        "names that are not above their columns",
        "x         y\n       1         2\n      10        20\nz        \n",
        UNDECIDED,
    )
    yield _refused(
        "two words or two columns",
        "full name    age\nAnna Lee      41\nHans Muller    7\n",
        UNDECIDED,
    )
    yield _refused(
        "a word between two columns",
        "id name     town\n1  Anna New York\n2  Anna      Ulm\n3  Bert New York\n",
        UNDECIDED,
    )
    yield _refused(
        "a word between two columns in a single line",
        "a         aa\nUlm New York\n",
        UNDECIDED,
    )
    yield _refused(
        "two columns below one name",
        "id   value\n1    10   20\n2    11   21\n",
        "several spaces inside one column",
    )
    rows = [f"{at:<5}{at * 2:>6}" for at in range(12_000)]
    yield _refused(
        "aligned in the first lines only",
        "\n".join(["a         b" + " " * 90, *(row.ljust(100) for row in rows), "123456789012 7"]),
        UNDECIDED,
    )
    numbers = "\n".join(["a b c", *["1 2 3"] * 30_000])
    yield _refused(
        "a value that is absent",
        f"{numbers}\n1 3\n",
        "has 2 values separated by spaces, but there are 3 columns",
    )
    yield _refused("a value too many", f"{numbers}\n1 2 3 4\n", "has 4 cells, but the header has 3")
