"""PMAE and ReMasker beyond the common suite."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from pmae_core.errors import Cancelled, ImputationError, ImputationWarning
from pmae_core.imputers import PMAENetworkImputer, ReMaskerImputer, load_imputer
from pmae_core.imputers.masked import _fitting
from pmae_core.model import MaskedAutoencoder
from pmae_core.table import TableEncoder
from pmae_core.training import TrainingProgress

# The paper's presets need many steps; this is enough for what the test below asks.
BRISK = {
    "steps": 1200,
    "batch_size": 32,
    "warmup_epochs": 2,
    "learning_rate": 3e-3,
    "encoder_depth": 2,
    "decoder_depth": 1,
    "random_state": 0,
}
SMALL = {"width": 8, "encoder_depth": 1, "decoder_depth": 1, "random_state": 0}


def correlated(n: int = 300, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table whose columns follow one another, complete and with a third missing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    truth = pd.DataFrame(
        {
            "a": x,
            "b": -2 * x + rng.normal(scale=0.1, size=n),
            "c": np.where(x > 0, "up", "down"),
            "d": rng.normal(size=n),
        }
    )
    return truth, truth.mask(rng.random(truth.shape) < 0.3)


@pytest.mark.parametrize(
    "imputer",
    [
        PMAENetworkImputer(steps=300, random_state=0),
        PMAENetworkImputer(steps=300, architecture="transformer", random_state=0),
        PMAENetworkImputer(preset="paper", **BRISK),
        ReMaskerImputer(**BRISK),
    ],
    ids=["balanced", "transformer", "paper", "remasker"],
)
def test_it_learns_what_columns_say_about_one_another(imputer):
    truth, incomplete = correlated()
    imputed = imputer.fit_transform(incomplete)
    # Only cells whose row still tells x can be known.
    told = incomplete[["a", "b"]].notna().any(axis=1)
    missing = incomplete["c"].isna() & told
    assert (imputed["c"] == truth["c"])[missing].mean() > 0.75
    missing = incomplete["b"].isna() & incomplete["a"].notna()
    error = (imputed["b"] - truth["b"])[missing]
    assert error.var() < 0.85 * truth["b"].var()


@pytest.mark.parametrize(
    "imputer", [PMAENetworkImputer(**SMALL, steps=1), ReMaskerImputer(**SMALL, steps=1)]
)
def test_scikit_learns_own_checks(imputer):
    failed = []
    for estimator, check in estimator_checks_generator(imputer):
        try:
            check(estimator)
        except Exception as error:
            # array API checks ask for an environment variable and skip without it
            if type(error).__name__ not in {"SkipTest", "Skipped"}:
                failed.append((check, error))
    assert not failed


def test_in_a_pipeline_with_pandas_output():
    truth, incomplete = correlated(80)
    numbers = incomplete[["a", "b", "d"]]
    model = make_pipeline(PMAENetworkImputer(**SMALL, steps=3), LinearRegression())
    assert model.fit(numbers, truth["a"]).predict(numbers).shape == (80,)
    imputer = PMAENetworkImputer(**SMALL, steps=3).set_output(transform="pandas")
    out = imputer.fit_transform(numbers.to_numpy())
    assert list(out.columns) == ["x0", "x1", "x2"]


@pytest.mark.parametrize(
    "imputer",
    [
        PMAENetworkImputer(**SMALL, steps=5),
        PMAENetworkImputer(**SMALL, steps=5, categorical="scalar"),
        ReMaskerImputer(**SMALL, steps=5),
    ],
)
def test_a_saved_imputer_imputes_and_draws_the_same(tmp_path, imputer):
    _, incomplete = correlated(80)
    imputer.fit(incomplete)
    imputer.save(tmp_path / "model.pmae")
    loaded = load_imputer(tmp_path / "model.pmae")
    assert type(loaded) is type(imputer)
    assert loaded.settings_ == imputer.settings_
    pd.testing.assert_frame_equal(
        loaded.transform(incomplete), imputer.transform(incomplete), check_exact=True
    )
    ours, theirs = (i.sample(incomplete, 1, random_state=3)[0] for i in (imputer, loaded))
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


def test_a_saved_imputer_of_another_kind_or_no_model_is_refused(tmp_path):
    _, incomplete = correlated(40)
    path = tmp_path / "model.pmae"
    PMAENetworkImputer(**SMALL, steps=1).fit(incomplete).save(path)
    with pytest.raises(ImputationError, match="not a ReMaskerImputer"):
        ReMaskerImputer.load(path)
    path.write_text("hello")
    with pytest.raises(ImputationError, match="not a saved imputer"):
        PMAENetworkImputer.load(path)
    with pytest.raises(ImputationError, match="no model file"):
        PMAENetworkImputer.load(tmp_path / "absent")


def test_an_imputer_without_anything_to_learn_is_saved_too(tmp_path):
    frame = pd.DataFrame({"same": [1.0, np.nan, 1.0]})
    PMAENetworkImputer(**SMALL).fit(frame).save(tmp_path / "m")
    assert load_imputer(tmp_path / "m").transform(frame)["same"].tolist() == [1.0, 1.0, 1.0]


def test_cancelling_keeps_a_checkpoint_that_leads_to_the_same_table(tmp_path):
    _, incomplete = correlated(80)
    settings = {**SMALL, "steps": 12}
    straight = PMAENetworkImputer(**settings).fit_transform(incomplete)
    steps = iter(range(100))
    with pytest.raises(Cancelled, match="after 6 steps"):
        PMAENetworkImputer(**settings).fit(
            incomplete, checkpoint_dir=tmp_path, cancel=lambda: next(steps) == 6
        )
    resumed = PMAENetworkImputer(**settings).fit(incomplete, checkpoint_dir=tmp_path)
    pd.testing.assert_frame_equal(resumed.transform(incomplete), straight, check_exact=True)


def test_progress_reaches_every_callback():
    _, incomplete = correlated(80)
    first, second = [], []
    PMAENetworkImputer(**SMALL, steps=20).fit(incomplete, callbacks=[first.append, second.append])
    assert first == second
    assert [e.step for e in first if isinstance(e, TrainingProgress)] == [10, 20]


def test_draws_spread_as_the_truth_does():
    truth, incomplete = correlated(400)
    imputer = PMAENetworkImputer(steps=400, random_state=0).fit(incomplete)
    draws = imputer.sample(incomplete, 10, random_state=0)
    missing = incomplete["d"].isna()
    # Nothing predicts d: a best guess has no spread, a draw has the column's own.
    guess = imputer.transform(incomplete)["d"][missing]
    drawn = np.mean([draw["d"][missing].std() for draw in draws])
    assert guess.std() < 0.6 * truth["d"].std()
    assert drawn == pytest.approx(truth["d"].std(), rel=0.3)
    # Where a and b are both drawn they still belong together.
    both = incomplete[["a", "b"]].isna().all(axis=1)
    together = np.mean([draw.loc[both, ["a", "b"]].corr().iloc[0, 1] for draw in draws])
    assert together < -0.7


def test_masking_functions_and_their_parameters_are_checked():
    _, incomplete = correlated(40)
    with pytest.raises(ValueError, match="no masking function"):
        PMAENetworkImputer(**SMALL, masking="magic", steps=1).fit(incomplete)
    with pytest.raises(ValueError, match=r"\ba\b"):
        PMAENetworkImputer(**SMALL, masking="linear", a=0.1, steps=1).fit(incomplete)


@pytest.mark.parametrize("share", [-0.1, 1.0, 2])
def test_a_validation_share_must_leave_rows_to_learn_from(share):
    _, incomplete = correlated(40)
    with pytest.raises(ImputationError, match="validation_share must be at least 0 and below 1"):
        PMAENetworkImputer(**SMALL, steps=1, validation_share=share).fit(incomplete)


def test_roles_can_be_given():
    frame = pd.DataFrame({"grade": [1, 2, 3] * 20, "x": np.arange(60) % 3 * 1.0})
    frame.loc[::5, "x"] = np.nan
    imputer = PMAENetworkImputer(**SMALL, steps=2, schema={"grade": "categorical", "x": "ignored"})
    with pytest.warns(ImputationWarning, match="'x' keeps its missing cells"):
        imputed = imputer.fit_transform(frame)
    assert imputed["x"].isna().sum() == 12
    assert imputer.encoder_.columns_[0].n_categories == 3


@pytest.mark.parametrize("architecture", ["mixer", "transformer"])
@pytest.mark.parametrize("categorical", ["scalar", "softmax"])
def test_mixed_precision_trains_too(architecture, categorical):
    _, incomplete = correlated(60)
    imputer = PMAENetworkImputer(
        **SMALL, steps=3, architecture=architecture, categorical=categorical, precision="bfloat16"
    )
    assert not imputer.fit_transform(incomplete).isna().any(axis=None)


def test_wide_tables_start_from_pairs_and_very_wide_ones_from_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(40, 300))).rename(columns=str)
    wide.iloc[::4, 0] = np.nan
    imputer = PMAENetworkImputer(**SMALL, steps=2).fit(wide)
    assert imputer.settings_["start"] == "gaussian"
    assert not imputer.transform(wide).isna().any(axis=None)
    monkeypatch.setattr("pmae_core.imputers.masked.base.MOST_COORDINATES", 299)
    assert PMAENetworkImputer(**SMALL, steps=2).fit(wide).settings_["start"] == "none"


def test_mixing_of_columns_is_bounded():
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(40, 50))).rename(columns=str)
    wide.iloc[::4, 0] = np.nan

    def hidden_units(**params) -> int:
        imputer = PMAENetworkImputer(steps=2, encoder_depth=1, decoder_depth=1, **params).fit(wide)
        return imputer.network_.network.encoder[0].mlp_tokens.fc1.out_features

    assert hidden_units() == 128
    assert hidden_units(mixing_width=20) == 20
    assert hidden_units(mixing_width=0) == hidden_units(preset="paper-steps") == 4 * 51


def peak_bytes(work: Callable[[], object]) -> int:
    """Return the most memory that some work takes at a time, without what was there before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("preset", ["fast", "paper-steps"])
