"""A bundle of imputations comes back exactly, and nothing else is read."""

import hashlib
import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import TableError, TableTooLargeError, UnreadableFileError
from pmae_core.export import Recipe, read_imputations, write_imputations
from pmae_core.export.imputation_bundle import ImputationManifest
from pmae_core.table import ReadingLimits, Role, Schema, write_table


@pytest.fixture
def original() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "x": [1.5, np.nan, 2.5],
            "n": pd.array([1, None, 3], dtype="Int64"),
            "size": pd.Categorical(["L", None, "S"], categories=["S", "M", "L"], ordered=True),
            "when": pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
        },
        index=pd.Index(["a", "b", "c"], name="who"),
    )


@pytest.fixture
def imputations(original) -> list[pd.DataFrame]:
    when = pd.Timestamp("2020-01-02")
    return [original.fillna({"x": x, "n": 2, "size": "M", "when": when}) for x in (7.0, 8.0)]


@pytest.fixture
def bundle(original, imputations, tmp_path):
    path = tmp_path / "bundle.zip"
    recipe = Recipe(table="t.csv", method="em", params={"tol": 0.1}, seed=4, n_imputations=2)
    schema = Schema.infer(original, {"n": "categorical"})
    write_imputations(path, original, imputations, schema=schema, recipe=recipe, is_proper=False)
    return path


def contents(path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def repack(path, files, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def with_manifest(path, **changes):
    files = contents(path)
    manifest = json.loads(files["manifest.json"]) | changes
    repack(path, files | {"manifest.json": json.dumps(manifest)})


def test_everything_comes_back(original, imputations, bundle):
    saved = read_imputations(bundle)

    pd.testing.assert_frame_equal(saved.original, original)
    assert len(saved.imputations) == 2
    for table, again in zip(imputations, saved.imputations, strict=True):
        pd.testing.assert_frame_equal(again, table)
    pd.testing.assert_frame_equal(saved.was_imputed, original.isna())
    assert saved.manifest.is_proper is False
    assert saved.manifest.pmae
    assert saved.manifest.read_recipe().params == {"tol": 0.1}
    assert saved.schema.role("n") is Role.CATEGORICAL
    assert set(contents(bundle)) == {
        *("manifest.json", "original.parquet", "was_imputed.parquet"),
        *("imputation-1-of-2.parquet", "imputation-2-of-2.parquet"),
    }


def test_a_bundle_without_a_recipe(original, imputations, tmp_path):
    write_imputations(tmp_path / "b.zip", original, imputations)

    manifest = read_imputations(tmp_path / "b.zip").manifest

    assert manifest.read_recipe() is None
    assert manifest.is_proper is None


def test_a_changed_table_is_noticed(imputations, bundle):
    buffer = io.BytesIO()
    write_table(imputations[0].assign(x=[1.5, 9.0, 2.5]), buffer, format="parquet")
    repack(bundle, contents(bundle) | {"imputation-1-of-2.parquet": buffer.getvalue()})

    with pytest.raises(UnreadableFileError, match=r"changed file: imputation-1-of-2\.parquet"):
        read_imputations(bundle)


@pytest.mark.parametrize(
    "name", ["../evil.parquet", "/etc/passwd", "sub/original.parquet", "model.pkl", "a\\b.parquet"]
)
def test_other_files_are_refused(name, bundle):
    repack(bundle, contents(bundle) | {name: b"x"})
    with pytest.raises(UnreadableFileError, match="is no bundle of imputations: it holds"):
        read_imputations(bundle)


def test_missing_repeated_and_further_files_are_refused(bundle):
    files = contents(bundle)
    without = {name: content for name, content in files.items() if "2-of-2" not in name}
    for changed, message in [
        (without, "other files than its manifest says"),
        (files | {"imputation-3-of-2.parquet": b""}, "other files than its manifest says"),
        ({"original.parquet": b""}, "lacks a manifest"),
    ]:
        repack(bundle, changed)
        with pytest.raises(UnreadableFileError, match=message):
            read_imputations(bundle)
    repack(bundle, files)
    with zipfile.ZipFile(bundle, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("original.parquet", b"")
    with pytest.raises(UnreadableFileError, match="repeats a file"):
        read_imputations(bundle)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "has format 2, and this release reads 1"),
        ({"version": "1"}, "version must be"),
        ({"kind": "other"}, "kind must be 'pmae imputations'"),
        ({"extra": 1}, "no field extra"),
        ({"n_imputations": 0}, "n_imputations must be a whole number"),
        ({"roles": [["x"]]}, "roles, rules or a recipe that cannot be read"),
        ({"roles": [["x", "king"]]}, "roles, rules or a recipe that cannot be read"),
        ({"recipe": {"table": "t"}}, "roles, rules or a recipe that cannot be read"),
        ({"roles": []}, "do not fit together"),
        ({"digests": {}}, "other files than its manifest says"),
    ],
)
def test_manifests_that_do_not_fit(changes, message, bundle):
    with_manifest(bundle, **changes)
    with pytest.raises(UnreadableFileError, match=message):
        read_imputations(bundle)


