"""The nine benchmark tables: facts about them, and their UCI files as data frames."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import numpy as np
import pandas as pd

from pmae_core.errors import DatasetUnavailableError
from pmae_core.table.labels import in_order

UCI_FOLDER = "https://archive.ics.uci.edu/static/public/"
_MAX_UNPACKED_BYTES = 200_000_000


@dataclass(frozen=True)
class BenchmarkInfo:
    """What is known about a benchmark table without having it.

    Parameters
    ----------
    name, title
        Short name and full title.
    uci_id, download
        Number in the UCI repository and path of the file there; None for diabetes.
    source, doi, citation, license
        Where it comes from and how to cite it.
    n_rows
        Number of rows.
    target, task
        The column to predict, always the last one, and "regression" or "classification".
    columns
        For each column "int", "float", "category" (labels in numerical or alphabetical order) or
        the labels in their order.
    """

    name: str
    title: str
    uci_id: int | None
    download: str | None
    source: str
    doi: str
    citation: str
    license: str
    n_rows: int
    target: str
    task: Literal["regression", "classification"]
    columns: dict[str, Any]

    @property
    def roles(self) -> dict[str, str]:
        """Role of each column, the target too."""
        return {
            name: "numerical" if kind in ("int", "float") else "categorical"
            for name, kind in self.columns.items()
        }

    @property
    def url(self) -> str | None:
        """Where the file is downloaded from."""
        return None if self.download is None else UCI_FOLDER + self.download


def _read_registry() -> dict[str, BenchmarkInfo]:
    text = resources.files("pmae_core.table.samples").joinpath("benchmarks.json").read_text("utf-8")
    return {entry["name"]: BenchmarkInfo(**entry) for entry in json.loads(text)}


BENCHMARKS: dict[str, BenchmarkInfo] = _read_registry()


def parse_download(info: BenchmarkInfo, content: bytes) -> pd.DataFrame:
    """Turn the file that UCI publishes into the benchmark table.

    Parameters
    ----------
    info
        The table that the file holds.
    content
        The bytes of the file: a zip archive, or CSV text.

    Returns
    -------
    DataFrame
        Integers and floats as int64 and float64, labels as categories, the target last.

    Raises
    ------
    DatasetUnavailableError
        If the file is not what it used to be.
    """
    try:
        return _with_types(_PARSERS[info.name](content), info)
    except (KeyError, ValueError, zipfile.BadZipFile, pd.errors.ParserError) as error:
        raise DatasetUnavailableError(
            f"The file that UCI publishes for {info.name!r} is not as expected: {error}"
        ) from None


def check_table(frame: pd.DataFrame, info: BenchmarkInfo, origin: str) -> None:
    """Raise a DatasetUnavailableError if a table is not the complete benchmark table."""
    if list(frame.columns) != list(info.columns):
        raise DatasetUnavailableError(
            f"The table {info.name!r} from {origin} does not have the expected columns."
        )
    if len(frame) != info.n_rows:
        raise DatasetUnavailableError(
            f"The table {info.name!r} from {origin} has {len(frame):,} rows "
            f"instead of {info.n_rows:,}."
        )


def typed_column(cells: pd.Series, kind: Any) -> pd.Series:
    """Return a column of text as what the registry says it is."""
    if kind in ("int", "float"):
        # Python's own reading of decimals is exact.
        numbers = cells.to_numpy(dtype=object).astype(np.float64)
        if kind == "float":
            return pd.Series(numbers)
        if (numbers != np.rint(numbers)).any():
            raise ValueError(f"column {cells.name!r} holds numbers that are not whole")
        return pd.Series(numbers.astype(np.int64))
    seen = cells.dropna().unique().tolist()
    order = in_order(seen, None) if kind == "category" else kind
    unknown = [label for label in seen if label not in order]
    if unknown:
        raise ValueError(f"column {cells.name!r} has the unknown labels {unknown}")
    labels = [label for label in order if label in set(seen)]
    return pd.Series(pd.Categorical(cells, categories=labels))


def _with_types(text: pd.DataFrame, info: BenchmarkInfo) -> pd.DataFrame:
    text = text.reset_index(drop=True)
    return pd.DataFrame(
        {name: typed_column(text[name], kind) for name, kind in info.columns.items()}
    )


def _member(archive: bytes, ending: str) -> bytes:
    """Return the file of a zip archive whose name ends as given."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        for file in files.infolist():
            if file.filename.endswith(ending):
                if file.file_size > _MAX_UNPACKED_BYTES:
                    raise ValueError(f"{ending} is larger than all known versions of it")
                return files.read(file)
    raise ValueError(f"the archive has no file {ending}")