@pytest.mark.parametrize("as_array", [False, True], ids=["frame", "array"])
def test_a_long_table_takes_at_most_three_times_its_memory(preset, as_array):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(100_000, 20))).rename(columns=str)
    table.iloc[::500, ::2] = np.nan  # few rows to predict, as it is not their time that counts
    given = table.to_numpy() if as_array else table
    imputer = PMAENetworkImputer(**SMALL, preset=preset, steps=2)
    imputer.fit_transform(given[:100])  # what is loaded and cached at first use is no table
    two_tables_and_a_little = 2 * table.memory_usage(index=False).sum() + 2**20
    assert peak_bytes(lambda: imputer.fit(given)) < two_tables_and_a_little
    assert peak_bytes(lambda: imputer.transform(given)) < two_tables_and_a_little


def test_no_more_rows_than_a_batch_go_through_the_network_at_a_time(monkeypatch):
    rows = []
    forward = MaskedAutoencoder.forward

    def counting(self, values, *others):
        rows.append(len(values))
        return forward(self, values, *others)

    monkeypatch.setattr(MaskedAutoencoder, "forward", counting)
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(500, 40))).rename(columns=str)
    wide = wide.mask(rng.random(wide.shape) < 0.1)
    imputer = PMAENetworkImputer(**SMALL, steps=2, batch_size=64).fit(wide)
    imputer.sample(wide, n=1)
    imputer.transform(wide)
    assert max(rows) == imputer.network_.network.rows_at_a_time == 64


