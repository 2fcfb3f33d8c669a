"""What the five neural baselines have in common."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from pmae_core.errors import Cancelled, ImputationError
from pmae_core.imputers import make_imputer
from pmae_core.imputers.neural._common import Standardizer, row_chunks, seeded, shuffled_batches
from pmae_core.table import EncodedColumn, EncodedTable
from tests.support.correlated import correlated_table
from tests.support.fast_params import FAST_PARAMS
from tests.support.paths import ROOT

NAMES = ("gain", "igrm", "miracle", "miwae", "tdm")
EVERY_NEURAL = pytest.mark.parametrize("name", NAMES)


def make(name, **params):
    return make_imputer(name, **{"random_state": 0, **FAST_PARAMS[name], **params})


def test_listing_the_methods_does_not_import_torch():
    code = (
        "import sys\n"
        "from pmae_core.imputers import list_imputers\n"
        "names = {info.name for info in list_imputers()}\n"
        f"assert set({NAMES}) <= names, names\n"
        "assert 'torch' not in sys.modules\n"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@EVERY_NEURAL
def test_another_seed_gives_another_imputation_and_the_users_generator_stays(name):
    _, incomplete = correlated_table(0, n=60)
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    first = make(name).fit_transform(incomplete)
    assert torch.equal(torch.rand(3), expected)
    np.testing.assert_array_equal(make(name).fit_transform(incomplete), first)
    assert not np.array_equal(make(name, random_state=1).fit_transform(incomplete), first)


@EVERY_NEURAL
def test_cancel_is_asked_all_the_time(name):
    _, incomplete = correlated_table(0, n=60)
    asked = []
    with pytest.raises(Cancelled, match=r"Cancelled after \d of"):
        make(name).fit(incomplete, cancel=lambda: asked.append(1) or len(asked) == 3)


@EVERY_NEURAL
def test_a_row_without_any_cell_is_imputed(name):
    _, incomplete = correlated_table(0, n=60)
    incomplete[5] = np.nan
    assert np.isfinite(make(name).fit_transform(incomplete)).all()


@EVERY_NEURAL
def test_senseless_numbers_are_refused(name):
    _, incomplete = correlated_table(0, n=20)
    with pytest.raises(ImputationError, match="learning_rate must be positive, not -1"):
        make(name, learning_rate=-1).fit(incomplete)


def test_seeded_repeats():
    with seeded(3):
        first = torch.rand(2)
    with seeded(3):
        assert torch.equal(torch.rand(2), first)
    with seeded(4):
        assert not torch.equal(torch.rand(2), first)


def test_batches_and_chunks_cover_all_rows():
    assert torch.cat(shuffled_batches(10, 4)).sort().values.tolist() == list(range(10))
    rows = np.arange(10)
    chunks = [rows[chunk] for chunk in row_chunks(10, 700_000)]
    assert [len(chunk) for chunk in chunks] == [2] * 5
    np.testing.assert_array_equal(np.concatenate(chunks), rows)


def test_standardized_columns_have_mean_0_and_spread_1_and_come_back():
    rng = np.random.default_rng(0)
    columns = (EncodedColumn("x", "numerical", 0), EncodedColumn("c", "categorical", 3))
    values = np.column_stack([rng.random(50), rng.integers(0, 3, 50)]).astype(np.float32)
    observed = rng.random((50, 2)) < 0.7
    table = EncodedTable(np.where(observed, values, 0).astype(np.float32), observed, columns)
    standardizer = Standardizer.fit(table)
    cells = standardizer.apply(table).numpy()
    for j in range(2):
        seen = cells[observed[:, j], j]
        assert seen.mean() == pytest.approx(0, abs=1e-5)
        assert seen.std() == pytest.approx(1, abs=1e-5)
    assert (cells[~observed] == 0).all()
    back = standardizer.undo(torch.from_numpy(cells), table)
    np.testing.assert_allclose(back[observed], values[observed], atol=1e-6)
    beyond = standardizer.undo(torch.full((50, 2), 1e6), table)
    assert (beyond == [1, 2]).all()


@pytest.mark.parametrize("name", ["gain", "miracle", "miwae", "tdm"])
def test_small_steps_take_one_thread(name, monkeypatch):
    _, incomplete = correlated_table(0, n=60)
    before, seen = torch.get_num_threads(), set()
    backward = torch.Tensor.backward

    def spy(*args, **kwargs):
        seen.add(torch.get_num_threads())
        return backward(*args, **kwargs)

    monkeypatch.setattr(torch.Tensor, "backward", spy)
    torch.set_num_threads(2)
    try:
        make(name).fit(incomplete)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert seen == {1}
