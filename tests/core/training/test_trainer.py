"""The training loop on a small table with a known structure."""

import gc
import warnings
import weakref

import numpy as np
import pytest
import torch

from pmae_core.errors import DamageWarning
from pmae_core.events import DamageFound
from pmae_core.masking import MaskSampler, hold_out_cells
from pmae_core.model import MaskedAutoencoder, NetworkConfig
from pmae_core.training import (
    BatchReduced,
    CheckpointSaved,
    ReferencesScored,
    Trainer,
    TrainingConfig,
    TrainingFinished,
    TrainingProgress,
    TrainingStarted,
    ValidationScored,
    train,
)
from pmae_core.training.validation import CELLS_TO_COUNT_FULLY
from tests.support.damage import with_flipped_bit


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    x = rng.random((200, 1))
    values = np.hstack([x, 1 - x, x, rng.random((200, 1))]).astype("float32")
    observed = rng.random(values.shape) < 0.8
    return np.where(observed, values, 0).astype("float32"), observed


def run(table, *, network=None, held_out=None, masking="logit", trainer=None, **options):
    values, observed = table
    passed = {name: options.pop(name) for name in ("callbacks", "cancel") if name in options}
    passed["checkpoint_dir"] = options.pop("checkpoint_dir", None)
    if network is None:
        torch.manual_seed(0)
        network = MaskedAutoencoder(
            NetworkConfig(encoder_depth=1, decoder_depth=1, width=16), [0, 0, 0, 0]
        )
    config = TrainingConfig(
        **{"steps": 12, "batch_size": 32, "seed": 3, "device": "cpu", **options}
    )
    sampler = MaskSampler(function=masking).fit(observed)
    if trainer is None:
        result = train(network, values, observed, sampler, config, held_out=held_out, **passed)
    else:
        cancel = passed.pop("cancel", None)
        made = trainer(network, values, observed, sampler, config, held_out=held_out, **passed)
        result = made.train(cancel)
    return network, result


def weights(network) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in network.parameters()])


def test_it_learns_what_can_be_learned(table):
    held_out = hold_out_cells(table[1], 0.5, np.random.default_rng(0))
    _, untrained = run(table, held_out=held_out, steps=0)
    _, trained = run(table, held_out=held_out, steps=400, learning_rate=5e-3)
    # Three of four columns are one another's copy; the fourth keeps its variance of 1/12.
    assert trained.best_score < 0.5 * untrained.best_score
    assert trained.best_score == pytest.approx(1 / 12 / 4, abs=0.02)


@pytest.mark.parametrize("length", [{"steps": 12}, {"steps": None, "epochs": 2}])
def test_same_seed_same_weights_and_the_global_generator_is_untouched(table, length):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(0)
    network = MaskedAutoencoder(NetworkConfig(encoder_depth=1, decoder_depth=1), [0] * 4)
    state = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    torch.manual_seed(7)
    first, _ = run(table, network=network, **length)
    assert torch.equal(torch.rand(3), expected)
    first_weights = weights(first)
    network.load_state_dict(state)
    again, _ = run(table, network=network, **length)
    assert torch.equal(first_weights, weights(again))
    network.load_state_dict(state)
    other, _ = run(table, network=network, **{**length, "seed": 4})
    assert not torch.equal(first_weights, weights(other))


def test_a_small_table_is_trained_by_one_thread_whatever_the_machine_has(table):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    threads = set()
    try:
        run(table, callbacks=[lambda event: threads.add(torch.get_num_threads())])
    finally:
        torch.set_num_threads(before)
    assert threads == {1}


def test_a_run_cancelled_before_its_first_step_loses_no_patience(table, tmp_path):
    held_out = hold_out_cells(table[1], 0.5, np.random.default_rng(0))
    settings = {"held_out": held_out, "patience": 1, "validate_every": 4, "learning_rate": 5e-3}
    _, straight = run(table, **settings)
    run(table, **settings, cancel=lambda: True, checkpoint_dir=tmp_path)
    _, resumed = run(table, **settings, checkpoint_dir=tmp_path)
    assert resumed.step == straight.step > 0


@pytest.mark.parametrize("average_decay", [None, 0.9])
@pytest.mark.parametrize("stop_at", [1, 7, 19])
def test_resuming_gives_the_uninterrupted_weights(table, tmp_path, stop_at, average_decay):
    held_out = hold_out_cells(table[1], 0.5, np.random.default_rng(0))
    settings = {
        "steps": 20,
        "validate_every": 3,
        "held_out": held_out,
        "average_decay": average_decay,
    }
    straight, expected = run(table, **settings)
    steps = iter(range(1000))
    _, stopped = run(
        table, **settings, checkpoint_dir=tmp_path, cancel=lambda: next(steps) == stop_at
    )
    assert (stopped.reason, stopped.step) == ("cancelled", stop_at)
    resumed, result = run(table, **settings, checkpoint_dir=tmp_path)
    assert torch.equal(weights(straight), weights(resumed))
    assert (result.best_step, result.best_score) == (expected.best_step, expected.best_score)


