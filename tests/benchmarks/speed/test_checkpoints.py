from benchmarks.speed.checkpoints import measure


def test_a_checkpoint_is_set_against_the_steps_before_it(tmp_path):
    found = measure(columns=3, batch=4, rounds=2, folder=tmp_path)
    assert found["steps_between"] == 200
    assert min(found["step_ms"], found["checkpoint_ms"], found["without_waiting_ms"]) > 0
    assert found["file_kb"] > 0
    assert {path.name for path in tmp_path.iterdir()} == {
        "checkpoint.safetensors",
        "checkpoint.previous.safetensors",
    }
