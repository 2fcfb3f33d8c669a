"""``pmae claims``."""

import json

from tests.support.paper_results import write_results
from tests.support.shell import run


def test_claims_are_a_line_each(tmp_path):
    write_results(tmp_path, "table4", shift=0)
    result = run("claims", "--results-dir", tmp_path)
    (line,) = [one for one in result.stdout.splitlines() if "more accurate than ReMasker. " in one]
    assert "reproduced" in line
    assert "9 tables" in line
    assert "claims in the paper" in result.stdout


def test_json_has_every_comparison(tmp_path):
    write_results(tmp_path, "table4", shift=0)
    rows = json.loads(run("claims", "--results-dir", tmp_path, "--json").stdout)
    first = rows[0]
    assert (first["claim"], first["verdict"], first["n_tables"]) == ("remasker", "reproduced", 9)
    assert first["low_points"] < first["difference_points"] < first["high_points"]
    untested = [row for row in rows if row["claim"] == "logit"]
    assert {row["difference_points"] for row in untested} == {None}


def test_a_folder_that_is_not_there_is_wrong_usage(tmp_path):
    run("claims", "--results-dir", tmp_path / "nowhere", code=2)