def test_a_killed_training_resumes_from_its_last_checkpoint(table, tmp_path):
    straight, _ = run(table)
    settings = {"checkpoint_dir": tmp_path, "checkpoint_every": 5, "log_every": 4}
    with pytest.raises(KeyboardInterrupt):
        run(table, **settings, callbacks=[kill_after(8)])
    events = []
    resumed, _ = run(table, **settings, callbacks=[events.append])
    assert events[0].first_step == 5
    assert torch.equal(weights(straight), weights(resumed))


def kill_after(step):
    """Return a callback that ends a training without a goodbye."""

    def kill(event):
        if isinstance(event, TrainingProgress) and event.step == step:
            raise KeyboardInterrupt

    return kill


@pytest.mark.parametrize(
    ("damage", "first_step"),
    [
        (lambda newest, previous: newest.write_bytes(b""), 4),
        (lambda newest, previous: newest.write_bytes(newest.read_bytes()[:-1]), 4),
        (lambda newest, previous: flip(newest, 0.9), 4),
        (lambda newest, previous: flip(previous, 0.9), 8),
        (lambda newest, previous: (flip(newest, 0.2), previous.unlink()), 0),
        (lambda newest, previous: (flip(newest, 0.2), flip(previous, 0.4)), 0),
    ],
    ids=["empty", "cut", "flipped", "only the previous", "no previous", "both"],
)
def test_a_damaged_checkpoint_is_done_without(table, tmp_path, damage, first_step):
    held_out = hold_out_cells(table[1], 0.5, np.random.default_rng(0))
    settings = {"held_out": held_out, "validate_every": 3, "average_decay": 0.9, "log_every": 1}
    straight, expected = run(table, **settings)
    settings |= {"checkpoint_dir": tmp_path, "checkpoint_every": 4}
    with pytest.raises(KeyboardInterrupt):
        run(table, **settings, callbacks=[kill_after(10)])
    damage(tmp_path / "checkpoint.safetensors", tmp_path / "checkpoint.previous.safetensors")
    events = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DamageWarning)
        resumed, result = run(table, **settings, callbacks=[events.append])
    assert torch.equal(weights(straight), weights(resumed))
    assert (result.best_step, result.best_score) == (expected.best_step, expected.best_score)
    [started] = [event for event in events if isinstance(event, TrainingStarted)]
    assert started.first_step == first_step
    place = f"resumed at step {first_step}" if first_step else "started again"
    said = [f"The newest checkpoint is damaged, so training {place}."] if first_step < 8 else []
    assert [event.sentence for event in events if isinstance(event, DamageFound)] == said
    assert [str(one.message) for one in caught if one.category is DamageWarning] == said


def flip(path, share):
    content = path.read_bytes()
    path.write_bytes(with_flipped_bit(content, int(share * len(content))))


def test_a_checkpoint_of_other_data_or_settings_is_refused(table, tmp_path):
    run(table, checkpoint_dir=tmp_path, checkpoint_every=5)
    with pytest.raises(ValueError, match="other data or settings"):
        run(table, checkpoint_dir=tmp_path, learning_rate=0.5)
    values, observed = table
    with pytest.raises(ValueError, match="other data or settings"):
        run((values + 1, observed), checkpoint_dir=tmp_path)
    with pytest.raises(ValueError, match="other data or settings"):
        run(table, checkpoint_dir=tmp_path, checkpoint_every=5, masking="constant")


def test_settings_may_be_numbers_of_numpy(table, tmp_path):
    numbers = {"steps": np.int64(6), "batch_size": np.int64(32), "learning_rate": np.float32(1e-3)}
    run(table, **numbers, checkpoint_dir=tmp_path, checkpoint_every=4)
    events = []
    plain = {"steps": 6, "batch_size": 32, "learning_rate": float(np.float32(1e-3))}
    run(table, **plain, checkpoint_dir=tmp_path, checkpoint_every=4, callbacks=[events.append])
    assert events[0].first_step == 4