def _read_text(content: bytes, **options: Any) -> pd.DataFrame:
    """Read delimited text with all cells as stripped text; nothing is taken for missing."""
    frame = pd.read_csv(
        io.BytesIO(content), dtype=str, keep_default_na=False, skipinitialspace=True, **options
    )
    return frame.rename(columns=lambda name: str(name).strip()).apply(
        lambda cells: cells.str.strip()
    )


def _parse_wine(content: bytes) -> pd.DataFrame:
    return _read_text(_member(content, "winequality-red.csv"), sep=";")


def _parse_obesity(content: bytes) -> pd.DataFrame:
    return _read_text(_member(content, ".csv"))


def _parse_bike(content: bytes) -> pd.DataFrame:
    frame = _read_text(_member(content, "SeoulBikeData.csv"), encoding="latin-1")
    # "Temperature(°C)": the sign of degrees, in whatever encoding, is left out.
    return frame.rename(columns=lambda name: name.encode("ascii", "ignore").decode())


def _parse_shoppers(content: bytes) -> pd.DataFrame:
    return _read_text(_member(content, "online_shoppers_intention.csv"))


def _parse_letter(content: bytes) -> pd.DataFrame:
    *features, target = BENCHMARKS["letter"].columns
    file = _member(content, "letter-recognition.data")
    return _read_text(file, header=None, names=[target, *features])


def _parse_default(content: bytes) -> pd.DataFrame:
    # Published as ID, X1 ... X23, Y; the order is that of the names in the original workbook.
    frame = _read_text(content)
    names = list(BENCHMARKS["default"].columns)
    frame = frame.drop(columns="ID").set_axis(names, axis=1)
    return frame.assign(
        **{name: frame[name].map(labels) for name, labels in _DEFAULT_LABELS.items()}
    )


def _parse_news(content: bytes) -> pd.DataFrame:
    frame = _read_text(_member(content, "OnlineNewsPopularity.csv"))
    weekdays = {f"weekday_is_{day}": day for day in BENCHMARKS["news"].columns["weekday"]}
    return frame.assign(
        channel=_fold_indicators(frame, _NEWS_CHANNELS).fillna("none"),
        weekday=_fold_indicators(frame, weekdays),
    )


def _parse_adult(content: bytes) -> pd.DataFrame:
    names = list(BENCHMARKS["adult"].columns)
    # The test part begins with a line that is no data, and ends its labels with a dot.
    parts = [
        _read_text(_member(content, ending), header=None, names=names, comment="|")
        for ending in ("adult.data", "adult.test")
    ]
    frame = pd.concat(parts, ignore_index=True)
    frame["income"] = frame["income"].str.removesuffix(".")
    return frame.mask(frame == "?")


def _fold_indicators(frame: pd.DataFrame, labels: dict[str, str]) -> pd.Series:
    """Return one column of labels from columns of 0 and 1; missing where all are 0."""
    folded = pd.Series(None, index=frame.index, dtype=object)
    for column, label in labels.items():
        folded = folded.mask(frame[column].astype(float) == 1, label)
    return folded


_DEFAULT_LABELS = {
    "SEX": {"1": "male", "2": "female"},
    "EDUCATION": {"1": "graduate school", "2": "university", "3": "high school", "4": "others"}
    | {code: f"undocumented {code}" for code in "056"},
    "MARRIAGE": {"1": "married", "2": "single", "3": "others", "0": "undocumented 0"},
    "default payment next month": {"0": "no", "1": "yes"},
}
_NEWS_CHANNELS = {
    "data_channel_is_lifestyle": "lifestyle",
    "data_channel_is_entertainment": "entertainment",
    "data_channel_is_bus": "business",
    "data_channel_is_socmed": "social media",
    "data_channel_is_tech": "tech",
    "data_channel_is_world": "world",
}
_PARSERS: dict[str, Callable[[bytes], pd.DataFrame]] = {
    "wine": _parse_wine,
    "obesity": _parse_obesity,
    "bike": _parse_bike,
    "shoppers": _parse_shoppers,
    "letter": _parse_letter,
    "default": _parse_default,
    "news": _parse_news,
    "adult": _parse_adult,
}
