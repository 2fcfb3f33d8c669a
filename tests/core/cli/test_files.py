"""Tables that commands write."""

import pytest

from pmae_core.table import read_table, write_table
from tests.support.shell import one_line, run


def test_outputs_are_checked_before_the_input_is_read(tmp_path):
    there = tmp_path / "there.csv"
    there.write_text("precious")
    nowhere = tmp_path / "no" / "folder.csv"
    for outputs, reason in (
        (["-o", there], "Use --force"),
        (["-o", tmp_path / "o.csv", "--mask-out", there], "Use --force"),
        (["-o", tmp_path / "o.csv", "--save-model", there], "Use --force"),
        (["-o", nowhere], "does not exist"),
        (["-o", tmp_path / "o.pickle"], "ending"),
        (["-o", tmp_path / "o.xls"], "ending"),
        (["-o", tmp_path / "o.csv", "--mask-out", tmp_path / "o.csv"], "two outputs"),
    ):
        result = run("impute", tmp_path / "unread.csv", *outputs, code=1)
        assert reason in one_line(result.stderr)
    assert there.read_text() == "precious"


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "feather", "jsonl"])
def test_every_format_goes_in_and_out(complete, tmp_path, ending):
    write_table(complete, tmp_path / f"complete.{ending}")
    output = tmp_path / f"incomplete.{ending}"
    run("ampute", tmp_path / f"complete.{ending}", "-o", output)
    assert read_table(output).isna().any(axis=None)