def test_events_report_all_of_a_training(table, tmp_path):
    events = []
    held_out = hold_out_cells(table[1], 0.5, np.random.default_rng(0))
    _, result = run(
        table,
        held_out=held_out,
        callbacks=[events.append],
        log_every=5,
        validate_every=4,
        checkpoint_dir=tmp_path,
        checkpoint_every=6,
    )
    kinds = [type(event) for event in events]
    assert kinds[:3] == [TrainingStarted, ReferencesScored, ValidationScored]
    assert kinds[-1] is TrainingFinished
    assert [e.step for e in events if isinstance(e, CheckpointSaved)] == [6]
    progress = [event for event in events if isinstance(event, TrainingProgress)]
    assert [event.step for event in progress] == [5, 10, 12]
    assert all(event.total_steps == 12 for event in progress)
    assert progress[-1].eta_seconds == 0
    assert all(event.rows_per_second > 0 for event in progress)
    assert all(event.validation_score is not None for event in progress)
    assert all(len(event.column_losses) == 4 for event in progress)
    assert events[-1].to_dict()["event"] == "TrainingFinished"
    assert events[-1].best_score == result.best_score
    references = next(event for event in events if isinstance(event, ReferencesScored))
    validations = [event for event in events if isinstance(event, ValidationScored)]
    assert [event.step for event in validations] == [0, 4, 8, 12]
    kept = [event for event in validations if event.is_best][-1]
    assert (kept.step, kept.score) == (result.best_step, result.best_score)
    weights = np.minimum(references.n_cells, CELLS_TO_COUNT_FULLY)
    assert np.isclose(np.average(kept.column_scores, weights=weights), kept.score, rtol=1e-3)
    assert all((event.column_scores is not None) == event.is_best for event in validations)
    assert all(event.noise > 0 for event in validations)
    assert events[1].n_cells == held_out.cells.sum(axis=0).tolist()
    # Columns of even numbers between 0 and 1 have a variance of 1/12.
    assert events[1].scores["mean"] == pytest.approx(1 / 12, rel=0.15)


def test_prediction_and_reconstruction_are_separate(table):
    def losses(masking):
        events = []
        run(table, masking=masking, callbacks=[events.append])
        return next(e for e in events if isinstance(e, TrainingProgress))

    assert losses("no_prediction").prediction_loss is None
    assert losses("no_reconstruction").reconstruction_loss is None
    both = losses("logit")
    assert both.prediction_loss > 0
    assert both.reconstruction_loss > 0


def test_early_stopping_keeps_the_best_weights(table):
    held_out = hold_out_cells(table[1], 0.5, np.random.default_rng(0))
    scores = {}

    def note(event):
        if isinstance(event, TrainingProgress):
            scores[event.step] = event.validation_score

    # A learning rate that destroys the network makes an early best step certain.
    _, result = run(
        table,
        held_out=held_out,
        callbacks=[note],
        steps=200,
        learning_rate=1.0,
        validate_every=1,
        log_every=1,
        patience=3,
    )
    assert result.reason == "early"
    assert result.step == result.best_step + 3
    assert result.best_score <= min(scores.values())


def test_held_out_cells_are_never_trained_on(table):
    values, observed = table
    held_out = hold_out_cells(observed, 0.5, np.random.default_rng(0))
    spoiled = values.copy()
    rows, columns = np.nonzero(held_out.cells)
    spoiled[held_out.rows[rows], columns] = 0.123
    plain, _ = run(table, held_out=None, steps=5)
    # Without early stopping the last weights must not depend on held-out values at all.
    settings = {"steps": 5, "validate_every": 1000}
    remaining = held_out.remove_from(observed)
    first, _ = run((values, remaining), **settings)
    second, _ = run((spoiled, remaining), **settings)
    assert torch.equal(weights(first), weights(second))
    assert not torch.equal(weights(plain), weights(first))


def test_a_finished_training_frees_its_table_at_once(table):
    values, observed = (array.copy() for array in table)
    held = weakref.ref(values)
    gc.disable()  # tables are large, and collection may come late
    try:
        run((values, observed))
        del values
        assert held() is None
    finally:
        gc.enable()


class TenRowsAtMost(MaskedAutoencoder):
    def forward(self, values, kept):
        if len(values) > 10:
            raise torch.OutOfMemoryError("out of memory")
        return super().forward(values, kept)


def test_running_out_of_memory_halves_the_batch(table):
    network = TenRowsAtMost(NetworkConfig(encoder_depth=1, decoder_depth=1), [0] * 4)
    events = []
    _, result = run(table, network=network, callbacks=[events.append])
    reduced = [event.batch_size for event in events if isinstance(event, BatchReduced)]
    assert reduced == [16, 8]
    assert result.reason == "completed"


def test_after_running_out_of_memory_an_epoch_still_has_every_row(table):
    values, observed = table
    values[:, 0], observed[:, 0] = np.arange(200) / 200, True
    used = []

    class Counting(Trainer):
        def training_step(self, batch):
            output = super().training_step(batch)
            used.extend(batch.values[:, 0].tolist())
            return output

    network = TenRowsAtMost(NetworkConfig(encoder_depth=1, decoder_depth=1), [0] * 4)
    _, result = run((values, observed), network=network, trainer=Counting, steps=None, epochs=1)
    assert result.step == 7
    assert sorted(used) == values[:, 0].tolist()


