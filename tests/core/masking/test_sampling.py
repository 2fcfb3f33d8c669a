import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pmae_core.masking import MaskSampler, RandomKeepSampler, masking_probability

SAMPLERS = [
    lambda: MaskSampler(),
    lambda: MaskSampler(function="no_reconstruction", p_obs="table"),
    lambda: MaskSampler(copy_share=0.5),
    lambda: MaskSampler(copy_share=1.0),
    lambda: RandomKeepSampler(),
    lambda: RandomKeepSampler(keep=0.0),
]


def table(n_rows=20_000, p_obs=(0.2, 0.5, 0.9, 1.0), seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n_rows, len(p_obs))) < np.asarray(p_obs)


@pytest.mark.parametrize("make", SAMPLERS)
@given(
    observed=arrays(bool, st.tuples(st.integers(1, 8), st.integers(1, 6))), seed=st.integers(0, 99)
)
def test_only_observed_cells_are_masked_and_a_seed_repeats(make, observed, seed):
    sampler = make().fit(observed)
    before = observed.copy()
    masked = sampler.sample(observed, np.random.default_rng(seed))
    assert masked.shape == observed.shape
    assert masked.dtype == bool
    assert not (masked & ~observed).any()
    np.testing.assert_array_equal(masked, sampler.sample(observed, np.random.default_rng(seed)))
    np.testing.assert_array_equal(observed, before)
    assert not np.shares_memory(masked, observed)


@pytest.mark.parametrize("p_obs", ["batch", "table"])
@pytest.mark.parametrize("function", ["logit", "linear", "piecewise"])
def test_columns_are_masked_at_their_rate(function, p_obs):
    observed = table()
    sampler = MaskSampler(function=function, p_obs=p_obs).fit(observed)
    masked = sampler.sample(observed, np.random.default_rng(1))
    rate = masked.sum(axis=0) / observed.sum(axis=0)
    np.testing.assert_allclose(
        rate, masking_probability(observed.mean(axis=0), function), atol=0.025
    )


def test_settings_tell_samplers_apart_and_can_be_written():
    texts = [json.dumps(make().settings(), sort_keys=True) for make in SAMPLERS]
    assert len(set(texts)) == len(SAMPLERS)
    given = MaskSampler(params={"a": np.float32(0.25)}).settings()
    assert json.loads(json.dumps(given))["params"] == {"a": 0.25, "b": 0.5}
    assert MaskSampler(params={"a": 0.05}).settings() == MaskSampler().settings()


def test_fully_observed_is_judged_by_the_batch_or_by_the_table():
    whole = np.array([[True, True], [True, False]] * 200)
    batch = whole[::2]  # here both columns are fully observed
    rng = np.random.default_rng(0)
    assert not MaskSampler().fit(whole).sample(batch, rng).any()
    from_table = MaskSampler(p_obs="table").fit(whole).sample(batch, rng)
    assert not from_table[:, 0].any()
    assert 60 < from_table[:, 1].sum() < 140


def test_parameters_reach_the_function():
    observed = table(2_000)
    sampler = MaskSampler(function="constant", params={"rate": 1.0})
    np.testing.assert_array_equal(
        sampler.sample(observed, np.random.default_rng(0))[:, :3], observed[:, :3]
    )


def test_copied_masks_are_patterns_of_other_rows():
    patterns = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]], dtype=bool)
    complete = np.ones((600, 4), dtype=bool)
    sampler = MaskSampler(copy_share=1.0).fit(patterns)
    kept = complete & ~sampler.sample(complete, np.random.default_rng(0))
    found, counts = np.unique(kept, axis=0, return_counts=True)
    assert {tuple(row) for row in found} == {tuple(row) for row in patterns}
    assert counts.min() > 150


def test_copy_share_blends_both_kinds_of_rows():
    donors = np.zeros((5, 30), dtype=bool)  # a copied row masks everything
    observed = np.ones((4_000, 30), dtype=bool)
    sampler = MaskSampler(function="no_prediction", copy_share=0.3).fit(donors)
    masked = sampler.sample(observed, np.random.default_rng(0))
    assert set(masked.sum(axis=1)) == {0, 30}
    assert masked.all(axis=1).mean() == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize("settings", [{"p_obs": "table"}, {"copy_share": 0.5}])
def test_a_sampler_that_needs_the_table_asks_for_it(settings):
    with pytest.raises(ValueError, match=r"Call fit\(observed\)"):
        MaskSampler(**settings).sample(np.ones((3, 2), dtype=bool), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"p_obs": "row"}, "'batch' or 'table'"),
        ({"copy_share": 1.5}, "copy_share must be between 0 and 1"),
        ({"function": "none"}, "no masking function"),
        ({"params": {"c": 1}}, "has no parameter c"),
    ],
)
def test_wrong_settings_are_refused_at_once(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        MaskSampler(**settings)


def test_an_empty_batch_gives_an_empty_mask():
    assert MaskSampler().sample(np.ones((0, 3), dtype=bool), np.random.default_rng(0)).shape == (
        0,
        3,
    )


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("n_columns", [1, 2, 5, 8])
def test_remasker_keeps_an_exact_number_of_cells(keep, n_columns):
    observed = np.random.default_rng(0).random((300, n_columns)) < 0.6
    masked = RandomKeepSampler(keep).sample(observed, np.random.default_rng(1))
    expected = np.minimum(int(keep * n_columns), observed.sum(axis=1))
    np.testing.assert_array_equal((observed & ~masked).sum(axis=1), expected)


def test_remasker_keeps_every_cell_equally_often():
    observed = np.ones((8_000, 4), dtype=bool)
    masked = RandomKeepSampler().sample(observed, np.random.default_rng(0))
    np.testing.assert_allclose(masked.mean(axis=0), 0.5, atol=0.02)


def test_remasker_refuses_an_impossible_share():
    with pytest.raises(ValueError, match="keep must be between 0 and 1"):
        RandomKeepSampler(1.2)


@pytest.mark.parametrize("make", SAMPLERS)
def test_sampling_is_cheap_beside_a_training_step(make):
    observed = table(64, p_obs=np.full(14, 0.6))
    sampler, rng = make().fit(observed), np.random.default_rng(0)
    start = time.perf_counter()
    for _ in range(200):
        sampler.sample(observed, rng)
    # Tens of microseconds each in practice; the bound leaves room for a busy machine.
    assert (time.perf_counter() - start) / 200 < 1e-3
