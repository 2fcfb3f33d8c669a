import numpy as np
import pandas as pd

from dashboard.train.curves import Curves, column_names, smoothed
from pmae_core.jobs import JobEvent
from pmae_core.jobs.store import DAMAGED_EVENT
from pmae_core.table import Role, Schema


def event(seq, kind, **data):
    return JobEvent(seq=seq, time=0.0, attempt=1, kind=kind, data=data)


def started(seq, first_step=0):
    return event(
        seq,
        "TrainingStarted",
        first_step=first_step,
        total_steps=100,
        device="cpu",
        precision="float32",
        n_rows=9,
        n_parameters=5,
    )


def progress(seq, step, loss=1.0, score=None, columns=((1.0, 2.0), (None, 3.0))):
    return event(
        seq,
        "TrainingProgress",
        step=step,
        total_steps=100,
        prediction_loss=loss,
        reconstruction_loss=None,
        column_losses=[list(pair) for pair in columns],
        validation_score=score,
        learning_rate=0.1,
        rows_per_second=7.0,
        eta_seconds=None,
    )


def references(seq):
    return event(
        seq,
        "ReferencesScored",
        n_cells=[20, 0],
        scores={"mean": 1.0, "gaussian": 0.8},
        column_scores={"mean": [1.0, None], "gaussian": [0.8, None]},
    )


def scored(seq, step, score, noise=0.01, columns=None):
    return event(
        seq,
        "ValidationScored",
        step=step,
        score=score,
        is_best=columns is not None,
        noise=noise,
        column_scores=columns,
    )


def test_nothing_is_known_before_the_first_event():
    curves = Curves()

    assert len(curves) == 0
    assert curves.losses().empty
    assert curves.validation().empty
    assert curves.references is curves.kept is None


def test_events_become_curves():
    curves = Curves()
    curves.read([started(1), event(2, "state", state="running"), progress(3, 10), progress(4, 20)])

    assert curves.last_event == 4
    assert (curves.device, curves.n_parameters, curves.total_steps) == ("cpu", 5, 100)
    losses = curves.losses()
    assert list(losses["step"]) == [10, 20]
    assert list(losses["prediction"]) == [1.0, 1.0]
    assert losses["reconstruction"].isna().all()


def test_what_was_heard_is_not_heard_again():
    curves = Curves()
    for _ in range(2):
        curves.read([started(1), progress(2, 10)])

    assert len(curves) == 1


def test_a_resumed_training_forgets_what_came_after_its_checkpoint():
    curves = Curves()
    curves.read([started(1), progress(2, 10), progress(3, 20), progress(4, 30, loss=9.0)])

    curves.read([started(5, first_step=20), progress(6, 25), progress(7, 30)])

    assert list(curves.losses()["step"]) == [10, 20, 25, 30]
    assert curves.losses()["prediction"].max() == 1.0


def test_validations_are_read_as_they_come():
    curves = Curves()
    curves.read([started(1), references(2), scored(3, 0, 0.8, 0.0, [0.8, None])])
    curves.read([scored(4, 25, 0.7, 0.02, [0.7, None]), scored(5, 50, 0.75)])

    assert curves.references.baseline == "gaussian"
    assert curves.validation()["step"].tolist() == [0, 25, 50]
    assert curves.validation()["noise"].tolist() == [0.0, 0.02, 0.01]
    assert (curves.kept.step, curves.kept.column_scores) == (25, [0.7, None])


def test_a_resumed_training_forgets_validations_after_its_checkpoint():
    curves = Curves()
    curves.read([started(1), scored(2, 0, 0.8, 0.0, [0.8]), scored(3, 25, 0.1, 0.0, [0.1])])

    curves.read([started(4, first_step=10)])

    assert curves.kept.step == 0


def test_an_older_run_has_a_score_with_its_losses_only():
    curves = Curves()
    scores = [None, 0.5, 0.5, 0.4, 0.4, 0.6]
    curves.read([progress(i + 1, 10 * i, score=score) for i, score in enumerate(scores)])

    found = curves.validation()
    assert found[["step", "score"]].to_numpy().tolist() == [[10, 0.5], [30, 0.4], [50, 0.6]]
    assert curves.kept is None


def test_many_events_are_thinned_to_means():
    curves = Curves()
    curves.read([progress(i, i, loss=float(i)) for i in range(1, 2001)])

    losses = curves.losses(most=100)

    assert len(losses) == 100
    np.testing.assert_allclose(losses["prediction"], losses["step"])
    np.testing.assert_allclose(losses["prediction"].mean(), 1000.5)


def test_a_cut_batch_is_known():
    curves = Curves()
    curves.read([event(1, "BatchReduced", step=3, batch_size=16)])

    assert curves.batch_size == 16


def test_names_of_the_columns_that_are_learned():
    frame = pd.DataFrame({"id": list("abc"), "x": [1.0, 2.0, 3.0], "same": 1.0, "none": None})
    schema = Schema.infer(frame, {"id": Role.IDENTIFIER})

    assert column_names(schema.to_dict(), 1) == ["x"]
    assert column_names(schema.to_dict(), 2) == ["column 1", "column 2"]
    assert column_names(None, 1) == ["column 1"]


def test_smoothing_calms_and_passes_over_gaps():
    values = pd.Series([1.0, np.nan, 1.0] * 50)

    np.testing.assert_allclose(smoothed(values), 1.0)


def test_events_that_cannot_be_read_are_counted_and_the_others_heard():
    curves = Curves()
    curves.read([started(1), progress(2, 1), event(3, DAMAGED_EVENT)])
    curves.read([event(4, "TrainingProgress", step=2), progress(5, 3)])
    assert (curves.n_damaged, curves.last_event, len(curves)) == (2, 5, 2)
