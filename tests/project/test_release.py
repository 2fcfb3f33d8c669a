"""What a repository needs besides its code says the same as the code."""

import re

import yaml

import pmae_core
from tests.support.paths import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def read_yaml(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_the_citation_names_this_version_and_the_paper():
    citation = read_yaml("CITATION.cff")

    assert citation["version"] == pmae_core.__version__
    assert f"## [{citation['version']}] - {citation['date-released']}\n" in CHANGELOG
    (paper,) = citation["references"]
    assert paper["title"].startswith("To Predict or Not To Predict?")
    assert [author["family-names"] for author in paper["authors"]] == ["Kim", "Lee", "Park"]


def test_the_workflow_runs_what_continuous_integration_runs():
    (job,) = read_yaml(".github/workflows/ci.yml")["jobs"].values()

    *prepares, runs = job["steps"]
    assert runs == {"run": "bash .ci/run"}
    assert all("run" not in step for step in prepares)


def test_links_of_the_security_policy_lead_somewhere():
    links = re.findall(r"\]\((docs/[\w-]+\.md)#([\w-]+)\)", (ROOT / "SECURITY.md").read_text())

    assert links
    for path, heading in links:
        titles = re.findall(r"^#+ (.+)$", (ROOT / path).read_text(encoding="utf-8"), flags=re.M)
        assert heading in {title.lower().replace(" ", "-") for title in titles}
