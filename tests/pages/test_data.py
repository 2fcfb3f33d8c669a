"""The Data page: what it shows, what can be done on it, and what it says to bad input."""

import io
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

from dashboard.data import upload_limits, uploads
from dashboard.state import session
from dashboard.state.workspace import Workspace
from pmae_core.errors import DatasetUnavailableError
from pmae_core.table import ReadingLimits, Role, load_dataset, write_table
from tests.support.paths import ROOT

PAGE = "data.py"


@pytest.fixture
def patients():
    """Return a table with stand-ins for missing values."""
    n = 30
    return pd.DataFrame(
        {
            "patient_id": range(1000, 1000 + n),
            "age": [-999 if i % 10 == 0 else 20 + i for i in range(n)],
            "town": ["?" if i % 7 == 0 else ["Ulm", "Bonn"][i % 2] for i in range(n)],
            "score": [1.5 * i if i % 3 else None for i in range(n)],
        }
    )


def words(app):
    """Return all that the page says outside of tables."""
    kinds = (app.markdown, app.caption, app.error, app.warning, app.info, app.success)
    return "\n".join(element.value for kind in kinds for element in kind)


def notices(app):
    """Return the sentences that wait for the header, which a page alone does not draw."""
    waiting = app.session_state.get("_notices", [])
    return [(kind, sentence.replace("\\", "")) for kind, sentence in waiting]


pytestmark = pytest.mark.usefixtures("read_inline")


def upload(app, name, content):
    app.file_uploader[0].upload(name, content)
    return app.run()


def csv(frame):
    buffer = io.BytesIO()
    write_table(frame, buffer, format="csv")
    return buffer.getvalue()


# Seeing


def test_a_new_workspace_shows_the_sample(open_page):
    app = open_page(PAGE)

    assert not app.exception
    assert not app.error
    sample = load_dataset(session.FIRST_SAMPLE)
    preview, roles = app.dataframe[0].value, app.data_editor[0].value
    assert preview.shape == sample.frame.shape
    assert preview.columns.tolist() == list(zip(roles["Role"], roles["Column"], strict=True))
    assert f"{len(sample.frame)} rows and {sample.frame.shape[1]} columns" in words(app)
    assert "No value looks like a code for a missing one" in words(app)


def test_the_first_steps_are_shown_until_they_are_dismissed(open_page, restart_server):
    app = open_page(PAGE)
    assert "See what is missing" in words(app)

    app.button(key="data:dismiss_steps").click().run()

    assert "See what is missing" not in words(app)
    restart_server()
    assert "See what is missing" not in words(open_page(PAGE))


def test_a_sample_tells_its_story_and_what_its_columns_mean(open_page):
    app = open_page(PAGE)

    app.selectbox(key="data:sample").select("cirrhosis").run()

    assert "106 of the 418 patients did not join the trial" in words(app)
    assert (
        "years"
        in dict(
            zip(*(app.data_editor[0].value[name] for name in ("Column", "Meaning")), strict=True)
        )["age"]
    )


def test_a_file_named_like_a_sample_has_no_story(open_page, fill, patients):
    fill(patients, name="cirrhosis")

    assert "106 of the 418 patients" not in words(open_page(PAGE))


def test_a_filled_workspace_shows_its_table(open_page, fill, patients):
    fill(patients, name="patients.csv")

    app = open_page(PAGE)

    said = words(app)
    assert "30 rows and 4 columns; 10 cells (8.3%) are missing" in said
    assert "1 of 4 columns has missing values: `score` (33.3%)." in said
    assert "`patient_id` looks like an identifier." in said
    assert app.data_editor[1].value["Value"].tolist() == ["-999", "?"]


def test_only_rows_with_missing_values(open_page, fill, patients):
    own = fill(patients)
    app = open_page(PAGE)

    app.toggle[0].set_value(True).run()

    assert app.dataframe[0].value["numerical", "score"].isna().all()
    assert own.get("data") == {"only_incomplete": True}
    own.save_table(patients[["patient_id", "town"]], name="t", source="a test")
    assert "No row has a missing value." in words(app.run())


