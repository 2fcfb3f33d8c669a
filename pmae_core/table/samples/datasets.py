"""Tables by name: samples that are always there, and the nine benchmark tables."""

from __future__ import annotations

import http.client
import os
import tempfile
import urllib.request
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Literal

import pandas as pd

from pmae_core.errors import DatasetUnavailableError, TableWarning
from pmae_core.storage.home import pmae_home
from pmae_core.table.samples.benchmark_tables import (
    BENCHMARKS,
    BenchmarkInfo,
    check_table,
    parse_download,
    typed_column,
)
from pmae_core.table.samples.cirrhosis import (
    CIRRHOSIS_DESCRIPTIONS,
    CIRRHOSIS_ROLES,
    CIRRHOSIS_STORY,
    load_cirrhosis,
)
from pmae_core.table.samples.clinic import EXPLANATIONS, make_clinic
from pmae_core.table.schema import Schema

BENCHMARK_NAMES: tuple[str, ...] = tuple(BENCHMARKS)
"""Names of the nine benchmark tables; "diabetes" is a sample, too."""

_DOWNLOAD_SECONDS = 60
_MAX_DOWNLOAD_BYTES = 100_000_000


@dataclass(frozen=True)
class DatasetInfo:
    """What is known about a table before it is loaded.

    Parameters
    ----------
    name, title
        The name to load it by, and what it is.
    kind
        "sample" (comes with the library) or "benchmark" (from a folder, the cache or UCI).
    n_rows
        Number of rows.
    target, task
        The column to predict and "regression" or "classification".
    source, license, citation
        Where it comes from.
    available
        It can be loaded without a download.
    story
        What is worth knowing about its missing values; empty if there is nothing to tell.
    """

    name: str
    title: str
    kind: Literal["sample", "benchmark"]
    n_rows: int
    target: str
    task: Literal["regression", "classification"]
    source: str
    license: str
    citation: str
    available: bool
    story: str = ""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with its roles.

    Parameters
    ----------
    name
        The name it was loaded by.
    frame
        The table, the target as last column.
    schema
        Roles of the columns.
    target, task
        The column to predict and "regression" or "classification".
    info
        Title, source, license and citation.
    truth
        The complete table, where it is known (only "clinic").
    explanations
        For incomplete columns, why cells are missing, where it is known (only "clinic").
    descriptions
        What was measured in a column, with its unit (only "cirrhosis").
    """

    name: str
    frame: pd.DataFrame
    schema: Schema
    target: str
    task: Literal["regression", "classification"]
    info: DatasetInfo
    truth: pd.DataFrame | None = None
    explanations: Mapping[str, str] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)


_DIABETES = BENCHMARKS["diabetes"]
_SAMPLES = (
    DatasetInfo(
        name="cirrhosis",
        title="Cirrhosis: patients in and beside a trial of the Mayo Clinic",
        kind="sample",
        n_rows=418,
        target="status",
        task="classification",
        source=(
            "UCI Machine Learning Repository, Cirrhosis Patient Survival Prediction, "
            "https://doi.org/10.24432/C5R02G"
        ),
        license="CC BY 4.0",
        citation=(
            "Dickson, E. R., Grambsch, P. M., Fleming, T. R., Fisher, L. D., Langworthy, A. "
            "(1989). Prognosis in Primary Biliary Cirrhosis: Model for Decision Making. "
            "Hepatology 10(1), 1-7. Fleming, T. R., Harrington, D. P. (1991). Counting Processes "
            "and Survival Analysis. Wiley."
        ),
        available=True,
        story=CIRRHOSIS_STORY,
    ),
    DatasetInfo(
        name="diabetes",
        title=_DIABETES.title,
        kind="sample",
        n_rows=_DIABETES.n_rows,
        target=_DIABETES.target,
        task=_DIABETES.task,
        source=_DIABETES.source,
        license=_DIABETES.license,
        citation=_DIABETES.citation,
        available=True,
    ),
    DatasetInfo(
        name="penguins",
        title="Palmer penguins, with the cells that were not measured",
        kind="sample",
        n_rows=344,
        target="species",
        task="classification",
        source="palmerpenguins, https://allisonhorst.github.io/palmerpenguins/",
        license="CC0 1.0",
        citation=(
            "Gorman, K. B., Williams, T. D., Fraser, W. R. (2014). Ecological Sexual Dimorphism "
            "and Environmental Variability within a Community of Antarctic Penguins (Genus "
            "Pygoscelis). PLoS ONE 9(3), e90081."
        ),
        available=True,
    ),
    DatasetInfo(
        name="clinic",
        title="Clinic: invented patients, cells missing for known reasons",
        kind="sample",
        n_rows=600,
        target="readmitted",
        task="classification",
        source="generated by this library from a fixed seed",
        license="MIT, as this library",
        citation="None needed; the patients are invented.",
        available=True,
    ),
)


def list_datasets() -> list[DatasetInfo]:
    """Return what can be loaded by name: the samples first, then the benchmark tables.

    Examples
    --------
    >>> [info.name for info in list_datasets() if info.kind == "sample"]
    ['cirrhosis', 'diabetes', 'penguins', 'clinic']
    """
    others = (info for info in BENCHMARKS.values() if info.name != "diabetes")
    return [*_SAMPLES, *map(_benchmark_info, others)]


def load_dataset(name: str) -> Dataset:
    """Load a table by its name.

    Samples are always there. A benchmark table is looked for as ``<name>.parquet`` in the folder
    that the environment variable PMAE_DATA_DIR names, then in the cache (in the folder PMAE_HOME,
    or ~/.pmae), and is otherwise downloaded from the UCI repository and kept in the cache.

    Parameters
    ----------
    name
        One of the names of `list_datasets`.

    Returns
    -------
    Dataset
        The table, its roles, and where it comes from.

    Raises
    ------
    DatasetUnavailableError
        If there is no such table, or it can be neither found nor downloaded.

    Examples
    --------
    >>> penguins = load_dataset("penguins")
    >>> penguins.frame.shape, int(penguins.frame.isna().sum().sum())
    ((344, 8), 19)
    """
    infos = {info.name: info for info in list_datasets()}
    if name not in infos:
        raise DatasetUnavailableError(
            f"There is no dataset {name!r}. The datasets are {', '.join(infos)}."
        )
    info = infos[name]
    if name == "clinic":
        clinic = make_clinic(info.n_rows)
        schema = Schema.infer(clinic.frame)
        return Dataset(
            name, clinic.frame, schema, info.target, info.task, info, clinic.truth, EXPLANATIONS
        )
    if name == "cirrhosis":
        frame = load_cirrhosis()
        schema = Schema.infer(frame, CIRRHOSIS_ROLES)
        return Dataset(
            name,
            frame,
            schema,
            info.target,
            info.task,
            info,
            descriptions=CIRRHOSIS_DESCRIPTIONS,
        )
    if name == "penguins":
        frame = _load_penguins()
        schema = Schema.infer(frame)
    else:
        frame = _load_diabetes() if name == "diabetes" else _load_benchmark(BENCHMARKS[name])
        schema = Schema.infer(frame, BENCHMARKS[name].roles)
    return Dataset(name, frame, schema, info.target, info.task, info)


def _load_diabetes() -> pd.DataFrame:
    from sklearn.datasets import load_diabetes

    data = load_diabetes(as_frame=True, scaled=False).frame
    data["sex"] = data["sex"].map("{:.0f}".format)
    return pd.DataFrame(
        {name: typed_column(data[name], kind) for name, kind in _DIABETES.columns.items()}
    )


def _load_penguins() -> pd.DataFrame:
    file = resources.files("pmae_core.table.samples").joinpath("penguins.csv")
    with file.open("rb") as content:
        frame = pd.read_csv(
            content,
            dtype={
                "species": "category",
                "island": "category",
                "sex": "category",
                "flipper_length_mm": "Int64",
                "body_mass_g": "Int64",
            },
        )
    return frame[[*(name for name in frame if name != "species"), "species"]]


def _benchmark_info(info: BenchmarkInfo) -> DatasetInfo:
    return DatasetInfo(
        name=info.name,
        title=info.title,
        kind="benchmark",
        n_rows=info.n_rows,
        target=info.target,
        task=info.task,
        source=info.source,
        license=info.license,
        citation=info.citation,
        available=_find_file(info) is not None,
    )


def _cache_file(info: BenchmarkInfo) -> Path:
    return pmae_home() / "datasets" / f"{info.name}.parquet"


def _find_file(info: BenchmarkInfo) -> Path | None:
    """Return where a benchmark table lies on this computer."""
    folder = os.environ.get("PMAE_DATA_DIR")
    candidates = [Path(folder).expanduser() / f"{info.name}.parquet"] if folder else []
    return next((file for file in [*candidates, _cache_file(info)] if file.is_file()), None)


def _load_benchmark(info: BenchmarkInfo) -> pd.DataFrame:
    file = _find_file(info)
    if file is None:
        frame = parse_download(info, _download(info))
        check_table(frame, info, "UCI")
        _keep(frame, _cache_file(info))
        return frame
    try:
        frame = pd.read_parquet(file)
    except (OSError, ValueError) as error:
        raise DatasetUnavailableError(
            f"The file {file} cannot be read as a Parquet table ({error}). "
            "Remove it, and it will be downloaded anew."
        ) from None
    check_table(frame, info, str(file))
    return frame


def _download(info: BenchmarkInfo) -> bytes:
    url = str(info.url)
    try:
        with urllib.request.urlopen(url, timeout=_DOWNLOAD_SECONDS) as response:
            content: bytes = response.read(_MAX_DOWNLOAD_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        raise DatasetUnavailableError(
            f"The table {info.name!r} is not on this computer and cannot be downloaded from {url} "
            f"({error}). Connect to the internet, or put {info.name}.parquet in a folder and name "
            "that folder in the environment variable PMAE_DATA_DIR."
        ) from None
    if len(content) > _MAX_DOWNLOAD_BYTES:
        raise DatasetUnavailableError(f"The file at {url} is far larger than it used to be.")
    return content


def _keep(frame: pd.DataFrame, file: Path) -> None:
    """Write a table to the cache, whole or not at all."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            unfinished = Path(folder) / file.name
            frame.to_parquet(unfinished)
            unfinished.replace(file)
    except OSError as error:
        warnings.warn(
            f"The table was downloaded but cannot be kept in {file.parent} ({error}); "
            "it will be downloaded again next time.",
            TableWarning,
            stacklevel=4,
        )
