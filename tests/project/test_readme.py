"""What the README shows works."""

import json
import re

from tests.support.markdown import blocks, broken_links, prose
from tests.support.paths import ROOT
from tools import readme

README = ROOT / "README.md"


def test_the_example_pools_a_regression_with_complete_cases_beside(capsys):
    (example,) = blocks(README, "python")
    names = {}
    exec(compile(example.text, "README.md", "exec"), names)
    pooled, _, complete = capsys.readouterr().out.partition("Complete cases")
    assert re.search(r"^log\(copper\) +\d", pooled, re.MULTILINE)
    assert re.search(r"^log\(copper\) +\d", complete, re.MULTILINE)
    assert names["imputed"].notna().all(axis=None)


def test_there_is_an_example_of_ten_lines_at_most():
    (example,) = blocks(README, "python")
    assert len([line for line in example.text.splitlines() if line]) <= 10


def test_make_commands_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE))
    text = README.read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|^)make ([a-z]+)", text, flags=re.MULTILINE))
    assert {"run", "test", "docs"} <= named <= targets


def test_links_lead_somewhere():
    assert "](" in prose(README)
    assert broken_links(README) == []


# What was measured


def test_what_was_measured_is_what_the_results_say():
    text = README.read_text(encoding="utf-8")
    assert readme.PART.search(text)
    assert readme.updated(text) == text, "Write it again: python -m tools.readme"


def test_other_results_give_other_words(tmp_path):
    for name in ("blend", "coverage", "peers"):
        content = (readme.RESULTS / f"{name}.json").read_text(encoding="utf-8")
        (tmp_path / f"{name}.json").write_text(content, encoding="utf-8")
    blend = json.loads((tmp_path / "blend.json").read_text(encoding="utf-8"))
    blend["parts"]["report"]["mean_accuracy"]["pmae"] = 12.34
    (tmp_path / "blend.json").write_text(json.dumps(blend), encoding="utf-8")

    changed = readme.updated("<!-- measured: accuracy -->\nold\n<!-- end -->", tmp_path)

    assert "`pmae` 12.3 (" in changed
    assert "old" not in changed


def test_a_method_that_imputed_few_of_the_simulated_tables_shows_no_coverage(tmp_path):
    figures = {"mean_coverage": 0.9, "lowest_coverage": 0.8}
    designs = {
        design: {
            "em": {**figures, "replications": 200},
            "pmae": {**figures, "replications": 78},
        }
        for design in readme.DESIGNS
    }
    one = {"mean_accuracy_x100": 40.0, "mean_cpu_seconds": 1.0, "mean_peak_megabytes": 100.0}
    none = dict.fromkeys(one)
    methods = [
        {"method": "em", **one},
        {"method": "pmae", **one, "mean_peak_megabytes": None},
        {"method": "gcimpute", **none},
    ]
    peers = {"summary": {"shared": [{"table": "a", "seed": 0}], "methods": methods}}
    (tmp_path / "coverage.json").write_text(json.dumps({"designs": designs}), encoding="utf-8")
    (tmp_path / "peers.json").write_text(json.dumps(peers), encoding="utf-8")

    table = readme.peers(tmp_path)

    assert "| `em` | 40.0 | 90.0% | 90.0% | 1.0 | 100 |" in table
    assert "| `pmae` | 40.0 |  |  | 1.0 |  |" in table
    assert "gcimpute" not in table