def test_a_long_table_is_previewed_and_said_to_be(open_page, fill):
    fill(pd.DataFrame({"a": range(1500), "b": np.random.default_rng(0).normal(size=1500)}))

    app = open_page(PAGE)

    assert len(app.dataframe[0].value) == 1000
    assert "The first 1,000 of 1,500 rows." in words(app)


def test_markup_in_names_and_cells_is_text(open_page, fill):
    name = "<b>*x*</b> :smile: $y$"
    fill(pd.DataFrame({name: [name, None, name], "b": [1, 2, 3]}), name="**bold**.csv")

    app = open_page(PAGE)

    assert not app.exception
    assert app.dataframe[0].value.columns[0] == ("categorical", name)
    assert r"\*\*bold\*\*\.csv" in words(app)
    assert f"`{name}` is constant" in words(app)


def test_a_table_that_cannot_be_read_any_more_leaves_the_rest_of_the_page(
    open_page, fill, patients, restart_server
):
    own = fill(patients)
    for file in (own.folder / "tables").iterdir():
        file.write_bytes(b"nonsense")
    restart_server()

    app = open_page(PAGE)

    assert not app.exception
    assert "Open it again" in app.error[0].value
    upload(app, "again.csv", csv(patients))
    assert not app.error
    assert own.table_state().name == "again.csv"


# Opening


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "feather", "jsonl"])
def test_a_file_of_every_format_is_opened(open_page, workspace, patients, ending, tmp_path):
    write_table(patients, tmp_path / f"t.{ending}")
    app = open_page(PAGE)

    upload(app, f"t.{ending}", (tmp_path / f"t.{ending}").read_bytes())

    assert not app.exception
    assert ("success", f"t.{ending} is open.") in notices(app)
    assert workspace.table_state().name == f"t.{ending}"
    assert app.dataframe[0].value.shape == patients.shape
    assert app.file_uploader[0].value is None


def test_a_sample_is_opened(open_page, workspace):
    app = open_page(PAGE)

    app.selectbox(key="data:sample").select("clinic").run()

    assert workspace.table_state().name == "clinic"
    assert app.dataframe[0].value.shape[0] == 600


def test_a_table_that_needs_a_download_says_so(open_page, workspace, monkeypatch):
    app = open_page(PAGE)

    def unavailable(name):
        raise DatasetUnavailableError("It cannot be downloaded. Connect to the internet.")

    monkeypatch.setattr("dashboard.state.session.load_dataset", unavailable)
    app.selectbox(key="data:sample").select("wine").run()

    assert not app.exception
    assert ("error", "It cannot be downloaded. Connect to the internet.") in notices(app)
    assert workspace.table_state().name == session.FIRST_SAMPLE
    assert app.selectbox(key="data:sample").value is None


def test_a_file_is_read_again_in_another_way(open_page, workspace):
    app = open_page(PAGE)
    upload(app, "colon.csv", b"a:b\n1:2\n3:4\n")
    assert "only one column" in words(app)

    app.selectbox(key="data:Separator").select("colon")
    app.button(key="FormSubmitter:data:reading-Read it again").click().run()

    assert not app.exception
    assert workspace.table().frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}


# Bad input: a sentence, what to do, and the table before stays open


@pytest.mark.parametrize(("typed", "column"), [("2024", "b"), ("3", "c"), ("1", "a")])
def test_a_sheet_is_chosen_by_name_or_by_number(open_page, workspace, typed, column):
    buffer = io.BytesIO()
    with pd.ExcelWriter(buffer) as book:
        for title, name in (("first", "a"), ("2024", "b"), ("last", "c")):
            pd.DataFrame({name: [1, 2]}).to_excel(book, sheet_name=title, index=False)
    app = upload(open_page(PAGE), "book.xlsx", buffer.getvalue())
    app.text_input(key="data:sheet").set_value(typed)
    next(button for button in app.button if button.label == "Read it again").click().run()

    assert list(workspace.table().frame) == [column]


