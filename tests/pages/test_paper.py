import html
import json
import re

import pytest

from pmae_core.replication import EXPERIMENTS
from pmae_core.replication.claims import CLAIMS
from tests.support.charts import chart_key
from tests.support.paper_results import write_results
from tests.support.seen import without_errors

PAGE = "paper.py"
VIEWS = {
    "All methods": "table2",
    "Masking functions": "table3",
    "Step by step": "table4",
    "a and b": "grid",
    "Mechanisms": "mechanisms",
    "Downstream": "downstream",
    "Token mixing": "mixing",
}
PRINTED_ONLY = {
    "All methods": ["paper-table2"],
    "Masking functions": ["paper-masking"],
    "Step by step": ["paper-ablation"],
    "Downstream": ["paper-downstream"],
}
SMALL = {"datasets": ["diabetes", "wine"], "patterns": ["general", "monotone"]}


def text_of(app):
    parts = (app.markdown, app.caption, app.info, app.warning, app.error)
    return "\n".join(element.value for group in parts for element in group)


def charts(app):
    return [chart_key(chart) for chart in app.get("plotly_chart")]


def figure(app, key):
    (chart,) = [
        json.loads(one.proto.spec)
        for one, name in zip(app.get("plotly_chart"), charts(app), strict=True)
        if name == key
    ]
    return chart


@pytest.fixture
def results(tmp_path, monkeypatch):
    folder = tmp_path / "results"
    monkeypatch.setenv("PMAE_RESULTS_DIR", str(folder))
    return folder


def claims_of(app):
    """Return the lines of the claims: verdict, claim and what it stands on, as one text each."""
    (section,) = [one.proto.body for one in app.get("html") if 'class="claims"' in one.proto.body]
    lines = re.findall("<summary>(.*?)</summary>(.*?)</details>", section)
    return [tuple(html.unescape(re.sub("<[^>]*>", " ", part)) for part in line) for line in lines]


@pytest.fixture
def open_view(workspace, open_page):
    def open_it(view, **settings):
        workspace.update("paper", view=view, **settings)
        return open_page(PAGE)

    return open_it


def look_into(app, tab):
    """Open a tab of the view All methods, which draws only the open one."""
    app.session_state["paper:table2"] = tab
    return app.run()


def test_every_experiment_has_a_view(open_page, results):
    app = open_page(PAGE)
    # The split before imputation stands beside the downstream task of the paper.
    assert list(VIEWS.values()) == [name for name in EXPERIMENTS if name != "downstream-split"]
    (views,) = [group for group in app.button_group if group.key == "paper:view"]
    assert views.options == list(VIEWS)


@pytest.mark.parametrize("view", VIEWS)
def test_without_results_the_page_says_what_runs_them(open_view, results, view):
    app = open_view(view)
    without_errors(app)
    assert "This experiment has not been run here yet." in app.info[0].value
    assert app.code[0].value == f"pmae benchmark {VIEWS[view]}"
    assert charts(app) == PRINTED_ONLY.get(view, [])


@pytest.mark.parametrize("view", VIEWS)
def test_with_all_results_nothing_is_missing(open_view, results, view):
    write_results(results, VIEWS[view], seeds=1)
    if view == "Downstream":
        write_results(results, "downstream-split", seeds=1)
    app = open_view(view)
    without_errors(app)
    assert not app.info
    assert charts(app)
    if view == "All methods":
        look_into(app, "Runs")
    assert "combinations of table" not in text_of(app)
    assert [code.value for code in app.code] == [f"pmae benchmark {VIEWS[view]}"]


@pytest.mark.parametrize("view", ["All methods", "Step by step", "a and b", "Mechanisms"])
def test_with_some_results_the_page_says_what_was_not_run(open_view, results, view):
    chosen = {**SMALL, "patterns": ["monotone"]} if view == "Mechanisms" else SMALL
    write_results(results, VIEWS[view], seeds=1, **chosen)
    app = open_view(view)
    if view == "All methods":
        look_into(app, "Runs")
    without_errors(app)
    assert "combinations of table, missingness and method were" in text_of(app)
    assert "None with tables" in text_of(app)
    assert "diabetes (442 rows)" in text_of(app)
    assert app.code[0].value.startswith(f"pmae benchmark {VIEWS[view]}")


def test_claims_without_results_say_what_tests_them(open_page, results):
    app = open_page(PAGE)
    lines = claims_of(app)
    assert len(lines) == len(CLAIMS)
    assert all("Not tested" in summary for summary, _ in lines)
    assert "pmae benchmark table3 --seeds 3" in lines[7][1]
    assert f"**Of {len(CLAIMS)} claims in the paper, {len(CLAIMS)} are not tested.**" in text_of(
        app
    )


def test_claims_are_judged_by_the_results(open_page, results):
    write_results(results, "table4", shift=0)
    app = open_page(PAGE)
    without_errors(app)
    summary, details = claims_of(app)[0]
    # The printed figures, nearly: PMAE-mix is ahead of ReMasker on every table.
    assert "Reproduced" in summary
    assert re.search(r"\+\d+\.\d points \(\+", summary)
    assert "9 tables, up to 10,000 rows" in summary
    assert "9 tables, 3 patterns, 2 seeds, 442 to 10,000 rows" in details
    assert "sampled down to 10,000 rows; the paper uses all rows" in details
    assert "This command tests" not in details


