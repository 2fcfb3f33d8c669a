import dataclasses
import io
import os
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from pmae_core.errors import DatasetUnavailableError, TableWarning
from pmae_core.table import (
    BENCHMARK_NAMES,
    Flag,
    Role,
    TableEncoder,
    list_datasets,
    load_dataset,
    suggest_sentinels,
)
from pmae_core.table.samples import datasets

needs_tables = pytest.mark.skipif(
    "PMAE_DATA_DIR" not in os.environ,
    reason="PMAE_DATA_DIR does not name the folder of the benchmark tables",
)
SAMPLES = ["cirrhosis", "diabetes", "penguins", "clinic"]
IDENTIFIERS = {"cirrhosis": ["patient"]}


@pytest.fixture
def bare_computer(monkeypatch, tmp_path):
    """No tables on disk, and no network."""
    monkeypatch.delenv("PMAE_DATA_DIR", raising=False)
    monkeypatch.setenv("PMAE_HOME", str(tmp_path / "home"))

    def no_network(url, timeout):
        raise urllib.error.URLError("no network")

    monkeypatch.setattr(urllib.request, "urlopen", no_network)
    return tmp_path


def test_the_list_names_all_tables_once(bare_computer):
    infos = list_datasets()
    assert [info.name for info in infos[:4]] == SAMPLES
    assert {info.name for info in infos} == {*SAMPLES, *BENCHMARK_NAMES}
    assert len(infos) == 12
    assert [info.name for info in infos if info.available] == SAMPLES
    assert all(info.citation and info.license and info.source for info in infos)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_need_neither_files_nor_network(bare_computer, name):
    dataset = load_dataset(name)
    assert dataset.name == dataset.info.name == name
    assert len(dataset.frame) == dataset.info.n_rows
    assert dataset.frame.columns[-1] == dataset.target
    assert dataset.schema.names() == list(dataset.frame)
    expected = Role.NUMERICAL if dataset.task == "regression" else Role.CATEGORICAL
    assert dataset.schema.role(dataset.target) in (expected, Role.BOOLEAN)
    identifiers = [c.name for c in dataset.schema if Flag.IDENTIFIER in c.flags]
    assert identifiers == IDENTIFIERS.get(name, [])
    encoder = TableEncoder()
    filled = encoder.decode(encoder.fit_transform(dataset.frame).values, dataset.frame)
    assert filled.notna().all(axis=None)


def test_cirrhosis_is_the_published_table():
    frame = load_dataset("cirrhosis").frame.set_index("patient")
    assert frame.loc[1].tolist() == [
        *("D-penicillamine", 58.8, "female", "yes", "yes", "yes", "despite diuretics"),
        *(14.5, 261, 2.6, 156, 1718.0, 137.95, 172, 190, 12.2, 4, 400, "dead"),
    ]
    assert frame.loc[241, ["drug", "age", "edema", "stage", "status"]].tolist() == [
        *("placebo", 41.4, "no edema", 4, "transplant")
    ]
    assert frame.loc[418].dropna().tolist() == [
        *(53.0, "female", "no edema", 0.7, 3.29, 350, 10.6, 4, 976, "censored")
    ]
    assert frame["status"].value_counts().to_dict() == {
        "censored": 232,
        "dead": 161,
        "transplant": 25,
    }


def test_cirrhosis_tells_the_story_of_its_missing_values():
    dataset = load_dataset("cirrhosis")
    missing = dataset.frame.isna()
    outside = missing["drug"]
    never_recorded = missing[outside].all()

    assert (outside.sum(), len(outside), never_recorded.sum()) == (106, 418, 9)
    n_others = missing.to_numpy().sum() - 106 * 9
    assert dataset.info.story == (
        "106 of the 418 patients did not join the trial: the drug and eight measurements are "
        f"missing for all of them. Only {n_others} other values are missing."
    )
    assert missing.mean(axis=None) == pytest.approx(0.124, abs=5e-4)
    assert list(dataset.frame["edema"].cat.categories) == [
        *("no edema", "untreated or resolved", "despite diuretics")
    ]
    assert set(dataset.descriptions) == {*dataset.frame} - {"sex"}
    assert suggest_sentinels(dataset.frame) == []


def test_diabetes():
    dataset = load_dataset("diabetes")
    assert dataset.schema.names("categorical") == ["sex"]
    assert dataset.frame["sex"].cat.categories.tolist() == ["1", "2"]
    assert dataset.frame.loc[0, ["age", "bmi", "s5", "target"]].tolist() == [59, 32.1, 4.8598, 151]
    assert (dataset.target, dataset.task) == ("target", "regression")


def test_penguins_have_real_holes():
    frame = load_dataset("penguins").frame
    assert frame.isna().sum().to_dict() == {
        "island": 0,
        "bill_length_mm": 2,
        "bill_depth_mm": 2,
        "flipper_length_mm": 2,
        "body_mass_g": 2,
        "sex": 11,
        "year": 0,
        "species": 0,
    }
    assert frame["flipper_length_mm"].dtype == "Int64"