def test_moments_in_pieces_are_those_of_the_whole_table(monkeypatch):
    _, incomplete = correlated()
    encoded = TableEncoder().fit_transform(incomplete)
    whole = _fitting._moments(encoded)
    monkeypatch.setattr(_fitting, "CELLS_PER_PIECE", 28)
    in_pieces = _fitting._moments(encoded)
    for one, other in zip(whole, in_pieces, strict=True):
        np.testing.assert_array_equal(one, other)
    seen = encoded.values[encoded.observed[:, 0], 0]
    assert in_pieces[0][0] == pytest.approx(seen.mean())
    assert in_pieces[1][0] == pytest.approx(seen.std())


def test_ten_thousand_categories():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(10_000)]
    frame = pd.DataFrame({"word": words + words, "x": rng.normal(size=20_000)})
    frame.loc[rng.random(20_000) < 0.1, "word"] = None
    frame.loc[rng.random(20_000) < 0.1, "x"] = np.nan
    imputer = PMAENetworkImputer(**SMALL, steps=3, schema={"word": "categorical"})
    imputed = imputer.fit_transform(frame)
    assert not imputed.isna().any(axis=None)
    assert set(imputed["word"]) <= set(words)
    seen = frame["word"].notna()
    assert (imputed["word"] == frame["word"])[seen].all()