def test_a_batch_in_pieces_has_the_gradient_of_the_whole(table):
    values, _ = table
    observed = np.ones_like(values, dtype=bool)
    network = MaskedAutoencoder(
        NetworkConfig(encoder_depth=1, decoder_depth=1, dropout=0.0), [0] * 4
    )
    trainer = Trainer(
        network,
        values,
        observed,
        MaskSampler(function="no_prediction"),
        TrainingConfig(steps=1, batch_size=30, device="cpu"),
    )
    batch = trainer.sample_batch()
    gradients = []
    for trainer.batch_size in (30, 8):
        network.zero_grad()
        errors = trainer.backward(batch)
        assert errors.shape == (30, 4)
        gradients.append([parameter.grad for parameter in network.parameters()])
    torch.testing.assert_close(*gradients)


def test_not_even_one_row_fits(table):
    class Never(MaskedAutoencoder):
        def forward(self, values, kept):
            raise torch.OutOfMemoryError("out of memory")

    with pytest.raises(torch.OutOfMemoryError):
        run(table, network=Never(NetworkConfig(encoder_depth=1, decoder_depth=1), [0] * 4))


@pytest.fixture
def compiled(monkeypatch):
    """Compile without a compiler of C++; return the options of every call."""
    calls = []

    def compile_without_a_compiler(function, **options):
        calls.append(options)
        return torch_compile(function, backend="aot_eager", **options)

    torch_compile = torch.compile
    monkeypatch.setattr(torch, "compile", compile_without_a_compiler)
    return calls


@pytest.mark.parametrize(
    "network",
    [
        {"dropout": 0.0},
        {"architecture": "transformer"},
        {"categorical": "softmax", "start": "gaussian", "dropout": 0.0},
    ],
    ids=["mixer", "transformer", "with a start"],
)
def test_a_compiled_step_learns_the_same(table, compiled, network):
    config = NetworkConfig(encoder_depth=1, decoder_depth=1, width=16, **network)
    learned = []
    for is_compiled in (False, True):
        torch.manual_seed(0)
        model = MaskedAutoencoder(config, [0] * 4)
        before = weights(model)
        # 200 rows in batches of 32: the last batch of an epoch is smaller.
        run(table, network=model, compiled=is_compiled)
        learned.append(weights(model) - before)
    assert compiled == [{"dynamic": False}]
    # AdamW turns a rounding error in a gradient near 0 into a step, so a few may differ.
    difference = (learned[1] - learned[0]).abs().mean()
    assert difference < 1e-3 * learned[0].abs().mean()


def test_a_compiled_step_drops_out_too(table, compiled):
    """Its random numbers differ, so it learns something similar, not the same."""
    losses = []
    for dropout in (0.0, 0.5):
        config = NetworkConfig(encoder_depth=1, decoder_depth=1, width=16, dropout=dropout)
        events: list = []
        torch.manual_seed(0)
        network = MaskedAutoencoder(config, [0] * 4)
        run(table, network=network, compiled=True, callbacks=[events.append])
        progress = [e for e in events if isinstance(e, TrainingProgress)]
        losses.append(progress[0].reconstruction_loss)
    assert np.isfinite(losses[1])
    assert losses[1] > losses[0]


def test_the_first_step_of_a_warm_up_in_steps_changes_the_weights(table):
    untrained, _ = run(table, steps=0)
    trained, _ = run(table, steps=1, warmup_steps=10)
    assert not torch.equal(weights(untrained), weights(trained))


def test_a_subclass_may_change_the_training_step(table):
    class Shrinking(Trainer):
        """Adds a penalty on the size of the weights."""

        batches = 0

        def training_step(self, batch):
            type(self).batches += 1
            output = super().training_step(batch)
            penalty = sum(parameter.square().sum() for parameter in self.network.parameters())
            return output._replace(loss=output.loss + penalty)

    settings = {"steps": 30, "learning_rate": 1e-2}
    plain, _ = run(table, **settings)
    shrunk, result = run(table, trainer=Shrinking, **settings)
    assert Shrinking.batches == result.step == 30
    assert weights(shrunk).norm() < 0.9 * weights(plain).norm()


def test_a_subclass_may_change_the_validation_step(table):
    class Eighth(Trainer):
        """Prefers step 8, whatever the network predicts; it needs no held-out cells."""

        def validation_step(self):
            return abs(self.step - 8.0)

    network, result = run(table, trainer=Eighth, validate_every=4, steps=16)
    assert (result.best_step, result.best_score) == (8, 0.0)
    assert torch.equal(weights(network), weights(run(table, steps=16, cancel=stop_at(8))[0]))


def stop_at(step):
    asked = iter(range(1000))
    return lambda: next(asked) == step