def test_a_sheet_that_does_not_exist_is_named(open_page, workspace):
    buffer = io.BytesIO()
    write_table(pd.DataFrame({"a": [1, 2]}), buffer, format="excel")
    app = upload(open_page(PAGE), "book.xlsx", buffer.getvalue())
    app.text_input(key="data:sheet").set_value("²")
    next(button for button in app.button if button.label == "Read it again").click().run()

    assert not app.exception
    assert "no sheet '²'" in notices(app)[-1][1]


def zip_bomb():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 10_000_000)
    return buffer.getvalue()


REFUSED = {
    "empty": ("t.csv", b"", "it has no bytes. Look into the file"),
    "blank lines": ("t.csv", b"\n\n\n", "only blank lines"),
    "no rows": ("t.csv", b"a,b,c\n", "no rows below it"),
    "rows of other lengths": ("t.csv", b"a,b\n1,2,3\n", "choose another separator under"),
    "zip bomb as csv": ("t.csv", zip_bomb(), "give it the right ending"),
    "zip bomb as xlsx": ("t.xlsx", zip_bomb(), "not an Excel workbook"),
    "no parquet": ("t.parquet", b"hello", "damaged, incomplete or of another format"),
    "broken json": ("t.jsonl", b'{"a": 1}\n{oops\n', "Line 2"),
    "a picture": ("t.csv", b"\x89PNG\r\n\x1a\n" + bytes(50), "PNG image"),
    "a program": ("t.exe", b"MZ\x00\x01\x02" * 20, "NUL byte"),
    "old excel": ("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "Save it as .xlsx"),
    "markup as name": ("<b>*t*</b>.csv", b"", "b>.csv' is empty"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_table_is_refused_in_a_sentence(open_page, fill, patients, case):
    name, content, sentence = REFUSED[case]
    own = fill(patients, name="before.csv")
    before = own.table_state()
    app = open_page(PAGE)

    upload(app, name, content)

    assert not app.exception
    said = dict(notices(app))["error"]
    assert sentence in said
    assert said.endswith("before.csv stays open.")
    assert own.table_state() == before
    assert app.dataframe[0].value.shape == patients.shape


@pytest.mark.parametrize(
    "limits",
    [
        ReadingLimits(max_rows=2),
        ReadingLimits(max_bytes=10),
        ReadingLimits(max_columns=1),
        ReadingLimits(max_cells=3),
    ],
)
def test_what_is_too_large_is_refused_before_it_is_read(
    open_page, fill, patients, monkeypatch, limits
):
    monkeypatch.setattr(upload_limits, "table_limits", lambda: limits)
    own = fill(patients, name="before.csv")
    app = open_page(PAGE)

    upload(app, "large.csv", b"a,b\n1,2\n3,4\n5,6\n")

    assert "more than the limit" in dict(notices(app))["error"]
    assert own.table_state().name == "before.csv"


ODD = {
    "one column": ("a\n1\n2\n3\n", "There is only one column"),
    "all missing": ("a,b\nNA,\n,NA\n", "`a` and `b` are empty"),
    "nothing to learn": ("a,b\nNA,\n,NA\n", "no column to learn from"),
    "constant": ("a,b\n1,x\n1,y\n1,z\n", "`a` is constant"),
    "repeated names": ("a,a,b\n1,2,3\n4,5,6\n", "2 rows and 3 columns"),
    "mixed types": ("a,b\n1,x\ntwo,y\n3.5,z\n", "3 rows and 2 columns"),
    "very many labels": (
        "label,v\n" + "".join(f"k{i % 140},{i % 5}\n" for i in range(300)),
        "`label` has more than 100 labels",
    ),
    "dates": ("d,v\n2024-01-05,1\n2024-02-07,2\n,3\n", "1 of 2 columns has missing values"),
    "yes and no": ("f,v\ntrue,1\nfalse,2\n,3\n", "1 of 2 columns has missing values"),
    "infinite": ("x,y\ninf,1\n-inf,2\n1.5,3\n", "`x` holds infinite numbers"),
    "one row": ("a,b\n1,2\n", "can hardly learn"),
}


@pytest.mark.parametrize("case", ODD)
def test_an_odd_table_is_shown_with_a_word_about_it(open_page, workspace, case):
    content, sentence = ODD[case]
    app = open_page(PAGE)

    upload(app, "odd.csv", content.encode())

    assert not app.exception
    assert not app.error
    assert workspace.table_state().name == "odd.csv"
    assert sentence in words(app)


def test_cells_of_mixed_types_are_shown_and_flagged(open_page, fill):
    fill(pd.DataFrame({"a": pd.Series([1, "two", 3.5, None], dtype=object), "b": [1, 2, 3, 4]}))

    app = open_page(PAGE)

    assert not app.exception
    assert "`a` mixes types of cells" in words(app)
    assert app.data_editor[0].value["Remarks"].tolist() == ["mixed types of cells", ""]


def test_what_was_assumed_is_said(open_page, workspace):
    app = open_page(PAGE)

    upload(app, "latin.csv", "a,a\nMüller,1\nJosé,2\n".encode("latin-1"))

    warned = [sentence for kind, sentence in notices(app) if kind == "warning"]
    assert any("is not UTF-8 and was read as cp1252" in sentence for sentence in warned)
    assert any("'a' to 'a.1'" in sentence for sentence in warned)
    assert list(workspace.table().frame) == ["a", "a.1"]


def test_a_failure_that_nobody_foresaw_is_no_traceback(open_page, fill, patients, monkeypatch):
    own = fill(patients, name="before.csv")
    app = open_page(PAGE)

    def fail(*args, **kwargs):
        raise RuntimeError("internal detail")

    monkeypatch.setattr(uploads, "ReadingProcess", fail)
    upload(app, "t.csv", b"a,b\n1,2\n")

    assert not app.exception
    said = dict(notices(app))
    assert "This part of the page failed" in said["error"]
    assert "internal" not in said["error"]
    assert own.table_state().name == "before.csv"


# Roles


def test_roles_are_edited_and_undone(open_page, fill, patients, edit):
    own = fill(patients)
    app = open_page(PAGE)

    app = edit(app, "data:roles", {1: {"Role": "categorical"}, 3: {"Role": "ignored"}})

    assert own.table().schema.role("age") is Role.CATEGORICAL
    assert own.table().schema.role("score") is Role.IGNORED
    app.button(key="data:undo").click().run()
    assert not app.exception
    assert ("success", "Undone: age → categorical, score → ignored") in notices(app)
    assert own.table().schema.role("age") is Role.NUMERICAL
    assert app.data_editor[0].value["Role"].tolist()[1] == "numerical"


def test_a_role_that_does_not_fit_is_refused_in_a_sentence(open_page, fill, patients, edit):
    own = fill(patients)
    app = open_page(PAGE)

    app = edit(app, "data:roles", {2: {"Role": "numerical"}})

    assert not app.exception
    assert "'town'" in dict(notices(app))["error"]
    assert own.table().schema.role("town") is Role.CATEGORICAL
    assert app.data_editor[0].value["Role"].tolist()[2] == "categorical"


def test_a_role_that_is_changed_back_is_kept(open_page, fill, patients, edit):
    """The browser does not send a cell that has its first value again."""
    own = fill(patients)
    app = edit(open_page(PAGE), "data:roles", {1: {"Role": "ignored"}, 3: {"Role": "ignored"}})

    app = edit(app, "data:roles", {3: {"Role": "ignored"}})

    assert not app.exception
    assert own.table().schema.role("age") is Role.NUMERICAL
    assert own.table().schema.role("score") is Role.IGNORED


def test_a_role_that_does_not_fit_holds_up_no_other_edit(open_page, fill, patients, edit):
    """Quick edits arrive together: the browser sends them while the page is still drawn."""
    own = fill(patients)
    app = open_page(PAGE)

    app = edit(
        app,
        "data:roles",
        {1: {"Role": "ignored"}, 2: {"Role": "numerical"}, 3: {"Role": "categorical"}},
    )

    assert not app.exception
    assert "'town'" in dict(notices(app))["error"]
    assert dict(own.table_state().roles) == {"age": "ignored", "score": "categorical"}
    assert app.data_editor[0].value["Role"].tolist()[1:] == ["ignored", *["categorical"] * 2]


@pytest.fixture
def coded():
    """Return a table with three columns that look like codes, and one that may be either."""
    n = 60
    return pd.DataFrame(
        {
            "zip": [(10115, 20095, 50667)[i % 3] for i in range(n)],
            "region": [(11, 12, 15)[i % 3] for i in range(n)],
            "arm": [(3, 7, 9)[i % 3] for i in range(n)],
            "stage": [1 + i % 4 for i in range(n)],
            "x": [0.5 * i for i in range(n)],
        }
    )


def test_columns_that_look_like_codes_become_categories_at_once(open_page, fill, coded):
    own = fill(coded)
    app = open_page(PAGE)
    assert "3 columns look like codes (`zip`, `region` and `arm`): make them categories?" in words(
        app
    )

    app.button(key="data:yes:all categorical").click().run()

    assert not app.exception
    assert dict(own.table_state().roles) == dict.fromkeys(("zip", "region", "arm"), "categorical")
    assert app.data_editor[0].value["Role"].tolist()[:3] == ["categorical"] * 3
    assert "look like codes" not in words(app)
    app.button(key="data:undo").click().run()
    assert own.table_state().roles == {}
    assert "3 columns look like codes" in words(app)


def test_columns_that_look_like_codes_are_decided_one_by_one(open_page, fill, coded):
    own = fill(coded)
    app = open_page(PAGE)

    app.button(key="data:yes:role zip").click().run()
    app.button(key="data:no:role region").click().run()

    assert dict(own.table_state().roles) == {"zip": "categorical"}
    said = words(app)
    assert '`arm` holds whole numbers, and its name ends with "arm": a category?' in said
    assert "`zip`" not in said
    assert "`region`" not in said


def test_codes_kept_as_they_are_are_not_asked_about_again(open_page, fill, coded, restart_server):
    own = fill(coded)
    app = open_page(PAGE)

    app.button(key="data:no:all categorical").click().run()
    app.button(key="data:no:role stage").click().run()

    assert own.table_state().roles == {}
    assert not [button for button in app.button if button.key.startswith("data:yes")]
    restart_server()
    assert "codes" not in words(open_page(PAGE)).replace("codes for", "")
    own.save_table(coded.head(50), name="another.csv", source="a test")
    assert "3 columns look like codes" in words(open_page(PAGE))


def test_whole_numbers_read_as_codes_can_be_amounts(open_page, fill, coded):
    own = fill(coded)
    app = open_page(PAGE)
    assert own.table().schema.role("stage") is Role.CATEGORICAL
    assert "`stage` holds few whole numbers: codes or amounts?" in words(app)

    app.button(key="data:yes:role stage").click().run()

    assert own.table().schema.role("stage") is Role.NUMERICAL
    assert "codes or amounts?" not in words(app)


def test_a_role_that_its_user_chose_raises_no_question(open_page, fill, coded, edit):
    fill(coded)

    app = edit(open_page(PAGE), "data:roles", {1: {"Role": "ignored"}, 3: {"Role": "numerical"}})

    assert "`region`" not in words(app)
    assert "`stage`" not in words(app)


# Limits and derived columns


def test_limits_and_expressions_are_edited_and_undone(open_page, fill, patients, edit):
    own = fill(patients.assign(double=2.0 * patients["age"]))
    app = open_page(PAGE)
    assert app.data_editor[2].value["Column"].tolist() == ["patient_id", "age", "score", "double"]

    app = edit(app, "data:rules", {1: {"Lower limit": 0, "Whole numbers": "yes"}})
    app = edit(
        app,
        "data:rules",
        {1: {"Lower limit": 0, "Whole numbers": "yes"}, 3: {"Computed as": "age * 3"}},
    )

    assert not app.exception
    rules = {"age": {"lower": 0.0, "whole": True}, "double": {"derived": "age * 3"}}
    assert own.table().schema.rules == rules
    said = words(app).replace("\\", "")
    assert "3 observed values of 'age' lie outside its limits (at least 0)" in said
    assert "In 30 of 30 rows, 'double' differs from age * 3 by more than rounding" in said
    app.button(key="data:undo").click().run()
    assert own.table().schema.rules == {"age": rules["age"]}
    assert app.data_editor[2].value["Lower limit"].tolist()[1] == 0
    assert app.data_editor[2].value["Computed as"].isna().all()


@pytest.mark.parametrize(
    ("row", "cells", "sentence"),
    [
        (2, {"Computed as": "2 * open(x)"}, "`open` is not a function"),
        (2, {"Computed as": "score + 1"}, "depends on itself"),
        (2, {"Lower limit": 3, "Upper limit": 1}, "The lower limit 3 of column 'score'"),
        (0, {"Lower limit": 3}, "'patient_id' has the role identifier"),
    ],
)
def test_rules_that_cannot_hold_are_refused_in_a_sentence(
    open_page, fill, patients, edit, row, cells, sentence
):
    own = fill(patients)
    app = edit(open_page(PAGE), "data:rules", {row: cells})

    assert not app.exception
    assert sentence in dict(notices(app))["error"]
    assert not own.table().schema.rules
    assert app.data_editor[2].value["Computed as"].isna().all()


# Values that stand for missing ones


def test_suggestions_are_accepted_and_undone(open_page, fill, patients):
    own = fill(patients)
    app = open_page(PAGE)
    assert "`-999` appears in 3 cells of `age`: missing?" in words(app)

    app.button(key="data:yes:missing age -999").click().run()
    app.button(key="data:yes:missing town ?").click().run()

    assert not app.exception
    assert own.table().frame[["age", "town"]].isna().sum().tolist() == [3, 5]
    assert app.data_editor[1].value["Missing"].tolist() == [True, True]
    assert "usual code" in app.data_editor[1].value["Why"].tolist()[0]
    assert "missing?" not in words(app)
    app.button(key="data:undo").click().run()
    assert ("success", "Undone: declare ? in town missing") in notices(app)
    assert own.table().frame[["age", "town"]].isna().sum().tolist() == [3, 0]
    assert "`?` appears in 5 cells of `town`: missing?" in words(app)


def test_many_suggestions_are_accepted_at_once(open_page, fill, patients):
    own = fill(patients.assign(height=patients["age"], city=patients["town"]))
    app = open_page(PAGE)
    assert "4 values in 4 columns may mean missing, such as `-999` in `age`" in words(app)

    app.button(key="data:yes:all missing").click().run()

    assert set(own.table().sentinels) == {"age", "town", "height", "city"}
    app.button(key="data:undo").click().run()
    assert own.table().sentinels == {}


def test_a_declined_suggestion_is_not_asked_about_again(open_page, fill, patients, restart_server):
    own = fill(patients)
    app = open_page(PAGE)

    app.button(key="data:no:missing age -999").click().run()

    assert "of `age`: missing?" not in words(app)
    restart_server()
    again = open_page(PAGE)
    assert "of `age`: missing?" not in words(again)
    assert "of `town`: missing?" in words(again)
    assert again.data_editor[1].value["Value"].tolist() == ["-999", "?"]
    assert own.table().sentinels == {}


def test_one_value_is_ticked_and_unticked(open_page, fill, patients, edit):
    own = fill(patients)
    app = open_page(PAGE)

    app = edit(app, "data:sentinels", {1: {"Missing": True}})
    assert own.table().sentinels == {"town": ("?",)}

    app = edit(app, "data:sentinels", {})  # the browser does not send the first value again
    assert own.table().sentinels == {}


def test_quick_ticks_are_all_kept(open_page, fill, patients, edit):
    """The second one is sent by the editor that the browser shows, before it hears of a new one."""
    own = fill(patients)
    app = open_page(PAGE)
    (shown,) = [table for table in app.data_editor if table.key.startswith("data:sentinels")]

    app = edit(app, "data:sentinels", {0: {"Missing": True}})
    app = edit(app, "data:sentinels", {0: {"Missing": True}, 1: {"Missing": True}}, sender=shown)

    assert own.table().sentinels == {"age": (-999,), "town": ("?",)}
    app.button(key="data:undo").click().run()
    assert own.table().sentinels == {"age": (-999,)}


def submit_value(app, value, column=None):
    app.text_input(key="data:other_value").set_value(value)
    if column:
        app.selectbox(key="data:other_column").select(column)
    return app.button(key="FormSubmitter:data:other-Declare missing").click().run()


def test_a_value_of_the_user_s_own_is_declared(open_page, fill, patients):
    own = fill(patients)
    app = open_page(PAGE)

    submit_value(app, "Ulm")

    assert own.table().sentinels == {"town": ("Ulm",)}
    assert "You declared it." in app.data_editor[1].value["Why"].tolist()


def test_a_value_that_no_cell_holds_changes_nothing(open_page, fill, patients):
    own = fill(patients)
    app = open_page(PAGE)

    submit_value(app, "nowhere", "town")
    assert ("warning", "`town` does not contain `nowhere`; nothing changed.") in notices(app)
    submit_value(app, "   ")
    assert any("Type the value first" in sentence for _, sentence in notices(app))

    assert own.table().sentinels == {}


# Users and servers


def test_two_users_do_not_see_each_other_s_tables(open_page, fill, patients, workspace):
    fill(patients, name="secret.csv")
    app = open_page(PAGE)
    app.session_state[session.TOKEN_KEY] = Workspace.create().token

    app.run()

    assert "secret" not in words(app)
    assert app.dataframe[0].value.shape == load_dataset(session.FIRST_SAMPLE).frame.shape


def test_a_restarted_server_finds_everything(open_page, patients, restart_server):
    app = open_page(PAGE)
    upload(app, "mine.csv", csv(patients))
    app.button(key="data:yes:missing age -999").click().run()
    app.button(key="data:yes:missing town ?").click().run()
    restart_server()

    again = open_page(PAGE)

    assert "mine\\.csv" in words(again)
    assert again.data_editor[1].value["Missing"].tolist() == [True, True]


def test_the_page_needs_neither_torch_nor_matplotlib():
    code = (
        "import runpy, sys\n"
        "sys.modules['torch'] = sys.modules['sklearn'] = None\n"
        "from streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file('pages/data.py', default_timeout=60).run()\n"
        "assert not app.exception and not app.error, (app.exception, app.error)\n"
        "assert not {'matplotlib', 'missingno', 'scipy.stats'} & set(sys.modules)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_the_order_of_levels_is_declared_on_the_page(fill, open_page, workspace):
    fill(pd.DataFrame({"size": ["S", "M", "L", None] * 10, "x": range(40)}))
    app = open_page(PAGE)
    assert "alphabetical order" in words(app)
    (order,) = [box for box in app.text_input if box.label == "From the lowest to the highest"]

    order.set_value("S < L").run()
    app.button("data:levels:use").click().run()
    assert any(kind == "error" and "M" in said for kind, said in notices(app))
    (order,) = [box for box in app.text_input if box.label == "From the lowest to the highest"]
    order.set_value("S < M < L").run()
    app.button("data:levels:use").click().run()

    assert not app.exception
    assert workspace.table().schema.role("size") is Role.ORDINAL


def test_a_number_with_two_readings_is_asked_about_and_one_click_reads_it_otherwise(
    open_page, workspace
):
    app = upload(open_page(PAGE), "prices.csv", b"price;name\n1,234;x\n2,345;y\n1,111;z\n")
    assert "`1,234` in `price` can be read in two ways" in words(app)
    labels = {button.key: button.label for button in app.button}
    assert labels["data:numbers:taken"] == "1.234 (decimals)"
    assert labels["data:numbers:other"] == "1234 (thousands)"

    app.button(key="data:numbers:other").click().run()

    assert workspace.table().frame["price"].tolist() == [1234, 2345, 1111]
    assert "two ways" not in words(app)


def test_the_reading_that_was_taken_is_kept_with_one_click(open_page, workspace):
    app = upload(open_page(PAGE), "prices.csv", b"price;name\n1,234;x\n2,345;y\n")
    app.button(key="data:numbers:taken").click().run()
    assert workspace.table().frame["price"].tolist() == [1.234, 2.345]
    assert "two ways" not in words(app)


# Storage


STORAGE = "data:storage"


def open_storage(app):
    app.session_state[STORAGE] = True
    return app.run()


def test_the_storage_is_measured_when_somebody_asks(open_page, fill, patients, monkeypatch):
    fill(patients)
    app = open_page(PAGE)
    assert "on this server" not in words(app)
    monkeypatch.setenv("PMAE_WORKSPACE_MB", "100")

    app = open_storage(app)

    assert "take 0.1 MB on this server (limit: 100 MB). You have 0 runs (limit: 500)." in words(app)
    assert "when you have not opened the studio for 30 days" in words(app)


def test_without_limits_none_is_named(open_page, fill, patients, monkeypatch):
    fill(patients)
    for variable in ("PMAE_WORKSPACE_MB", "PMAE_WORKSPACE_RUNS", "PMAE_WORKSPACE_DAYS"):
        monkeypatch.setenv(variable, "0")

    said = words(open_storage(open_page(PAGE)))

    assert "limit:" not in said
    assert "have not opened" not in said


def test_everything_of_mine_is_deleted_and_a_new_workspace_begins(
    open_app, fill, patients, add_job, store, tmp_path
):
    own = fill(patients, name="Xq7patients.csv")
    add_job("impute", {"method": "naive"}, "succeeded")
    add_job("impute", {"method": "naive"}, "running")
    app = open_storage(open_app())

    app.button(key="data:delete_everything").click().run()

    assert not app.exception
    (said,) = [info.value for info in app.info if "workspace" in info.value]
    assert said == "Deleted: 1 table, 2 runs and all your settings. You have a new workspace."
    assert not own.folder.exists()
    assert store.count() == 0
    token = app.session_state[session.TOKEN_KEY]
    assert token != own.token
    assert Workspace.open(token).table_state().name == session.FIRST_SAMPLE
    assert "no longer exists" not in words(app), "it was deleted on purpose"
    assert b"Xq7patients" not in b"".join(
        path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    )


def test_who_came_by_a_link_goes_back_to_the_previous_workspace(open_app, workspace):
    own = Workspace.create()
    app = open_app()
    app.session_state["_previous_workspace_token"] = own.token

    open_storage(app).button(key="data:delete_everything").click().run()

    assert app.session_state[session.TOKEN_KEY] == own.token
    assert not workspace.folder.exists()


def test_ended_runs_are_removed(open_app, fill, patients, add_job, store):
    fill(patients)
    add_job("impute", {"method": "naive"}, "succeeded")
    waiting = add_job("impute", {"method": "naive"})

    app = open_storage(open_app()).button(key="data:remove_ended").click().run()

    assert [toast.value for toast in app.toast] == ["Removed 1 run."]
    assert [record.id for record in store.jobs()] == [waiting.id]


def test_an_upload_beyond_the_limit_is_refused_and_the_table_stays(
    open_page, fill, patients, monkeypatch
):
    own = fill(patients, name="mine.csv")
    monkeypatch.setenv("PMAE_WORKSPACE_MB", "0.000001")

    app = upload(open_page(PAGE), "more.csv", b"a,b\n1,2\n")

    ((kind, sentence),) = notices(app)
    assert kind == "error"
    assert "too little room to upload this file. Remove runs that you no longer need" in sentence
    assert own.table_state().name == "mine.csv"