def test_infinities_stay_and_are_not_learned():
    frame = pd.DataFrame({"a": np.linspace(0, 1, 50), "b": np.linspace(1, 2, 50)})
    frame.iloc[3, 0] = np.inf
    frame.iloc[4, 0] = np.nan
    imputed = PMAENetworkImputer(**SMALL, steps=3).fit_transform(frame)
    assert imputed.iloc[3, 0] == np.inf
    assert 0 <= imputed.iloc[4, 0] <= 1


def test_remasker_can_have_the_loss_of_pmae():
    _, incomplete = correlated()
    own, other = (
        ReMaskerImputer(**SMALL, steps=2, loss=loss).fit(incomplete)
        for loss in ("remasker", "paper")
    )
    assert own.settings_["loss"] == "remasker"
    assert other.settings_["loss"] == "paper"
    assert not own.transform(incomplete).equals(other.transform(incomplete))


NUMPY_SETTINGS = {
    "width": np.int64(8),
    "encoder_depth": np.int32(1),
    "decoder_depth": np.int64(1),
    "steps": np.int64(12),
    "batch_size": np.int64(16),
    "min_category_count": np.int64(2),
    "learning_rate": np.float32(1e-3),
    "dropout": np.float64(0.1),
    "a": np.float64(0.1),
    "correct_means": np.bool_(True),
    "random_state": np.int64(0),
}
PLAIN_SETTINGS = {name: value.item() for name, value in NUMPY_SETTINGS.items()}


def test_numbers_of_numpy_are_saved_like_those_of_python(tmp_path):
    """A grid search gives them."""
    _, incomplete = correlated(80)
    imputer = PMAENetworkImputer(**NUMPY_SETTINGS).fit(incomplete)
    imputed = imputer.transform(incomplete)
    imputer.save(tmp_path / "model.pmae")
    loaded = load_imputer(tmp_path / "model.pmae")
    assert loaded.settings_ == imputer.settings_
    assert {name: getattr(loaded, name) for name in PLAIN_SETTINGS} == PLAIN_SETTINGS
    pd.testing.assert_frame_equal(loaded.transform(incomplete), imputed, check_exact=True)
    plain = PMAENetworkImputer(**PLAIN_SETTINGS).fit_transform(incomplete)
    pd.testing.assert_frame_equal(plain, imputed, check_exact=True)


def test_a_fit_with_numbers_of_numpy_resumes_from_its_checkpoint(tmp_path):
    _, incomplete = correlated(80)
    straight = PMAENetworkImputer(**NUMPY_SETTINGS).fit_transform(incomplete)
    steps = iter(range(100))
    with pytest.raises(Cancelled, match="after 6 steps"):
        PMAENetworkImputer(**NUMPY_SETTINGS).fit(
            incomplete, checkpoint_dir=tmp_path, cancel=lambda: next(steps) == 6
        )
    events = []
    resumed = PMAENetworkImputer(**NUMPY_SETTINGS).fit(
        incomplete, checkpoint_dir=tmp_path, callbacks=[events.append]
    )
    assert [event.step for event in events if isinstance(event, TrainingProgress)] == [10, 12]
    pd.testing.assert_frame_equal(resumed.transform(incomplete), straight, check_exact=True)


@pytest.mark.parametrize("correct_means", [False, True])
def test_standard_scaling_can_predict_beyond_three_deviations(correct_means, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    x[:4] = 9.0, 10.0, -9.0, -10.0
    table = pd.DataFrame({"x": x, "y": 2 * x, "z": rng.normal(size=400)})
    table.loc[[0, 2], "y"] = np.nan
    imputer = PMAENetworkImputer(
        numeric="standard", steps=40, correct_means=correct_means, random_state=0
    ).fit(table)
    y = imputer.transform(table)["y"]
    assert y[0] > table["y"].mean() + 4 * table["y"].std()
    assert y[2] < table["y"].mean() - 4 * table["y"].std()
    assert y.between(-20, 20).all()  # still inside the observed range
    drawn = imputer.sample(table, 5, random_state=0)
    assert min(draw["y"][0] for draw in drawn) > table["y"].mean() + 4 * table["y"].std()
    imputer.save(tmp_path / "model.pmae")
    loaded = load_imputer(tmp_path / "model.pmae").transform(table)
    pd.testing.assert_series_equal(loaded["y"], y, check_exact=True)
