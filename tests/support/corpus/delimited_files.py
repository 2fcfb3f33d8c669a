"""Delimited text: separators, line ends, quotes, encodings, headers, ragged rows, long cells."""

import csv
import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd

from tests.support.corpus.files import CorpusFile, delimited, difficult_text, people

DELIMITERS = {
    ",": "comma",
    ";": "semicolon",
    "\t": "tab",
    "|": "bar",
    "^": "caret",
    "~": "tilde",
    "\x1f": "unit separator",
}
LINE_ENDS = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
TEXTS = ('say "hi"', "a, b; c | d", "tab\there", "it's", " spaces ", "ünïcode я 漢字")
MISSING_WORDS = ("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>", "#N/A", " NA ")


def delimited_files() -> Iterator[CorpusFile]:
    """Yield all files of this kind."""
    yield from _separated()
    yield from _encoded()
    yield from _with_missing_words()
    yield from _with_headers()
    yield from _with_odd_rows()
    yield from _with_long_cells()
    yield from _of_odd_shape()
    yield from _at_random()


def _separated() -> Iterator[CorpusFile]:
    ways = itertools.product(DELIMITERS, LINE_ENDS, (csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    for seed, (delimiter, line_end, quoting) in enumerate(ways):
        frame = difficult_text(people(seed=seed), [*TEXTS, f"two{line_end}lines"])
        quotes = "all quoted" if quoting == csv.QUOTE_ALL else "quoted where needed"
        yield CorpusFile(
            f"{DELIMITERS[delimiter]}, {LINE_ENDS[line_end]}, {quotes}",
            "people.csv",
            delimited(frame, delimiter, line_end=line_end, quoting=quoting),
            frame,
        )
    frame = people()
    yield CorpusFile("tab in .tsv", "people.tsv", delimited(frame, "\t"), frame)
    yield CorpusFile("comma in .tsv", "people.tsv", delimited(frame, ","), frame)
    tabbed = difficult_text(frame, ["a\tb"])
    yield CorpusFile("comma in .tsv, and tabs in cells", "t.tsv", delimited(tabbed), tabbed)
    column = pd.DataFrame({"name": ["Lee,Bo", "Li,Wei"]})
    yield CorpusFile("one column in .tsv", "t.tsv", delimited(column, "\t"), column)
    yield CorpusFile("semicolon in .txt", "people.txt", delimited(frame, ";"), frame)
    yield CorpusFile("no ending", "people", delimited(frame), frame)
    yield CorpusFile("no last line end", "people.csv", delimited(frame).rstrip(), frame)
    yield CorpusFile(
        "a separator line of Excel", "people.csv", b"sep=;\n" + delimited(frame, ";"), frame
    )
    yield CorpusFile(
        "a space after each comma",
        "t.csv",
        b'a, b, c\n1, x, "p, q"\n2, y, r\n',
        pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": ["p, q", "r"]}),
    )
    for delimiter in ";\t|":
        name = DELIMITERS[delimiter]
        yield CorpusFile(
            f"commas in names between {name}s",
            "t.csv",
            f"time{delimiter}temp, C\n1{delimiter}2,5\n2{delimiter}3,5\n".encode(),
            pd.DataFrame({"time": [1, 2], "temp, C": [2.5, 3.5]}),
        )
        yield CorpusFile(
            f"commas in all cells between {name}s",
            "t.csv",
            f"last, first{delimiter}n\nLee, Bo{delimiter}1\nLi, Wei{delimiter}2\n".encode(),
            pd.DataFrame({"last, first": ["Lee, Bo", "Li, Wei"], "n": [1, 2]}),
        )
    yield CorpusFile(
        "single quotes",
        "t.csv",
        b"a,b\n'x',1\n'z',2\n",
        pd.DataFrame({"a": ["x", "z"], "b": [1, 2]}),
    )
    yield CorpusFile(
        "single quotes around a comma",
        "t.csv",
        b"a,b\n'x, y',1\n'z',2\n",
        refusal="Line 2 of 't.csv' has 3 cells",
    )
    yield CorpusFile(
        "a colon that is told",
        "t.csv",
        b"user:shell\nroot:sh\n",
        pd.DataFrame({"user": ["root"], "shell": ["sh"]}),
        options={"delimiter": ":"},
    )
    for delimiter in ",;|":
        yield CorpusFile(
            f"decimal points beside {DELIMITERS[delimiter]}s in quotes",
            "t.csv",
            f'a{delimiter}b\n0.5{delimiter}"x{delimiter}y"\n1.5{delimiter}z\n'.encode(),
            pd.DataFrame({"a": [0.5, 1.5], "b": [f"x{delimiter}y", "z"]}),
        )


def _encoded() -> Iterator[CorpusFile]:
    words = pd.DataFrame({"größe": [1, 2, 3], "ціна": ["я", "ö", "漢字"]})
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        for delimiter in ",;\t":
            yield CorpusFile(
                f"{encoding}, {DELIMITERS[delimiter]}",
                "words.csv",
                delimited(words, delimiter, encoding=encoding),
                words,
            )
    big_endian = b"\xfe\xff" + delimited(words, encoding="utf-16-be")
    yield CorpusFile("utf-16, big endian", "words.csv", big_endian, words)
    yield CorpusFile(
        "utf-16 with commas and line ends in its bytes",
        "t.csv",
        "a,b\nਬ,1\n⸊,2\n".encode("utf-16"),
        pd.DataFrame({"a": ["ਬ", "⸊"], "b": [1, 2]}),
    )
    for encoding in ("utf-16-le", "utf-16-be"):
        content = delimited(words, encoding=encoding)
        yield CorpusFile(
            f"{encoding} without a mark", "words.csv", content, refusal="If it is UTF-16 text"
        )
        yield CorpusFile(
            f"{encoding} that is told", "w.csv", content, words, options={"encoding": encoding}
        )
    western = pd.DataFrame({"Größe": [1, 2], "Ort": ["Köln", "Besançon"]})
    for encoding in ("cp1252", "latin-1"):
        yield CorpusFile(
            f"{encoding} that is not told",
            "w.csv",
            delimited(western, ";", encoding=encoding),
            western,
            remarks=("not UTF-8 and was read as cp1252",),
        )
    yield CorpusFile(
        "latin-1 with control characters",
        "t.csv",
        b"a,b\n1,\x81\xe4\n",
        pd.DataFrame({"a": [1], "b": ["\x81ä"]}),
        remarks=("read as latin-1",),
    )
    yield from _in_languages()
    yield CorpusFile(
        "UTF-8 that is cut in a letter",
        "t.csv",
        "a,b\n1,я\n".encode()[:-2],
        refusal="not valid utf-8",
        options={"encoding": "utf-8"},
    )
    yield CorpusFile(
        "an encoding that does not exist",
        "t.csv",
        b"a\n1\n",
        refusal="no text encoding",
        options={"encoding": "klingon"},
    )


def _in_languages() -> Iterator[CorpusFile]:
    languages = {
        "shift_jis": ("名前", "東京", "表示"),
        "euc_jp": ("名前", "東京", "表示"),
        "gb18030": ("姓名", "北京", "上海"),
        "big5": ("姓名", "台北", "功能"),
        "euc_kr": ("이름", "서울", "부산"),
        "cp1251": ("имя", "Москва", "Київ"),
        "koi8-r": ("имя", "Москва", "Пермь"),
        "cp1250": ("jméno", "Łódź", "Plzeň"),
        "iso-8859-7": ("όνομα", "Αθήνα", "Πάτρα"),
        "cp1256": ("اسم", "بغداد", "عمان"),
        "mac-roman": ("prénom", "Orléans", "Évian"),
    }
    for encoding, (name, *cities) in languages.items():
        frame = pd.DataFrame({name: cities, "n": [1, 2]})
        content = delimited(frame, encoding=encoding)
        yield CorpusFile(
            f"{encoding} that is told", "t.csv", content, frame, options={"encoding": encoding}
        )
        # Not told, letters are wrong, but the cells are where they belong, and a remark says so.
        guessed = _as_western(content)
        yield CorpusFile(
            f"{encoding} that is not told",
            "t.csv",
            content,
            pd.DataFrame(guessed[1:], columns=guessed[0]).assign(n=[1, 2]),
            remarks=("Pass encoding=... if letters look wrong",),
        )


def _as_western(content: bytes) -> list[list[str]]:
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return [line.split(",") for line in text.splitlines() if line]


def _with_missing_words() -> Iterator[CorpusFile]:
    frame = people()
    for word in MISSING_WORDS:
        yield CorpusFile(
            f"missing values as {word.strip()!r}{' with spaces' * (word != word.strip())}",
            "people.csv",
            delimited(frame, missing=word),
            frame,
        )
    kept = ["None", "none", "no", "-", "?", "na", "missing", "unknown"]
    yield CorpusFile(
        "words that may be answers",
        "t.csv",
        "\n".join(["a,b", *(f"{word},1" for word in kept)]).encode(),
        pd.DataFrame({"a": kept, "b": 1}),
    )
    yield CorpusFile(
        "sentinels that are told",
        "t.csv",
        b"a;b\n1,5;x\n-999;y\n2,5;?\n",
        pd.DataFrame({"a": [1.5, None, 2.5], "b": ["x", "y", None]}),
        options={"sentinels": [-999, "?"]},
    )


def _with_headers() -> Iterator[CorpusFile]:
    def with_header(
        title: str, content: str, columns: dict, *remarks: str, **options
    ) -> CorpusFile:
        expected = pd.DataFrame(columns)
        return CorpusFile(title, "t.csv", content.encode(), expected, remarks, options=options)

    yield with_header(
        "repeated names", "a,a,b\n1,2,3\n", {"a": [1], "a.1": [2], "b": [3]}, "more than once"
    )
    yield with_header(
        "a blank name", "a,,c\n1,2,3\n", {"a": [1], "column_2": [2], "c": [3]}, "without a name"
    )
    yield with_header(
        "a blank name and line", "\n\na,b\n\n1,2\n\n3,4\n\n", {"a": [1, 3], "b": [2, 4]}
    )
    yield with_header(
        "no header over decimals",
        "5.1,3.5,x\n4.9,3.0,y\n",
        {"column_1": [5.1, 4.9], "column_2": [3.5, 3.0], "column_3": ["x", "y"]},
        "seems to have no header",
    )
    yield with_header(
        "no header over decimal commas",
        "5,1;3,5\n4,9;3,0\n",
        {"column_1": [5.1, 4.9], "column_2": [3.5, 3.0]},
        "seems to have no header",
    )
    yield with_header(
        "no header over a typographic minus",
        "−0.5,1.5\n−2.5,3\n",
        {"column_1": [-0.5, -2.5], "column_2": [1.5, 3.0]},
        "seems to have no header",
    )
    yield with_header(
        "no header, which is told",
        "a,b\nc,d\n",
        {"column_1": ["a", "c"], "column_2": ["b", "d"]},
        header=False,
    )
    yield with_header("years as names", "2019,2020\n1.5,2.5\n", {"2019": [1.5], "2020": [2.5]})
    yield with_header(
        "decimals as names, which is told", "1.5,2.5\n1,2\n", {"1.5": [1], "2.5": [2]}, header=True
    )
    yield with_header("names with line breaks", '"a\nb",c\n1,2\n', {"a\nb": [1], "c": [2]})
    yield with_header("names with spaces around", " a , b \n1,2\n", {"a": [1], "b": [2]})
    yield with_header("a name that begins with #", "#id,age\n1,2\n", {"#id": [1], "age": [2]})
    yield with_header(
        "comments above the header",
        "# made by a program\n# in 2024\nid,age\n1,2\n",
        {"id": [1], "age": [2]},
        "2 lines of comments",
    )
    yield with_header(
        "comments and blank lines above the header",
        '\n# "made" by a program\n\n# in 2024\n\nid,age\n1,2\n3,4\n',
        {"id": [1, 3], "age": [2, 4]},
        "2 lines of comments",
    )
    yield with_header(
        "comments above tabs without quotes",
        "# it's 5\" long\r\nid\tage\r\n1\t2\r\n",
        {"id": [1], "age": [2]},
        "1 line of comments",
    )
    yield with_header(
        "comments above names with #",
        "##fileformat=x\n#id\tage\n1\t2\n",
        {"#id": [1], "age": [2]},
        "1 line of comments",
    )
    for delimiter in ",;\t|":
        rows = [["id", "age"], ["1", "x"], ["2", "y"], ["3", "z"]]
        table = "\n".join(delimiter.join(row) for row in rows)
        yield CorpusFile(
            f"a title above {DELIMITERS[delimiter]}s",
            "t.csv",
            f"Report of the year\n{table}\n".encode(),
            refusal="remove title lines above the header",
        )
    yield CorpusFile(
        "a preamble of several lines",
        "t.csv",
        b"Station,Oslo\nFrom,2020\n\ntime,temp,wind\n1,2,3\n2,3,4\n3,4,5\n4,5,6\n",
        refusal="has 3 cells, but the header has 2",
    )
    yield CorpusFile("only a header", "t.csv", b"a,b,c\n", refusal="no rows below it")
    yield CorpusFile("only a header, one column", "t.csv", b"a\n\n\n", refusal="no rows below it")
    yield CorpusFile("only comments", "t.csv", b"#a\n#b\n", pd.DataFrame({"#a": ["#b"]}))


def _with_odd_rows() -> Iterator[CorpusFile]:
    for delimiter in ",;\t|":
        rows = [["a", "b", "c"], ["1", "2", "3"], ["4"], ["5", "6"]]
        yield CorpusFile(
            f"short rows between {DELIMITERS[delimiter]}s",
            "t.csv",
            "\n".join(delimiter.join(row) for row in rows).encode(),
            pd.DataFrame({"a": [1, 4, 5], "b": [2, None, 6], "c": [3, None, None]}),
            remarks=("2 rows of 't.csv' have fewer cells",),
        )
        yield CorpusFile(
            f"a long row between {DELIMITERS[delimiter]}s",
            "t.csv",
            "\n".join(delimiter.join(row) for row in [*rows, "wxyz"]).encode(),
            refusal="Line 5 of 't.csv' has 4 cells, but the header has 3",
        )
    yield CorpusFile(
        "a delimiter at the end of all lines",
        "t.csv",
        b"a,b,\n1,2,\n3,4,\n",
        pd.DataFrame({"a": [1, 3], "b": [2, 4], "column_3": [None, None]}, dtype=object).astype(
            {"a": int, "b": int, "column_3": float}
        ),
        remarks=("without a name",),
    )
    yield CorpusFile(
        "a delimiter at the end of data lines",
        "t.csv",
        b"a,b\n1,2,\n3,4,\n",
        refusal="Line 2 of 't.csv' has 3 cells",
    )
    yield CorpusFile(
        "a quote that is not closed",
        "t.csv",
        b'a,b\n1,2\n3,"x\n5,6\n',
        refusal="begins in line 3: a closing quote is missing",
    )
    yield CorpusFile(
        "quotes inside cells",
        "t.csv",
        b'a,b\n5" pipe,"say ""hi"""\n6,x\n',
        pd.DataFrame({"a": ['5" pipe', "6"], "b": ['say "hi"', "x"]}),
    )
    yield CorpusFile("a NUL byte", "t.csv", b"a,b\n1,\0\n", refusal="NUL byte in line 2")
    yield CorpusFile(
        "mixed line ends",
        "t.csv",
        b"a,b\r\n1,2\n3,4\r5,6",
        pd.DataFrame({"a": [1, 3, 5], "b": [2, 4, 6]}),
    )
    yield CorpusFile(
        "formulas",
        "t.csv",
        b"a,b\n=1+1,+A1\n@SUM(A1),-B2\n",
        pd.DataFrame({"a": ["=1+1", "@SUM(A1)"], "b": ["+A1", "-B2"]}),
    )
    yield CorpusFile(
        "other line separators inside cells",
        "t.csv",
        "a,b\nx\u2028y,1\nz\x0bw\x85,2\n".encode(),
        pd.DataFrame({"a": ["x\u2028y", "z\x0bw\x85"], "b": [1, 2]}),
    )


def _with_long_cells() -> Iterator[CorpusFile]:
    for length, quoted in itertools.product((131_071, 131_073, 200_000), (False, True)):
        text = "x" * length if not quoted else "a, b;\n" * (length // 6)
        frame = pd.DataFrame({"a": [1, 2, 3], "b": ["y", text, "z"], "c": [0.5, None, 1.5]})
        for delimiter in ",;\t":
            yield CorpusFile(
                f"a {'quoted ' * quoted}cell of {length:,} characters, {DELIMITERS[delimiter]}",
                "t.csv",
                delimited(frame, delimiter),
                frame,
            )
    longer = pd.DataFrame({"a": [1, 2], "b": ["a, b;\n" * 200_000, "z"]})
    content = delimited(longer, ";")
    yield CorpusFile("a cell that is longer than what is sniffed", "t.csv", content, longer)
    long = pd.DataFrame({"a": ["y", "x" * 200_000], "b": [1, 2]})
    yield CorpusFile(
        "a long cell above a short row",
        "t.csv",
        delimited(long, ";") + b"z\n",
        pd.DataFrame({"a": [*long["a"], "z"], "b": [1, 2, None]}),
        remarks=("fewer cells",),
    )
    yield CorpusFile(
        "a long name",
        "t.csv",
        b"a" * 200_000 + b",b\n1,2\n",
        pd.DataFrame({"a" * 200_000: [1], "b": [2]}),
    )
    yield CorpusFile(
        "a cell of 17 million characters",
        "t.csv",
        lambda: b'a,b\n1,"' + b"x" * 17_000_000 + b'"\n2\n',
        refusal="a cell of more than 16,777,216 characters",
    )


def _of_odd_shape() -> Iterator[CorpusFile]:
    yield CorpusFile("no bytes", "t.csv", b"", refusal="is empty")
    yield CorpusFile("blank lines only", "t.csv", b"\n \n\r\n", refusal="is empty")
    yield CorpusFile("a byte order mark only", "t.csv", b"\xef\xbb\xbf", refusal="is empty")
    column = pd.DataFrame({"name": ["Anna Maria", "Bert", "Li, Wei", "a;b"]})
    yield CorpusFile("one column of texts", "t.csv", delimited(column), column)
    quoted = pd.DataFrame({"full  name": ["Anna  Maria", "Jo  Li"]})
    content = delimited(quoted, quoting=csv.QUOTE_ALL)
    yield CorpusFile("one column of quoted texts", "t.csv", content, quoted)
    yield CorpusFile(
        "one column with blank lines",
        "t.csv",
        b"a\n1\n\n3\n",
        pd.DataFrame({"a": [1, None, 3]}),
    )
    yield CorpusFile(
        "one column of decimal commas",
        "t.csv",
        b"a\n1,5\n2,5\n",
        pd.DataFrame({"a": [1.5, 2.5]}),
        remarks=("one column of numbers with a decimal comma",),
    )
    yield CorpusFile(
        "one column of names with commas",
        "t.csv",
        b"name\nSmith, John\nDoe, Jane\n",
        pd.DataFrame({"name": ["Smith, John", "Doe, Jane"]}),
    )
    yield CorpusFile(
        "a column without values",
        "t.csv",
        b"a,b\n1,\n2,\n",
        pd.DataFrame({"a": [1, 2], "b": np.nan}),
    )
    wide = pd.DataFrame({f"c{at}": [at, at + 1] for at in range(500)})
    yield CorpusFile("500 columns", "t.csv", delimited(wide), wide)
    yield CorpusFile(
        "10,001 columns", "t.csv", b",".join([b"c"] * 10_001) + b"\n", refusal="10,001 columns"
    )
    tall = pd.DataFrame({"a": np.arange(20_000), "b": np.arange(20_000) / 4})
    yield CorpusFile("20,000 rows", "t.csv", delimited(tall), tall)


def _at_random() -> Iterator[CorpusFile]:
    """Tables of random shape and marks, written by pandas."""
    for seed in range(16):
        rng = np.random.default_rng(100 + seed)
        frame = people(int(rng.integers(4, 40)), seed)[rng.permutation(list(people().columns))]
        delimiter, decimal = (";", ",") if seed % 2 else (str(rng.choice([",", "\t", "|"])), ".")
        encoding = str(rng.choice(["utf-8", "utf-8-sig", "utf-16"]))
        content = frame.to_csv(
            index=False,
            sep=delimiter,
            decimal=decimal,
            na_rep=str(rng.choice(["", "NA", "null"])),
            lineterminator=str(rng.choice(["\n", "\r\n"])),
            quoting=int(rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])),
        )
        yield CorpusFile(f"written by pandas, {seed}", "t.csv", content.encode(encoding), frame)
