"""Several imputations as one file, for R, Stata and Python."""

import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import ImputationError, TableError
from pmae_core.export import imputation_reading, write_imputations
from pmae_core.export.mice_format import r_names
from pmae_core.export.stata_format import stata_names
from pmae_core.table import Schema


@pytest.fixture
def original() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "body mass": [1.5, np.nan, 2.5, 3.5],
            "n": pd.array([1, None, 3, 4], dtype="Int64"),
            "town": ["Ulm", None, 'Köln, "x"', "Ulm"],
            "size": pd.Categorical(["L", None, "S", "L"], categories=["S", "M", "L"], ordered=True),
            "zip": ["007", "010", None, "007"],
            "smoker": pd.array([True, None, False, True], dtype="boolean"),
            "when": pd.to_datetime(
                ["2020-01-01 10:30", None, "2020-01-03 09:00", "2020-01-04 08:15"]
            ),
            "code": [1, 2, 1, 2],
        }
    )


@pytest.fixture
def schema(original) -> Schema:
    return Schema.infer(original, {"code": "categorical", "zip": "categorical"})


@pytest.fixture
def imputations(original) -> list[pd.DataFrame]:
    first = {"body mass": 7.0, "n": 2, "town": "Ulm", "size": "M", "zip": "010", "smoker": False}
    second = {"body mass": 6.0, "n": 9, "town": 'Köln, "x"', "size": "S", "zip": "007"}
    when = pd.Timestamp("2020-01-02")
    return [
        original.fillna({**first, "when": when}),
        original.fillna({**second, "smoker": True, "when": when}),
    ]


def test_the_long_file_begins_with_the_original(original, imputations, schema, tmp_path):
    path = tmp_path / "long.csv"

    reading = write_imputations(path, original, imputations, schema=schema)

    long = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype={"zip": str})
    assert list(long.columns[:4]) == [".imp", ".id", "body_mass", "n"]
    assert long[".imp"].tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert long[".id"].tolist() == [1, 2, 3, 4] * 3
    np.testing.assert_array_equal(long.iloc[:4, 2:].isna(), original.isna())
    assert long["town"].tolist()[5::4] == ["Ulm", 'Köln, "x"']
    assert long["zip"].tolist()[:2] == ["007", "010"]
    assert reading.renamed == {"body mass": "body_mass"}


def test_the_r_code_says_what_the_columns_are(original, imputations, schema, tmp_path):
    code = write_imputations(tmp_path / "l.csv", original, imputations, schema=schema).code

    assert 'long$town <- factor(long$town, levels = c("K\\U{f6}ln, \\"x\\"", "Ulm"))' in code
    assert 'long$size <- factor(long$size, levels = c("S", "M", "L"), ordered = TRUE)' in code
    assert "long$code <- factor(long$code)" in code
    assert 'zip = "character"' in code
    assert "imputations <- as.mids(long)" in code
    assert "body_mass <-" not in code


def rscript_with_mice() -> str | None:
    rscript = shutil.which("Rscript")
    if rscript is None:
        return None
    found = subprocess.run([rscript, "-e", "library(mice)"], capture_output=True, timeout=120)
    return rscript if found.returncode == 0 else None


def test_mice_reads_the_file(original, imputations, schema, tmp_path):
    rscript = rscript_with_mice()
    if rscript is None:
        pytest.skip("needs Rscript with the package mice")
    reading = write_imputations(tmp_path / "long.csv", original, imputations, schema=schema)
    checks = """
    stopifnot(is.mids(imputations), imputations$m == 2, nrow(imputations$data) == 4)
    stopifnot(identical(levels(imputations$data$size), c("S", "M", "L")))
    stopifnot(is.ordered(imputations$data$size), is.factor(imputations$data$code))
    stopifnot(identical(as.character(imputations$data$zip[1]), "007"))
    stopifnot(is.logical(imputations$data$smoker))
    stopifnot(sum(is.na(imputations$data)) == 7)
    second <- complete(imputations, 2)
    stopifnot(second$body_mass[2] == 6, second$n[2] == 9, second$size[2] == "S")
    stopifnot(second$town[2] == "K\\u00f6ln, \\"x\\"", second$smoker[2])
    stopifnot(format(second$when[1], "%H:%M") == "10:30")
    cat(summary(pool(with(imputations, lm(body_mass ~ 1))))$estimate)
    """
    (tmp_path / "read.R").write_text(reading.code + checks, encoding="utf-8")

    done = subprocess.run(
        [rscript, "read.R"], cwd=tmp_path, capture_output=True, text=True, timeout=240
    )

    assert done.returncode == 0, done.stderr
    means = [table["body mass"].mean() for table in imputations]
    assert float(done.stdout.split()[-1]) == pytest.approx(np.mean(means))


def test_the_stata_file_has_labels_and_missing_values(original, imputations, schema, tmp_path):
    path = tmp_path / "flong.dta"

    reading = write_imputations(path, original, imputations, schema=schema)

    with pd.read_stata(path, iterator=True) as reader:
        long, labels = reader.read(), reader.variable_labels()
    assert list(long.columns[:3]) == ["mi_m", "mi_id", "body_mass"]
    assert labels["body_mass"] == "body mass"
    np.testing.assert_array_equal(long.iloc[:4, 2:].isna(), original.isna())
    assert long["size"].cat.categories.tolist() == ["S", "M", "L"]
    for number, table in enumerate(imputations, start=1):
        part = long[long["mi_m"] == number]
        for column in ("town", "size", "zip"):
            assert part[column].tolist() == table[column].tolist()
        assert part["smoker"].tolist() == table["smoker"].astype(float).tolist()
        assert part["when"].tolist() == table["when"].tolist()
    assert 'use "flong.dta", clear' in reading.code
    command = reading.code.replace(" ///\n   ", "")
    assert (
        "mi import flong, m(mi_m) id(mi_id) imputed(body_mass n town size zip smoker when)\n"
        in command
    )
    assert reading.renamed == {"body mass": "body_mass"}


