import re
from dataclasses import replace

from dashboard.paper.claims_html import claims_html
from pmae_core.replication import JudgedClaim, Verdict, judge_claims
from pmae_core.replication.claims import CLAIMS
from tests.support.paper_results import made_up_rows
from tests.support.paths import ROOT


def test_a_verdict_is_a_word_and_has_a_mark_of_its_own():
    page = claims_html(judge_claims({}))
    assert page.count("<details>") == len(CLAIMS)
    assert page.count('<span class="verdict not-tested">Not tested</span>') == len(CLAIMS)
    style = (ROOT / "dashboard" / "paper" / "claims.css").read_text(encoding="utf-8")
    marks = {
        re.search(rf"\.{verdict.replace(' ', '-')}::before {{\s*content: (\S+);", style)[1]
        for verdict in Verdict
    }
    assert len(marks) == len(Verdict)


def test_text_stays_text():
    claim = replace(CLAIMS[0], sentence="a <b> & c", note="<script>")
    judged = replace(judge_claims({})[0], claim=claim)
    assert isinstance(judged, JudgedClaim)
    page = claims_html([judged])
    assert "a &lt;b&gt; &amp; c" in page
    assert "<script>" not in page


def test_comparisons_that_decide_come_first():
    ahead = {"em": 60, "pmae-mix": 40}
    rows = made_up_rows(
        "table2",
        lambda variant, cell, seed: ahead.get(variant.imputer, 20) + len(cell.dataset) % 3,
        seeds=2,
        methods=["naive", "em", "pmae-mix"],
    )
    judged = [one for one in judge_claims({"table2": rows}) if one.claim.name == "all-methods"]
    labels = re.findall("<tr><td>(.*?)</td><td>(.*?)</td>", claims_html(judged))
    assert labels[:3] == [
        ("PMAE-mix − EM", "Against"),
        ("PMAE-mix − Naive", "For"),
        ("PMAE-mix − KNN", "Untested"),
    ]