def test_clinic_knows_its_truth_and_its_reasons():
    dataset = load_dataset("clinic")
    assert dataset.truth.notna().all(axis=None)
    with_holes = dataset.frame.columns[dataset.frame.isna().any()]
    assert set(dataset.explanations) == set(with_holes)
    mechanisms = [text.split(":")[0] for text in dataset.explanations.values()]
    assert sorted(mechanisms) == ["MAR", "MAR", "MAR", "MCAR", "MNAR"]


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(
        DatasetUnavailableError, match=r"no dataset 'iris'\. The datasets are cirrhosis"
    ):
        load_dataset("iris")


def test_without_network_a_sentence_says_what_to_do(bare_computer):
    with pytest.raises(
        DatasetUnavailableError, match=r"put adult\.parquet in a folder.*PMAE_DATA_DIR"
    ):
        load_dataset("adult")


LETTERS = "T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8\nI,5,12,3,7,2,10,5,5,4,13,3,9,2,8,4,10\n"


@pytest.fixture
def letter_at_uci(bare_computer, monkeypatch):
    """A letter table of two rows at UCI; returns the addresses that were asked for."""
    small = dataclasses.replace(datasets.BENCHMARKS["letter"], n_rows=2)
    monkeypatch.setitem(datasets.BENCHMARKS, "letter", small)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("letter-recognition.data", LETTERS)
    asked = []

    def urlopen(url, timeout):
        asked.append(url)
        return io.BytesIO(archive.getvalue())

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    return asked


def test_a_table_is_downloaded_once(letter_at_uci, bare_computer):
    first = load_dataset("letter")
    assert first.schema.names() == first.schema.names("categorical")
    assert [info.available for info in list_datasets() if info.name == "letter"] == [True]
    again = load_dataset("letter")
    assert letter_at_uci == ["https://archive.ics.uci.edu/static/public/59/letter+recognition.zip"]
    pd.testing.assert_frame_equal(again.frame, first.frame)
    assert [file.name for file in (bare_computer / "home" / "datasets").iterdir()] == [
        "letter.parquet"
    ]


def test_the_data_folder_comes_before_cache_and_network(letter_at_uci, bare_computer, monkeypatch):
    cached = load_dataset("letter").frame
    folder = bare_computer / "data"
    folder.mkdir()
    monkeypatch.setenv("PMAE_DATA_DIR", str(folder))
    pd.testing.assert_frame_equal(load_dataset("letter").frame, cached)
    cached.iloc[::-1].reset_index(drop=True).to_parquet(folder / "letter.parquet")
    assert load_dataset("letter").frame["lettr"].tolist() == ["I", "T"]
    assert len(letter_at_uci) == 1


def test_a_table_of_another_size_is_refused_and_not_kept(letter_at_uci, bare_computer, monkeypatch):
    full = dataclasses.replace(datasets.BENCHMARKS["letter"], n_rows=20_000)
    monkeypatch.setitem(datasets.BENCHMARKS, "letter", full)
    with pytest.raises(DatasetUnavailableError, match="has 2 rows instead of 20,000"):
        load_dataset("letter")
    assert not (bare_computer / "home").exists()


def test_a_broken_file_is_a_sentence(letter_at_uci, bare_computer, monkeypatch):
    monkeypatch.setenv("PMAE_DATA_DIR", str(bare_computer))
    (bare_computer / "letter.parquet").write_bytes(b"not parquet")
    with pytest.raises(DatasetUnavailableError, match=r"letter\.parquet cannot be read"):
        load_dataset("letter")
    pd.DataFrame({"x": [1, 2]}).to_parquet(bare_computer / "letter.parquet")
    with pytest.raises(DatasetUnavailableError, match="does not have the expected columns"):
        load_dataset("letter")


def test_a_cache_that_cannot_be_written_is_a_warning(letter_at_uci, bare_computer):
    (bare_computer / "home").write_text("a file where the folder should be")
    with pytest.warns(TableWarning, match="cannot be kept"):
        assert len(load_dataset("letter").frame) == 2


def test_a_huge_download_is_refused(letter_at_uci, monkeypatch):
    monkeypatch.setattr(datasets, "_MAX_DOWNLOAD_BYTES", 10)
    with pytest.raises(DatasetUnavailableError, match="far larger"):
        load_dataset("letter")


@needs_tables
@pytest.mark.parametrize("name", BENCHMARK_NAMES)
def test_the_real_tables_are_as_registered(name):
    dataset = load_dataset(name)
    assert len(dataset.frame) == dataset.info.n_rows
    for column in dataset.schema:
        assert column.role in (Role.NUMERICAL, Role.CATEGORICAL)
        assert (column.dtype == "category") == (column.role is Role.CATEGORICAL)


@needs_tables
def test_diabetes_equals_the_benchmark_table():
    stored = pd.read_parquet(Path(os.environ["PMAE_DATA_DIR"]) / "diabetes.parquet")
    pd.testing.assert_frame_equal(load_dataset("diabetes").frame, stored, check_exact=True)


def test_cirrhosis_knows_the_order_of_its_stages():
    schema = load_dataset("cirrhosis").schema
    assert schema["stage"].rules.levels == (1, 2, 3, 4)
    assert schema["edema"].rules.levels == (
        *("no edema", "untreated or resolved", "despite diuretics"),
    )
