"""Length of a training and its learning rates."""

import itertools

import pytest

from pmae_core.training import TrainingConfig


def test_epochs_count_the_last_small_batch():
    config = TrainingConfig(epochs=3, batch_size=10)
    assert config.total_steps(21) == 9
    assert TrainingConfig(steps=7).total_steps(21) == 7


def test_warm_up_is_linear_and_the_cosine_ends_at_the_final_rate():
    config = TrainingConfig(steps=110, warmup_steps=10, learning_rate=1.0, final_learning_rate=0.1)
    rates = [config.learning_rate_at(step, n_rows=5) for step in range(111)]
    assert rates[:11] == pytest.approx([(step + 1) / 11 for step in range(11)])
    assert rates[60] == pytest.approx(0.55)
    assert rates[110] == pytest.approx(0.1)
    assert all(later <= earlier for earlier, later in itertools.pairwise(rates[10:]))


def test_warm_up_in_epochs_depends_on_the_table():
    config = TrainingConfig(epochs=10, warmup_epochs=4, batch_size=10, learning_rate=1.0)
    assert config.learning_rate_at(4, n_rows=20) == pytest.approx(0.5)


def test_warm_up_in_steps_learns_from_the_first_step_on():
    config = TrainingConfig(steps=110, warmup_steps=50)
    assert config.learning_rate_at(0, n_rows=5) > 0


def test_warm_up_in_epochs_starts_at_zero_as_in_the_release_of_the_paper():
    config = TrainingConfig(epochs=600, warmup_epochs=40, batch_size=128)
    rates = [config.learning_rate_at(step, n_rows=442) for step in range(4 * 40 + 1)]
    assert rates == pytest.approx([1e-3 * step / (4 * 40) for step in range(4 * 40 + 1)])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"steps": 1, "epochs": 1},
        {"steps": -1},
        {"epochs": -1},
        {"steps": 1, "batch_size": 0},
        {"steps": 1, "validate_every": 0},
        {"steps": 1, "patience": -1},
        {"steps": 1, "log_every": 0},
        {"steps": 1, "checkpoint_every": 0},
        {"steps": 1, "warmup_steps": -1},
        {"steps": 1, "learning_rate": 0.0},
        {"steps": 1, "loss": "magic"},
        {"steps": 1, "precision": "float8"},
    ],
)
def test_settings_that_describe_no_training_are_refused(settings):
    with pytest.raises(ValueError, match=r"steps and epochs|must be (at least|positive|one of)"):
        TrainingConfig(**settings)
