"""The example notebooks run from top to bottom, and are committed without outputs.

Outputs would change with every version and hide what a reader's own run says.
"""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.project.test_words import findings
from tests.support.paths import ROOT
from tests.support.wording import Text

NOTEBOOKS = sorted((ROOT / "docs" / "examples").glob("*.ipynb"))
FIGURE = "application/vnd.plotly.v1+json"


def name_of(path: Path) -> str:
    return path.stem


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def leftovers(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the cells with something of a run in them."""
    return [
        cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count or cell.metadata)
    ]


def run(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """Run a notebook in a new kernel that takes the library from here."""
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder / "ipython")}
    client.execute(env=environment)
    return notebook


def shown(notebook: nbformat.NotebookNode, call: str) -> dict:
    """Return what the cell with this call shows last, by media type."""
    (cell,) = [cell for cell in notebook.cells if cell.cell_type == "code" and call in cell.source]
    return cell.outputs[-1].data


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    path = ROOT / "docs" / "examples" / "cirrhosis.ipynb"
    return run(read(path), tmp_path_factory.mktemp("notebook"))


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_notebooks_are_valid_and_have_no_outputs(path):
    notebook = read(path)

    nbformat.validate(notebook)
    assert leftovers(notebook) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_notebooks_use_the_words_of_the_project(path):
    texts = [
        Text(number, cell.source)
        for number, cell in enumerate(read(path).cells, start=1)
        if cell.cell_type == "markdown"
    ]
    assert texts
    assert findings(path, texts) == []


def test_outputs_are_noticed():
    cell = nbformat.v4.new_code_cell("1 + 1", execution_count=1)

    assert leftovers(nbformat.v4.new_notebook(cells=[cell])) == ["1 + 1"]


@pytest.mark.slow
@pytest.mark.timeout(900)
class TestCirrhosis:
    """The notebook runs, and its cells show what they promise."""

    def test_no_cell_writes_an_error_or_a_warning(self, executed):
        streams = [
            output.text
            for cell in executed.cells
            for output in cell.get("outputs", ())
            if output.output_type == "stream" and output.name == "stderr"
        ]
        assert streams == []

    def test_results_show_themselves(self, executed):
        summary = shown(executed, "summarize_missingness(table)")
        comparison = shown(executed, "comparison = compare(")

        assert "1,033 cells" in summary["text/html"]
        assert "drug and 5 others are missing in the same 106 rows" in summary["text/plain"]
        assert "4 methods compared over 3 seeds" in comparison["text/html"]

    def test_every_figure_is_drawn(self, executed):
        calls = [
            cell.source
            for cell in executed.cells
            if cell.cell_type == "code" and cell.source.startswith("plots.")
        ]
        assert len(calls) == 6
        assert all(FIGURE in shown(executed, call) for call in calls)

    def test_bars_end_with_the_time_that_the_work_took(self, executed):
        bars = [
            output.data["text/plain"]
            for cell in executed.cells
            for output in cell.get("outputs", ())
            if output.output_type == "display_data" and FIGURE not in output.data
        ]
        titles = [bar.split(":")[0] for bar in bars]
        assert titles == ["Comparing", "Fitting", "Imputing"]
        assert all(", done in " in bar for bar in bars)
        assert "12 of 12 runs" in bars[0] and "20 of 20 imputations" in bars[2]

    def test_the_analysis_is_pooled(self, executed):
        (cell,) = [cell for cell in executed.cells if "analyze(\n" in cell.source]

        assert "pooled over 20 imputations" in cell.outputs[0].text