def test_identifiers_stay_text_however_large(tmp_path):
    names = [f"person {n}" for n in range(30)]
    table = pd.DataFrame({"who": names, "id": 2**60 + np.arange(30), "x": np.arange(30.0)})
    original = table.assign(x=table["x"].mask(table["x"] > 25))

    write_imputations(tmp_path / "t.dta", original, [table])

    long = pd.read_stata(tmp_path / "t.dta")
    assert long["who"].tolist() == names * 2
    assert long["id"].tolist() == [str(n) for n in table["id"]] * 2


def test_an_index_becomes_a_column(original, imputations, tmp_path):
    index = pd.Index(["a", "b", "c", "d"], name="who")
    tables = [table.set_axis(index) for table in imputations]

    with pytest.warns(UserWarning, match="no index"):
        write_imputations(tmp_path / "t.csv", original.set_axis(index), tables)

    assert pd.read_csv(tmp_path / "t.csv")["who"].tolist() == list("abcd") * 3


def test_names_that_the_programs_allow():
    names = ["if", "_x", "größe", "a b", "a_b", "x" * 40, "x" * 41, "mi_m", "str8", 3]
    assert stata_names(names) == [
        *("if_1", "v_x", "gro_e", "a_b_1", "a_b"),
        *("x" * 32, "x" * 30 + "_1", "mi_m_1", "str8_1", "v3"),
    ]
    assert r_names(["TRUE", ".imp", "sepal.length", "a-b"]) == [
        *("TRUE_1", "v.imp", "sepal.length", "a_b")
    ]


def test_imputations_of_another_table_are_refused(original, imputations, tmp_path):
    path = tmp_path / "t.zip"
    changed = imputations[0].assign(code=[1, 2, 1, 1])
    for tables, message in [
        ([], "There are 0 imputations"),
        ([imputations[0].iloc[:3]], "Imputation 1 has other rows"),
        ([imputations[0], imputations[1][["n"]]], "Imputation 2 has other rows"),
        ([imputations[0], changed], "Imputation 2 changes observed cells of column 'code'"),
    ]:
        with pytest.raises(ImputationError, match=message):
            write_imputations(path, original, tables)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("cells", "ending", "message"),
    [
        (["", None, "b"], "csv", "holds empty texts"),
        (["a\0", None, "b"], "csv", "holds NUL characters"),
        ([np.inf, None, 1.0], "dta", "numbers too large for Stata"),
        ([1, None, "1"], "dta", "written alike"),
    ],
)
def test_what_a_program_cannot_hold(cells, ending, message, tmp_path):
    table = pd.DataFrame({"x": cells})
    with pytest.raises(TableError, match=message):
        write_imputations(tmp_path / f"t.{ending}", table, [table.fillna({"x": cells[2]})])
    assert list(tmp_path.iterdir()) == []


def test_a_category_that_the_original_does_not_know(tmp_path):
    table = pd.DataFrame({"town": ["Ulm", "Bonn", None]})
    with pytest.raises(ImputationError, match="holds Köln in column 'town'"):
        write_imputations(tmp_path / "t.csv", table, [table.fillna("Köln")])


def test_files_that_cannot_be_written(original, imputations, tmp_path):
    with pytest.raises(TableError, match=r"Use \.csv for R"):
        write_imputations(tmp_path / "t.docx", original, imputations)
    with pytest.raises(TableError, match="no format 'spss'"):
        write_imputations(tmp_path / "t.csv", original, imputations, format="spss")
    with pytest.raises(TableError, match="cannot be written"):
        write_imputations(tmp_path / "no" / "t.csv", original, imputations)


def test_the_code_is_known_before_the_file_is_written(original, imputations, schema, tmp_path):
    imputed = original.columns[original.isna().any()]
    for name, format in (("t.csv", "mice"), ("t.dta", "stata"), ("t.zip", "bundle")):
        written = write_imputations(tmp_path / name, original, imputations, schema=schema)
        before = imputation_reading(original, imputed, name, format=format, schema=schema)
        assert before == written


def test_levels_are_ordered_factors_in_r(original, imputations, tmp_path):
    rules = {"town": {"levels": ["Ulm", 'Köln, "x"']}, "n": {"levels": [9, 1, 2, 3, 4]}}
    schema = Schema.infer(original, {"town": "ordinal", "n": "ordinal"}, rules)

    code = write_imputations(tmp_path / "l.csv", original, imputations, schema=schema).code

    assert 'long$town, levels = c("Ulm", "K\\U{f6}ln, \\"x\\""), ordered = TRUE)' in code
    assert "long$n <- factor(long$n, levels = c(9, 1, 2, 3, 4), ordered = TRUE)" in code


def test_levels_are_value_labels_in_their_order_in_stata(original, imputations, tmp_path):
    path = tmp_path / "l.dta"
    rules = {"town": {"levels": ["Ulm", 'Köln, "x"']}}
    schema = Schema.infer(original, {"town": "ordinal"}, rules)
    write_imputations(path, original, imputations, schema=schema)
    with pd.read_stata(path, iterator=True) as reader:
        labels = reader.value_labels()["town"]
    assert [labels[code] for code in sorted(labels)] == ["Ulm", 'Köln, "x"']
