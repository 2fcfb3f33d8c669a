"""What can be exported of an imputed table: one item per thing, with its formats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dashboard.export import files
from dashboard.impute.completed_tables import CompletedTable
from pmae_core.evaluation import Comparison
from pmae_core.export import ImputationFormat, MethodsText, Recipe, reproduce_script
from pmae_core.jobs.worker.recipes import TABLE_FILE
from pmae_core.jobs.worker.results import MODEL_FILE
from pmae_core.storage.checksums import checked
from pmae_core.words import count, listed

CSV = "text/csv"
EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PARQUET = "application/vnd.apache.parquet"
ZIP = "application/zip"
BYTES = "application/octet-stream"

# The programs that imputations are written for, by the name of their format.
PROGRAMS: dict[str, ImputationFormat] = {"R": "mice", "Stata": "stata", "Python": "bundle"}
PROGRAM_FILES: dict[ImputationFormat, tuple[str, str]] = {
    "mice": (CSV, "A long CSV file with .imp and .id, which mice::as.mids reads."),
    "stata": (BYTES, "A .dta file, which mi import flong reads."),
    "bundle": (ZIP, "Parquet tables that keep all column types, with settings and seed."),
}


@dataclass(frozen=True)
class ExportFile:
    """One format of an item.

    Attributes
    ----------
    label : str
        The format, such as "CSV".
    name, mime : str
        Of the downloaded file.
    content : callable
        Makes the file when it is asked for.
    help : str
        What the format is for.
    objection : str, optional
        Why this table cannot be had in the format.
    """

    label: str
    name: str
    mime: str
    content: Callable[[], bytes | str]
    help: str
    objection: str | None = None


@dataclass(frozen=True)
class ExportItem:
    """A thing to export: its title, its noun in sentences, a line about it, and its formats."""

    key: str
    title: str
    noun: str
    about: str
    formats: tuple[ExportFile, ...]


def table_items(completed: CompletedTable, how: Recipe, *, is_escaped: bool) -> list[ExportItem]:
    """Return the imputed table and its mask, which there are for every method."""
    return [_table(completed, how, is_escaped), _mask(completed)]


def all_items(
    completed: CompletedTable,
    how: Recipe,
    comparison: Comparison | None,
    text: MethodsText,
    *,
    is_escaped: bool,
) -> list[ExportItem]:
    """Return all there is to export, what most people want first.

    Parameters
    ----------
    completed : CompletedTable
        The imputed table.
    how : Recipe
        How it was made.
    comparison : Comparison or None
        Of methods on the table.
    text : MethodsText
        The paragraph for a paper.
    is_escaped : bool
        Whether CSV files are safe for spreadsheets.
    """
    table, mask = table_items(completed, how, is_escaped=is_escaped)
    return [
        table,
        *([_imputations(completed, how)] if completed.n_imputations else []),
        _script(completed, how),
        _methods(text),
        mask,
        *_model(completed),
        _everything(completed, how, comparison, is_escaped),
    ]


def script_recipe(how: Recipe) -> Recipe:
    """Return the recipe that the script follows: its table no longer has sentinels."""
    return replace(how, sentinels=())


def _table(completed: CompletedTable, how: Recipe, is_escaped: bool) -> ExportItem:
    stem = f"{files.stem_of(completed)}-imputed"
    n_rows, n_columns = completed.imputed_frame.shape
    return ExportItem(
        "table",
        "Imputed table",
        "table",
        f"{count(n_rows, 'row')}, {count(n_columns, 'column')}, one value per missing cell.",
        (
            ExportFile(
                "CSV",
                f"{stem}.csv",
                CSV,
                lambda: files.csv_file(completed, escaped=is_escaped),
                "For every program.",
            ),
            ExportFile(
                "Excel",
                f"{stem}.xlsx",
                EXCEL,
                lambda: files.excel_file(completed, how),
                "Imputed cells are green; a second sheet explains it.",
                files.excel_objection(completed),
            ),
            ExportFile(
                "Parquet",
                f"{stem}.parquet",
                PARQUET,
                lambda: files.parquet_file(completed),
                "Keeps all column types; for Python and R.",
            ),
        ),
    )


def _mask(completed: CompletedTable) -> ExportItem:
    stem = f"{files.stem_of(completed)}-was-imputed"
    return ExportItem(
        "mask",
        "Mask",
        "mask",
        "A table of the same shape: true where a cell was imputed.",
        tuple(
            ExportFile(
                label,
                f"{stem}.{ending}",
                mime,
                lambda ending=ending: files.mask_file(completed, ending),
                "True where a cell was imputed.",
            )
            for label, ending, mime in (("CSV", "csv", CSV), ("Parquet", "parquet", PARQUET))
        ),
    )


def _imputations(completed: CompletedTable, how: Recipe) -> ExportItem:
    return ExportItem(
        "imputations",
        count(completed.n_imputations, "imputation"),
        "imputations",
        "Fit your model to each of them and pool the results.",
        tuple(
            ExportFile(
                program,
                files.imputations_name(completed, format),
                PROGRAM_FILES[format][0],
                lambda format=format: files.imputations_file(completed, how, format),
                PROGRAM_FILES[format][1],
            )
            for program, format in PROGRAMS.items()
        ),
    )


def _script(completed: CompletedTable, how: Recipe) -> ExportItem:
    needed = [TABLE_FILE, *([MODEL_FILE] if how.model is not None else [])]
    return ExportItem(
        "script",
        "Script",
        "script",
        f"Imputes the same values again; put it beside {listed(needed)}.",
        (
            ExportFile(
                "Python",
                "reproduce.py",
                "text/x-python",
                lambda: reproduce_script(script_recipe(how)),
                "Python that imputes the table again.",
            ),
            ExportFile(
                "Input table",
                TABLE_FILE,
                PARQUET,
                lambda: files.incomplete_file(completed),
                "The table with missing values, which the script reads.",
            ),
        ),
    )


def _methods(text: MethodsText) -> ExportItem:
    return ExportItem(
        "methods",
        "Methods text",
        "text",
        "A paragraph for your paper, with references and seeds.",
        (
            ExportFile("Text", "methods.txt", "text/plain", text.to_text, "Plain text."),
            ExportFile("Markdown", "methods.md", "text/plain", text.to_markdown, "Markdown."),
        ),
    )


def _model(completed: CompletedTable) -> list[ExportItem]:
    path = completed.model_file
    if path is None:
        return []
    help = "pmae_core.load_imputer reads it."

    def content() -> bytes:
        return checked(path).read_bytes()

    return [
        ExportItem(
            "model",
            "Model",
            "model",
            "Imputes other tables with the same columns.",
            (ExportFile("Safetensors", MODEL_FILE, BYTES, content, help),),
        )
    ]


def _everything(
    completed: CompletedTable, how: Recipe, comparison: Comparison | None, is_escaped: bool
) -> ExportItem:
    report = "" if comparison is None else ", and the report of your comparison"
    return ExportItem(
        "everything",
        "Everything",
        "zip",
        f"All of the above in one zip{report}.",
        (
            ExportFile(
                "Zip",
                f"{files.stem_of(completed)}-imputed.zip",
                ZIP,
                lambda: files.everything(completed, how, comparison, escaped=is_escaped),
                "Unpack it anywhere and run the script there. A large table takes a while.",
            ),
        ),
    )
