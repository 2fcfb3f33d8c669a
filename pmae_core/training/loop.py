"""The training loop."""

import copy
import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from pmae_core.events import (
    BatchReduced,
    Callback,
    CheckpointSaved,
    Event,
    TrainingFinished,
    TrainingProgress,
    TrainingStarted,
)
from pmae_core.masking import HeldOut, Sampler
from pmae_core.model import MaskedAutoencoder, reduce_errors
from pmae_core.training.checkpoint import (
    load_optimizer_tensors,
    optimizer_tensors,
    read_tensors,
    write_tensors,
)
from pmae_core.training.config import TrainingConfig
from pmae_core.training.device import autocast, choose_device, choose_precision, threads_for
from pmae_core.training.validation import Validator

CHECKPOINT_NAME = "checkpoint.safetensors"


@dataclass(frozen=True)
class TrainingResult:
    """How a training ended; the network itself holds the chosen weights.

    Attributes
    ----------
    reason : {"completed", "early", "cancelled"}
        Why it ended.
    step, best_step : int
        The last step, and the one whose weights were chosen.
    best_score : float or None
        Validation score of the chosen weights, ``None`` without held-out cells.
    seconds : float
        Time spent, not counting what came before a resume.
    """

    reason: str
    step: int
    best_step: int
    best_score: float | None
    seconds: float


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

    With a ``checkpoint_dir`` that holds a checkpoint of the same training, it goes on from
    there and ends with the same weights as a training that was never interrupted: the
    randomness of a step depends on the seed and the number of the step alone.

    Parameters
    ----------
    network : MaskedAutoencoder
        The network; its weights are changed.
    values : float32 array of shape (rows, columns)
        Encoded cells.
    observed : bool array of shape (rows, columns)
        Which cells are known; held-out cells are removed here.
    sampler : Sampler
        Chooses the masked cells of every batch.
    config : TrainingConfig
        Settings.
    held_out : HeldOut, optional
        Cells for validation; the weights with the best score are kept.
    callbacks : sequence of callables
        Each gets every event.
    cancel : callable, optional
        Asked before every step; ``True`` ends the training with the weights so far.
    checkpoint_dir : path, optional
        Where to save, and look for, a checkpoint.
    """
    run = _Run(network, values, observed, sampler, config, held_out, callbacks, checkpoint_dir)
    cells_of_a_step = min(config.batch_size, len(values)) * values.shape[1]
    with torch.random.fork_rng(devices=run.random_devices), threads_for(cells_of_a_step):
        return run.until_done(cancel or (lambda: False))


class _Run:
    """State of one training from its first step to its result."""

    def __init__(
        self,
        network: MaskedAutoencoder,
        values: np.ndarray,
        observed: np.ndarray,
        sampler: Sampler,
        config: TrainingConfig,
        held_out: HeldOut | None,
        callbacks: Sequence[Callback],
        checkpoint_dir: Path | None,
    ) -> None:
        self.device = choose_device(config.device)
        self.precision = choose_precision(config.precision, self.device)
        self.random_devices = [self.device.index or 0] if self.device.type == "cuda" else []
        self.network = network.to(self.device).train()
        self.values = values
        self.observed = held_out.remove_from(observed) if held_out else observed
        self.sampler = sampler
        self.config = config
        self.callbacks = callbacks
        self.validator = Validator(held_out, values, self.device) if held_out else None
        self.checkpoint = checkpoint_dir / CHECKPOINT_NAME if checkpoint_dir else None
        self.n_rows = len(values)
        self.total_steps = config.total_steps(self.n_rows)
        self.optimizer = torch.optim.AdamW(
            network.parameters(),
            lr=config.learning_rate,
            betas=config.betas,
            weight_decay=config.weight_decay,
            fused=self.device.type in {"cpu", "cuda"},
        )
        self.errors_and_loss = _errors_and_loss
        if config.compiled:
            # There are two shapes only: a batch, and the last one of an epoch.
            self.errors_and_loss = torch.compile(_errors_and_loss, dynamic=False)
        self.average = _clone(network) if config.average_decay is not None else None
        self.best: dict[str, Tensor] | None = None
        self.best_step = 0
        self.best_score: float | None = None
        self.last_score: float | None = None
        self.validations_since_best = 0
        self.batch_size = config.batch_size
        self.step = 0
        self.meter = _LossMeter(values.shape[1], self.device)
        self.rows_seen = 0
        self.order = np.empty(0, dtype=np.int64)
        self.order_epoch = -1

    def until_done(self, cancel: Callable[[], bool]) -> TrainingResult:
        self._resume()
        self.first_step = self.step
        self.started = time.perf_counter()
        self._emit(
            TrainingStarted(
                first_step=self.step,
                total_steps=self.total_steps,
                device=str(self.device),
                precision=self.precision,
                n_rows=self.n_rows,
                n_parameters=sum(p.numel() for p in self.network.parameters()),
            )
        )
        if self.step == 0 and self.best_score is None:  # a run cancelled at once has validated
            self._validate()
        reason = "completed"
        while self.step < self.total_steps:
            if cancel():
                reason = "cancelled"
                break
            if self._out_of_patience():
                reason = "early"
                break
            self._train_step()
            self._after_step()
        if reason == "cancelled":
            self._save()
        return self._finish(reason)

    def _train_step(self) -> None:
        """Take one step; a device that runs out of memory gets a smaller batch."""
        while True:
            try:
                self._optimize(self._rows_of_step())
                return
            except torch.OutOfMemoryError:
                if self.batch_size == 1:
                    raise
                self.optimizer.zero_grad(set_to_none=True)
                self.batch_size //= 2
                self._emit(BatchReduced(step=self.step, batch_size=self.batch_size))

    def _optimize(self, rows: np.ndarray) -> None:
        config = self.config
        rng = np.random.default_rng([config.seed, 1, self.step])
        torch.manual_seed(int(rng.integers(2**63)))
        observed_rows = self.observed[rows]
        masked_rows = self.sampler.sample(observed_rows, rng)
        values = torch.from_numpy(self.values[rows]).to(self.device)
        observed = torch.from_numpy(observed_rows).to(self.device)
        masked = torch.from_numpy(masked_rows).to(self.device)
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate_at(self.step, self.n_rows)
        self.optimizer.zero_grad(set_to_none=True)
        with autocast(self.precision, self.device):
            errors, loss = self.errors_and_loss(self.network, config.loss, values, observed, masked)
        loss.backward()
        self.optimizer.step()
        self._update_average()
        self.meter.add(errors.detach(), observed, masked)
        self.rows_seen += len(rows)

    def _rows_of_step(self) -> np.ndarray:
        """Return the rows of this step: a slice of the epoch's own permutation."""
        per_epoch = self.config.batches_per_epoch(self.n_rows)
        epoch, position = divmod(self.step, per_epoch)
        if self.order_epoch != epoch:
            order = np.random.default_rng([self.config.seed, 0, epoch]).permutation(self.n_rows)
            self.order, self.order_epoch = order, epoch
        start = position * self.config.batch_size
        return self.order[start : start + self.config.batch_size][: self.batch_size]

    def _update_average(self) -> None:
        if self.average is None or self.config.average_decay is None:
            return
        # A young average forgets faster, or it would still remember the first weights.
        decay = min(self.config.average_decay, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            averaged: list[Tensor] = list(self.average.parameters())
            current: list[Tensor] = list(self.network.parameters())
            torch._foreach_lerp_(averaged, current, 1 - decay)

    def _after_step(self) -> None:
        self.step += 1
        last = self.step == self.total_steps
        if self.step % self.config.validate_every == 0 or last:
            self._validate()
        if self.step % self.config.log_every == 0 or last:
            self._report()
        if self.step % self.config.checkpoint_every == 0 and not last:
            self._save()

    def _validate(self) -> None:
        if self.validator is None:
            return
        candidate = self.average if self.average is not None else self.network
        self.last_score = self.validator.score(candidate)
        if self.best_score is None or self.last_score < self.best_score:
            self.best_score, self.best_step = self.last_score, self.step
            self.best = {name: t.detach().clone() for name, t in candidate.state_dict().items()}
            self.validations_since_best = 0
        else:
            self.validations_since_best += 1

    def _out_of_patience(self) -> bool:
        patience = self.config.patience
        return patience is not None and self.validations_since_best >= patience

    def _report(self) -> None:
        elapsed = max(time.perf_counter() - self.started, 1e-9)
        steps_done = self.step - self.first_step
        prediction, reconstruction, columns = self.meter.read()
        self._emit(
            TrainingProgress(
                step=self.step,
                total_steps=self.total_steps,
                prediction_loss=prediction,
                reconstruction_loss=reconstruction,
                column_losses=columns,
                validation_score=self.last_score,
                learning_rate=self.config.learning_rate_at(self.step, self.n_rows),
                rows_per_second=self.rows_seen / elapsed,
                eta_seconds=elapsed / steps_done * (self.total_steps - self.step),
            )
        )

    def _finish(self, reason: str) -> TrainingResult:
        if self.best is not None:
            self.network.load_state_dict(self.best)
        else:
            self.best_step = self.step
            if self.average is not None:
                self.network.load_state_dict(self.average.state_dict())
        self.network.eval()
        result = TrainingResult(
            reason=reason,
            step=self.step,
            best_step=self.best_step,
            best_score=self.best_score,
            seconds=time.perf_counter() - self.started,
        )
        self._emit(TrainingFinished(**asdict(result)))
        return result

    def _emit(self, event: Event) -> None:
        for callback in self.callbacks:
            callback(event)

    def _fingerprint(self) -> str:
        """Return what tells one training from another: settings, shape and data."""
        settings = {
            "training": asdict(replace(self.config, device="", log_every=1, checkpoint_every=1)),
            "network": asdict(self.network.config),
            "masking": self.sampler.settings(),
        }
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
        for table in (self.values, self.observed):
            digest.update(np.ravel(table).data)  # its bytes where they are; tobytes would copy them
        return digest.hexdigest()

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        groups = {
            "network": self.network.state_dict(),
            "optimizer": optimizer_tensors(self.optimizer),
            "average": self.average.state_dict() if self.average is not None else {},
            "best": self.best or {},
        }
        state = {
            "fingerprint": self._fingerprint(),
            "step": self.step,
            "batch_size": self.batch_size,
            "best_step": self.best_step,
            "best_score": self.best_score,
            "last_score": self.last_score,
            "validations_since_best": self.validations_since_best,
        }
        write_tensors(self.checkpoint, groups, state)
        self._emit(CheckpointSaved(step=self.step, path=str(self.checkpoint)))

    def _resume(self) -> None:
        if self.checkpoint is None or not self.checkpoint.exists():
            return
        groups, state = read_tensors(self.checkpoint)
        if state["fingerprint"] != self._fingerprint():
            raise ValueError(
                f"{self.checkpoint} belongs to a training with other data or settings; "
                "choose another checkpoint folder."
            )
        self.network.load_state_dict(groups["network"])
        load_optimizer_tensors(self.optimizer, groups.get("optimizer", {}))
        if self.average is not None:
            self.average.load_state_dict(groups["average"])
        self.best = groups.get("best") or None
        self.step = state["step"]
        self.batch_size = state["batch_size"]
        self.best_step = state["best_step"]
        self.best_score = state["best_score"]
        self.last_score = state["last_score"]
        self.validations_since_best = state["validations_since_best"]


def _errors_and_loss(
    network: MaskedAutoencoder, loss: str, values: Tensor, observed: Tensor, masked: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the errors of all cells and what a step lowers: all that can be compiled."""
    # No method of the run: a run that holds itself would keep its table until garbage is collected.
    prediction = network(values, observed & ~masked)
    errors = network.cell_errors(prediction, values)
    return errors, reduce_errors(loss, errors, observed, masked)


class _LossMeter:
    """Sums errors of masked and kept cells per column on the device, without waiting for it."""

    def __init__(self, n_columns: int, device: torch.device) -> None:
        self.sums = torch.zeros(2, n_columns, device=device)
        self.counts = torch.zeros(2, n_columns, device=device)

    def add(self, errors: Tensor, observed: Tensor, masked: Tensor) -> None:
        for kind, cells in enumerate((masked, observed & ~masked)):
            self.sums[kind] += torch.where(cells, errors, 0.0).sum(dim=0)
            self.counts[kind] += cells.sum(dim=0)

    def read(
        self,
    ) -> tuple[float | None, float | None, list[tuple[float | None, float | None]]]:
        """Return mean prediction and reconstruction loss, the same per column, and start anew."""
        sums, counts = self.sums.cpu().numpy(), self.counts.cpu().numpy()
        totals = [_mean(sums[kind].sum(), counts[kind].sum()) for kind in range(2)]
        columns = [
            (_mean(sums[0, j], counts[0, j]), _mean(sums[1, j], counts[1, j]))
            for j in range(sums.shape[1])
        ]
        self.sums.zero_()
        self.counts.zero_()
        return totals[0], totals[1], columns


def _mean(total: float, count: float) -> float | None:
    return float(total / count) if count else None


def _clone(network: MaskedAutoencoder) -> MaskedAutoencoder:
    """Return a copy that takes no gradients, to hold averaged weights."""
    clone = copy.deepcopy(network)
    return clone.requires_grad_(False).eval()
