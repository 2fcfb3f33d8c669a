"""The training loop, as small steps that a subclass may change."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pmae_core.events import (
    BatchReduced,
    Callback,
    CheckpointSaved,
    Event,
    ReferencesScored,
    TrainingFinished,
    TrainingProgress,
    TrainingStarted,
    ValidationScored,
)
from pmae_core.masking import HeldOut, Sampler
from pmae_core.model import MaskedAutoencoder, reduce_errors
from pmae_core.storage.files import report_damage
from pmae_core.training.averaging import WeightAverage
from pmae_core.training.batch import Batch, ShuffledRows, StepOutput
from pmae_core.training.checkpoint import (
    TensorGroups,
    fingerprint,
    load_optimizer_tensors,
    optimizer_tensors,
    read_checkpoint,
    write_checkpoint,
)
from pmae_core.training.config import TrainingConfig
from pmae_core.training.device import autocast, choose_device, choose_precision, threads_for
from pmae_core.training.meter import LossMeter
from pmae_core.training.result import TrainingResult
from pmae_core.training.validation import BestWeights, HeldOutErrors, Validator

CHECKPOINT_NAME = "checkpoint.safetensors"


def train(
    network: MaskedAutoencoder,
    values: np.ndarray,
    observed: np.ndarray,
    sampler: Sampler,
    config: TrainingConfig,
    *,
    held_out: HeldOut | None = None,
    callbacks: Sequence[Callback] = (),
    cancel: Callable[[], bool] | None = None,
    checkpoint_dir: Path | None = None,
) -> TrainingResult:
    """Train a network on the observed cells of a table, in place.

    Parameters
    ----------
    network, values, observed, sampler, config, held_out, callbacks, checkpoint_dir
        As for :class:`Trainer`.
    cancel : callable, optional
        As for :meth:`Trainer.train`.
    """
    trainer = Trainer(
        network,
        values,
        observed,
        sampler,
        config,
        held_out=held_out,
        callbacks=callbacks,
        checkpoint_dir=checkpoint_dir,
    )
    return trainer.train(cancel)


class Trainer:
    """Train a network on the observed cells of a table, in place.

    :meth:`train` is the loop. The other public methods are its steps; a subclass may replace
    any of them.

    Parameters
    ----------
    network : MaskedAutoencoder
        The network; its weights are changed.
    values : float32 array of shape (rows, columns)
        Encoded cells.
    observed : bool array of shape (rows, columns)
        Which cells are observed; the trainer removes held-out cells from them.
    sampler : Sampler
        Chooses the masked cells of every batch.
    config : TrainingConfig
        Settings.
    held_out : HeldOut, optional
        Cells for validation; the weights with the best score are chosen.
    callbacks : sequence of callables
        Each is called with every event.
    checkpoint_dir : path, optional
        Folder of the checkpoint and of the one before it. If it holds a checkpoint of the same
        training, training resumes from it and ends with the same weights as a training that was
        never interrupted: the randomness of a step depends on the seed and the number of the step
        alone. A damaged checkpoint is set aside, with an event and a warning.
    """

    def __init__(
        self,
        network: MaskedAutoencoder,
        values: np.ndarray,
        observed: np.ndarray,
        sampler: Sampler,
        config: TrainingConfig,
        *,
        held_out: HeldOut | None = None,
        callbacks: Sequence[Callback] = (),
        checkpoint_dir: Path | None = None,
    ) -> None:
        self.device = choose_device(config.device)
        self.precision = choose_precision(config.precision, self.device)
        self.network = network.to(self.device).train()
        self.values = values
        self.observed = held_out.remove_from(observed) if held_out else observed
        self.held_out = held_out
        self.sampler = sampler
        self.config = config
        self.callbacks = callbacks
        self.validator = Validator(held_out, values, self.device) if held_out else None
        self.held_out_errors: HeldOutErrors | None = None  # of the newest validation
        self.baseline: HeldOutErrors | None = None  # of the network's start, or of the mean
        self.checkpoint_path = checkpoint_dir / CHECKPOINT_NAME if checkpoint_dir else None
        self.n_rows, n_columns = values.shape
        self.total_steps = config.total_steps(self.n_rows)
        self.optimizer = self.make_optimizer()
        decay = config.average_decay
        self.average = None if decay is None else WeightAverage(network, decay)
        self.best = BestWeights()
        self.rows = ShuffledRows(self.n_rows, config.batch_size, config.seed)
        self.meter = LossMeter(n_columns, self.device)
        # There are two shapes only: a batch, and the last one of an epoch.
        self._compute = torch.compile(_compute, dynamic=False) if config.compiled else _compute
        self.step = self.first_step = self.rows_done = 0
        self.batch_size = int(config.batch_size)  # torch takes no number of numpy

    def train(self, cancel: Callable[[], bool] | None = None) -> TrainingResult:
        """Take steps until the training is complete, stops early or is cancelled.

        Parameters
        ----------
        cancel : callable, optional
            Called before every step; ``True`` ends the training with the weights so far.
        """
        cells_of_a_step = min(self.config.batch_size, self.n_rows) * self.values.shape[1]
        gpus = [self.device.index or 0] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices=gpus), threads_for(cells_of_a_step):
            self.start()
            while (reason := self.reason_to_end(cancel)) is None:
                self.run_step()
                last = self.step == self.total_steps
                if self.step % self.config.validate_every == 0 or last:
                    self.validate()
                if self.step % self.config.log_every == 0 or last:
                    self.report()
                if self.step % self.config.checkpoint_every == 0 and not last:
                    self.save_checkpoint()
            if reason == "cancelled":
                self.save_checkpoint()
            return self.finish(reason)

    def run_step(self) -> None:
        """Take one optimizer step; a batch that does not fit into memory is split."""
        while True:
            try:
                batch = self.sample_batch()
                self.optimizer.zero_grad(set_to_none=True)
                errors = self.backward(batch)
                self.optimizer.step()
                break
            except torch.OutOfMemoryError:
                if self.batch_size == 1:
                    raise
                self.reduce_batch()
        if self.average is not None:
            self.average.update(self.network, self.step)
        self.meter.add(errors, batch.observed, batch.masked)
        self.rows_done += len(batch.values)
        self.step += 1

    def backward(self, batch: Batch) -> Tensor:
        """Add up the gradients of a batch in pieces that fit into memory; return its errors."""
        errors = []
        for piece in batch.split(self.batch_size):
            output = self.training_step(piece)
            (output.loss * (len(piece.values) / len(batch.values))).backward()
            errors.append(output.errors.detach())
        return torch.cat(errors)

    def training_step(self, batch: Batch) -> StepOutput:
        """Return the loss of a batch, whose gradient the optimizer follows."""
        with autocast(self.precision, self.device):
            return self._compute(self.network, self.config.loss, batch)

    def validation_step(self) -> float | None:
        """Return the score of :attr:`candidate`, lower is better; ``None`` for no validation."""
        if self.validator is None:
            return None
        self.held_out_errors = self.validator.errors(self.candidate)
        return self.held_out_errors.score

    @property
    def candidate(self) -> MaskedAutoencoder:
        """The network that is validated and chosen: the averaged one, if there is one."""
        return self.network if self.average is None else self.average.network

    def validate(self) -> None:
        """Score the network and report it; remember its weights if they are the best so far."""
        score = self.validation_step()
        if score is None:
            return
        is_best = self.best.offer(score, self.step, self.candidate)
        errors, baseline = self.held_out_errors, self.baseline
        self.emit(
            ValidationScored(
                step=self.step,
                score=score,
                is_best=is_best,
                noise=errors.noise_against(baseline) if errors and baseline else None,
                column_scores=errors.columns() if errors and is_best else None,
            )
        )

    def score_references(self) -> None:
        """Score mean imputation and the network's start on the held-out cells."""
        if self.validator is None:
            return
        found = self.validator.reference_errors(self.network, self.values, self.observed)
        self.baseline = found.get("gaussian", found["mean"])
        self.emit(
            ReferencesScored(
                n_cells=self.baseline.counts.tolist(),
                scores={name: errors.score for name, errors in found.items()},
                column_scores={name: errors.columns() for name, errors in found.items()},
            )
        )

    def reason_to_end(self, cancel: Callable[[], bool] | None = None) -> str | None:
        """Return why the training ends before the next step, ``None`` if it goes on."""
        if self.step >= self.total_steps:
            return "completed"
        if cancel is not None and cancel():
            return "cancelled"
        patience = self.config.patience
        if patience is not None and self.best.validations_since >= patience:
            return "early"
        return None

    def make_optimizer(self) -> torch.optim.Optimizer:
        """Return the optimizer of the network; its learning rate is set before every step."""
        return torch.optim.AdamW(
            self.network.parameters(),
            lr=self.config.learning_rate,
            betas=self.config.betas,
            weight_decay=self.config.weight_decay,
            fused=self.device.type in {"cpu", "cuda"},
        )

    def sample_batch(self) -> Batch:
        """Return the rows of this step with their masks; set its seed and learning rate."""
        rows = self.rows.of_step(self.step)
        rng = np.random.default_rng([self.config.seed, 1, self.step])
        torch.manual_seed(int(rng.integers(2**63)))
        observed = self.observed[rows]
        masked = self.sampler.sample(observed, rng)
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.learning_rate_at(self.step, self.n_rows)
        arrays = (self.values[rows], observed, masked)
        return Batch(*(torch.from_numpy(array).to(self.device) for array in arrays))

    def reduce_batch(self) -> None:
        """Halve the rows that are computed at a time, after an out-of-memory error."""
        self.optimizer.zero_grad(set_to_none=True)
        self.batch_size //= 2
        self.emit(BatchReduced(step=self.step, batch_size=self.batch_size))

    def start(self) -> None:
        """Load the checkpoint, report the start, and validate the first weights."""
        self.load_checkpoint()
        self.first_step = self.step
        self.started = time.perf_counter()
        self.emit(
            TrainingStarted(
                first_step=self.step,
                total_steps=self.total_steps,
                device=str(self.device),
                precision=self.precision,
                n_rows=self.n_rows,
                n_parameters=sum(p.numel() for p in self.network.parameters()),
            )
        )
        self.score_references()
        if self.step == 0 and self.best.score is None:  # not if cancelled before step 1
            self.validate()

    def report(self) -> None:
        """Report losses, score and remaining time as an event."""
        elapsed = max(time.perf_counter() - self.started, 1e-9)
        losses = self.meter.read()
        remaining = (self.total_steps - self.step) / (self.step - self.first_step)
        self.emit(
            TrainingProgress(
                step=self.step,
                total_steps=self.total_steps,
                prediction_loss=losses.prediction,
                reconstruction_loss=losses.reconstruction,
                column_losses=losses.columns,
                validation_score=self.best.last_score,
                learning_rate=self.config.learning_rate_at(self.step, self.n_rows),
                rows_per_second=self.rows_done / elapsed,
                eta_seconds=elapsed * remaining,
            )
        )

    def finish(self, reason: str) -> TrainingResult:
        """Put the chosen weights into the network; return the result."""
        validated = self.best.weights is not None
        self.network.load_state_dict(self.best.weights or self.candidate.state_dict())
        self.network.eval()
        result = TrainingResult(
            reason=reason,
            step=self.step,
            best_step=self.best.step if validated else self.step,
            best_score=self.best.score,
            seconds=time.perf_counter() - self.started,
        )
        self.emit(TrainingFinished(**asdict(result)))
        return result

    def emit(self, event: Event) -> None:
        """Call every callback with an event."""
        for callback in self.callbacks:
            callback(event)

    def save_checkpoint(self) -> None:
        """Write weights, optimizer and state, if there is a folder for checkpoints."""
        if self.checkpoint_path is None:
            return
        groups = {
            "network": self.network.state_dict(),
            "optimizer": optimizer_tensors(self.optimizer),
            "average": {} if self.average is None else self.candidate.state_dict(),
            "best": self.best.weights or {},
        }
        state = {
            "fingerprint": self._fingerprint(),
            "step": self.step,
            "batch_size": self.batch_size,
            "best": self.best.state(),
        }
        write_checkpoint(self.checkpoint_path, groups, state)
        self.emit(CheckpointSaved(step=self.step, path=str(self.checkpoint_path)))

    def load_checkpoint(self) -> None:
        """Go back to the state of the newest intact checkpoint, if there is one.

        Raises
        ------
        ValueError
            If the checkpoint is from another training.
        """
        if self.checkpoint_path is None:
            return
        checkpoint, damages = read_checkpoint(self.checkpoint_path)
        if checkpoint is not None:
            self._restore(*checkpoint)
        if damages:
            place = f"resumed at step {self.step}" if checkpoint else "started again"
            report_damage(self.callbacks, f"The newest checkpoint is damaged, so training {place}.")

    def _restore(self, groups: TensorGroups, state: dict[str, Any]) -> None:
        if state["fingerprint"] != self._fingerprint():
            raise ValueError(
                f"{self.checkpoint_path} belongs to a training with other data or settings. "
                "Choose another checkpoint folder."
            )
        self.network.load_state_dict(groups["network"])
        load_optimizer_tensors(self.optimizer, groups.get("optimizer", {}))
        if self.average is not None:
            self.average.network.load_state_dict(groups["average"])
        self.best = BestWeights(groups.get("best"), **state["best"])
        self.step, self.batch_size = state["step"], state["batch_size"]

    def _fingerprint(self) -> str:
        settings = {
            "training": asdict(replace(self.config, device="", log_every=1, checkpoint_every=1)),
            "network": asdict(self.network.config),
            "masking": self.sampler.settings(),
        }
        return fingerprint(settings, self.values, self.observed)


def _compute(network: MaskedAutoencoder, loss: str, batch: Batch) -> StepOutput:
    """Return loss and errors of a batch: the part of a step that can be compiled."""
    # Not a method: a trainer that refers to itself would keep its table until garbage collection.
    values, observed, masked = batch
    prediction = network(values, observed & ~masked)
    errors = network.cell_errors(prediction, values)
    return StepOutput(reduce_errors(loss, errors, observed, masked), errors)