@pytest.mark.parametrize("content", [b"not json", b"[" * 100_000, b"[1]", b"\xff"])
def test_a_manifest_that_is_no_object(content, bundle):
    repack(bundle, contents(bundle) | {"manifest.json": content})
    with pytest.raises(UnreadableFileError):
        read_imputations(bundle)


def test_zip_bombs_are_refused_before_they_unpack(bundle, monkeypatch):
    bomb = contents(bundle) | {"original.parquet": bytes(20_000_000)}
    repack(bundle, bomb, zipfile.ZIP_DEFLATED)
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("was unpacked"))

    with pytest.raises(TableTooLargeError, match="more than 100 times its size"):
        read_imputations(bundle)
    with pytest.raises(TableTooLargeError, match="more than the limit"):
        read_imputations(bundle, limits=ReadingLimits(max_bytes=100))
    with pytest.raises(TableTooLargeError, match="more than the limit"):
        read_imputations(bundle, limits=ReadingLimits(max_expanded_bytes=1000))


def test_limits_hold_for_each_table(bundle):
    with pytest.raises(TableTooLargeError, match="limit of 2"):
        read_imputations(bundle, limits=ReadingLimits(max_columns=2))


def test_files_that_are_no_zip(bundle, tmp_path):
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(UnreadableFileError, match="damaged or no zip file"):
        read_imputations(tmp_path / "text.zip")
    content = bytearray(bundle.read_bytes())
    content[200] ^= 255
    bundle.write_bytes(content)
    with pytest.raises(UnreadableFileError):
        read_imputations(bundle)
    with pytest.raises(TableError, match="There is no file"):
        read_imputations(tmp_path / "nothing.zip")


def test_tables_that_do_not_fit_together(original, imputations, bundle):
    files = contents(bundle)
    buffer = io.BytesIO()
    write_table(imputations[0].iloc[:2], buffer, format="parquet")
    name, content = "imputation-1-of-2.parquet", buffer.getvalue()
    digests = json.loads(files["manifest.json"])["digests"]
    repack(bundle, files | {name: content})
    with_manifest(bundle, digests=digests | {name: hashlib.sha256(content).hexdigest()})

    with pytest.raises(UnreadableFileError, match="Imputation 1 has other rows"):
        read_imputations(bundle)


def test_the_manifest_is_plain_json(bundle):
    manifest = json.loads(contents(bundle)["manifest.json"])
    assert manifest["kind"] == "pmae imputations"
    assert manifest["recipe"]["method"] == "em"
    assert manifest["recipe"]["seed"] == 4
    assert ["n", "categorical"] in manifest["roles"]
    assert ImputationManifest.read(manifest).n_imputations == 2