def test_differences_from_the_paper_are_drawn_and_explained(open_view, results):
    write_results(results, "table2", shift=0.08, **SMALL)
    app = open_view("All methods")
    assert charts(app) == ["paper-table2"]
    texts = [cell for row in figure(app, "paper-table2")["data"][0]["text"] for cell in row]
    assert any("▲" in cell for cell in texts)
    assert "within 2 points of the paper" in text_of(app)
    assert charts(look_into(app, "Spread")) == ["paper-boxes"]
    assert charts(look_into(app, "Ranks")) == ["paper-ranks"]
    text = text_of(look_into(app, "Why results differ"))
    assert "**Masks.**" in text
    assert "**MIRACLE** is" in text


def test_few_or_many_rows_can_be_chosen(open_view, results):
    two = {"datasets": ["bike", "wine"], "patterns": ["general"], "methods": ["em", "pmae-mix"]}
    write_results(results, "table2", max_rows=1000, presets=["balanced"], **two)
    write_results(results, "table2", max_rows=300, presets=["balanced", "paper"], **two)
    app = look_into(open_view("All methods"), "Runs")
    assert "1,000 of 1,599 rows" in text_of(app)
    app.button_group(key="paper:rows").set_value(300).run()
    assert "300 of 1,599 rows" in text_of(app)
    # `paper` was run on few rows only, so there is nothing to choose.
    app.button_group(key="paper:rows").set_value(1000).run()
    app.button_group(key="paper:preset").set_value("paper").run()
    assert "300 of 1,599 rows" in text_of(app)


def test_presets_of_pmae_can_be_chosen(open_view, results):
    write_results(results, "table2", presets=["balanced", "paper-steps"], **SMALL)
    app = open_view("All methods")
    assert "PMAE with the preset balanced" in text_of(app)
    app.button_group(key="paper:preset").set_value("paper-steps").run()
    assert "PMAE with the preset paper-steps" in text_of(app)
    without_errors(app)


def test_another_metric_leaves_out_tables_that_have_none(open_view, results):
    app = open_view("All methods", metric="r2")
    ticks = figure(app, "paper-table2")["layout"]["xaxis"]["ticktext"]
    assert "letter" not in ticks
    assert "wine" in ticks


def test_what_failed_has_its_reason(open_view, results):
    write_results(results, "table2", failing=["igrm"], seeds=1, **SMALL)
    app = look_into(open_view("All methods"), "Runs")
    assert any("4 runs without a result" in one.label for one in app.expander)
    assert app.dataframe[0].value["error"].unique().tolist() == ["It <b>broke</b>."]


def test_downstream_tasks_are_apart(open_view, results):
    write_results(results, "downstream", seeds=1, **SMALL)
    ticks = figure(open_view("Downstream"), "paper-downstream")["layout"]["xaxis"]["ticktext"]
    assert "diabetes" not in ticks
    app = open_view("Downstream", task="downstream_r2")
    ticks = figure(app, "paper-downstream")["layout"]["xaxis"]["ticktext"]
    assert ticks == ["diabetes", "news", "mean"]


def test_the_downstream_task_without_leakage_stands_beside_it(open_view, results):
    write_results(results, "downstream", seeds=1, **SMALL)
    app = open_view("Downstream", task="downstream_r2")
    assert "Imputers therefore see the features of the test rows" in text_of(app)
    assert any("downstream-split" in one.value for one in app.code)
    write_results(results, "downstream-split", seeds=1, shift=0.03, **SMALL)
    app = open_view("Downstream", task="downstream_r2")
    without_errors(app)
    assert "scores change by -2.0 to -2.0 points" in text_of(app)


def test_blocks_of_a_network_can_be_chosen(open_view, results):
    write_results(results, "mixing")
    app = open_view("Token mixing")
    assert charts(app) == ["paper-mixing", "paper-mixing-transformer", "paper-mixing-mixer"]
    app.button_group(key="paper:block").set_value(2).run()
    without_errors(app)
    assert "shoppers, 10,000 rows, 2 seeds" in text_of(app)


def test_new_results_are_seen_at_once(open_view, results):
    assert "This experiment has not been run here yet." in text_of(open_view("a and b"))
    write_results(results, "grid", seeds=1, **SMALL)
    assert charts(open_view("a and b")) == ["paper-grid-pmae-mix", "paper-grid-pmae-trf"]


def test_a_damaged_file_is_a_sentence(open_view, results):
    results.mkdir()
    (results / "paper_grid.json").write_text("{")
    app = open_view("a and b")
    assert not app.exception
    assert "cannot be read" in app.error[0].value


def test_the_results_that_come_with_the_clone_are_shown(open_view, monkeypatch):
    monkeypatch.delenv("PMAE_RESULTS_DIR", raising=False)
    for view in VIEWS:
        without_errors(open_view(view))
