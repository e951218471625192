"""The training loop: draw a batch, add up its losses, step; score dev each epoch, keep the best, resume anywhere."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.amp.grad_scaler import GradScaler

from mtlspec.data.corpora import Corpora
from mtlspec.errors import StageError
from mtlspec.model.mixed import Reading, encode_parts
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.predict import mean_score
from mtlspec.model.sharing import Moment, TaskLoss
from mtlspec.spec.models import RunOptions, TrainOptions
from mtlspec.train.checkpoint import ResumePoints
from mtlspec.train.determinism import precision
from mtlspec.train.distilling import Distiller
from mtlspec.train.history import History
from mtlspec.train.numbers import number
from mtlspec.train.optimiser import Optimiser
from mtlspec.train.pace import Pace
from mtlspec.train.resuming import RESUMED
from mtlspec.train.schedule import rate_factor
from mtlspec.train.scoring import dev_scores, watch
from mtlspec.train.state import TrainState

Progress = Callable[[int, int, str], None]
Context = AbstractContextManager[None]
WAITING = 400  # rows of the history, after which a GPU is asked for their numbers

if TYPE_CHECKING:
    from mtlspec.train.numbers import Number


@dataclass(frozen=True)
class Outcome:
    """A trained model (its weights are those of the best epoch) and how it came about."""

    model: MultiTaskModel
    history: History
    epochs: list[dict[str, Any]]
    curve: list[dict[str, Any]]  # dev scores on the way, if they were asked for
    updates: int
    planned: int  # updates, had it not stopped early
    examples: dict[str, dict[str, int]]  # task -> how many it has, trains on and read, and in how many updates
    sentences: int  # trained on in this process
    words: int
    seconds: float  # spent on them, evaluation and resume points not counted


@dataclass
class Meter:
    """Speed of this process; never part of an output."""

    sentences: int = 0
    words: int = 0
    seconds: float = 0.0

    def count(self, readings: Sequence[Reading]) -> None:
        """Examples that a batch encodes for several tasks at once count once."""
        for split in {id(reading.split): reading.split for reading in readings}.values():
            rows = torch.unique(torch.cat([reading.rows for reading in readings if reading.split is split]))
            self.sentences += len(rows)
            self.words += int(split.word_counts[rows].sum())


def train(
    model: MultiTaskModel,
    corpora: Corpora,
    options: TrainOptions,
    run: RunOptions,
    seed: int,
    points: ResumePoints,
    progress: Progress,
    distiller: Distiller | None = None,
) -> Outcome:
    """Train to the end, from the newest resume point if there is one; a distiller gives the losses, if there is one."""
    state = TrainState.fresh(model, corpora, options, run, seed)
    state.distiller = distiller
    saved = points.latest()
    if saved is not None:
        state.load(saved)
        progress(state.update, state.updates, RESUMED)
    context = precision(run)
    meter = Meter()
    pace = Pace(options.checkpoint_every)
    state.frozen.train()
    while not state.done:
        started = time.perf_counter()
        take_update(state, options, context, meter)
        epoch_ended = state.update % state.updates_per_epoch == 0
        due = pace.due(state.update, epoch_ended)
        if epoch_ended or due or state.history.waiting >= WAITING:
            settle(state)
        meter.seconds += time.perf_counter() - started
        if epoch_ended and (options.dev == "every" or state.done):
            finish_epoch(state, options)
        watch(state, options)
        if due:
            pace.write(lambda: points.save(state.update, state.save()))
        progress(state.update, state.updates, "updates")
    if not state.epochs:  # nothing was there to learn from
        finish_epoch(state, options)
        watch(state, options)
    state.kept.close()
    model.load_weights(state.best)
    model.module.eval()
    return Outcome(
        model=model,
        history=state.history,
        epochs=state.epochs,
        curve=state.curve,
        updates=state.update,
        planned=state.updates,
        examples=state.examples(),
        sentences=meter.sentences,
        words=meter.words,
        seconds=meter.seconds,
    )


def take_update(state: TrainState, options: TrainOptions, context: Context, meter: Meter) -> None:
    """One step of the optimiser over `accumulate` batches, whose objectives are averaged."""
    sharing, optimiser, scaler = state.model.sharing, state.optimiser, state.scaler
    update = state.update + 1
    optimiser.set_rates(rate_factor(options, update, state.updates) * state.patience.scale)
    moment = Moment(update, state.updates, (), optimiser.adam, state.training_batches)
    sharing.before_update(moment)
    rows: list[dict[str, Number]] = []
    for _ in range(options.accumulate):
        readings = state.draw()  # after the losses of the batch before
        rows += backward(state, readings, 1 / options.accumulate, context)
        meter.count(readings)
    moment = replace(moment, tasks=tuple(int(row["task"]) for row in rows))
    scaler.unscale_(optimiser.adam)
    sharing.after_backward(moment)
    norm = optimiser.clip(options.clip)
    _check_norm(state, update, moment.tasks, norm)
    sharing.step(moment, lambda: _step(scaler, optimiser))
    scaler.update()
    optimiser.adam.zero_grad()
    state.update = update
    sharing.after_update(moment)
    rates = {"lr_encoder": optimiser.rate("encoder"), "lr_decoder": optimiser.rate("decoder"), "grad_norm": norm}
    logs = {name: number(value) if isinstance(value, Tensor) else value for name, value in sharing.logs().items()}
    for row in rows:
        state.history.add({**row, **rates, **logs})


def settle(state: TrainState) -> None:
    """Read what a device has computed for the history; a number that is none ends the training, if late."""
    for row in state.history.settle():
        _check_loss(state, row)
        _check_norm(state, int(row["update"]), [int(row["task"])], row["grad_norm"])


def backward(state: TrainState, readings: Sequence[Reading], share: float, context: Context) -> list[dict[str, Number]]:
    """Add the gradient of a batch, times its share of the update; a row of the history for each task in it.

    All examples are encoded together; every task's loss is the mean over its own, and counts by their number.
    """
    model, update = state.model, state.update + 1
    labels = sum(len(reading.rows) for reading in readings)
    losses: list[TaskLoss] = []
    place = {"update": update, "epoch": state.update // state.updates_per_epoch + 1}
    rows: list[dict[str, Number]] = []
    with context:
        for (task, _, examples), loss in zip(readings, _losses(state, readings), strict=True):
            rows.append({**place, "task": task, "examples": len(examples), "loss": number(loss)})
            _check_loss(state, rows[-1])
            losses.append(TaskLoss(task, loss, len(examples) / labels))
            state.losses[task] = rows[-1]["loss"]
        total = model.sharing.objective(losses, state.balance)
    state.scaler.scale(total * share).backward()  # type: ignore[no-untyped-call]
    return [{**row, "weight": state.balance.weights[int(row["task"])]} for row in rows]


def _losses(state: TrainState, readings: Sequence[Reading]) -> Iterator[Tensor]:
    """The mean loss [] of every task on its own examples; a student encodes task by task, as its teachers do."""
    if state.distiller is not None:
        for reading in readings:
            yield state.distiller.loss(reading, state.gold[reading.task])
        return
    for (task, _, _), (states, batch) in zip(readings, encode_parts(state.model, readings), strict=True):
        yield state.model.tasks[task].loss(states, batch, state.gold[task])


def _step(scaler: GradScaler, optimiser: Optimiser) -> None:
    scaler.step(optimiser.adam)


def finish_epoch(state: TrainState, options: TrainOptions) -> None:
    """Score dev, remember the weights if they are the best so far.

    Tasks without a score on dev have none here, and then there is no mean over all tasks; patience looks at the others.
    """
    model, scores = state.model, dev_scores(state)
    epoch = state.update // state.updates_per_epoch
    mean = mean_score(model, scores) if scores else None
    best = (mean is not None and state.patience.observe(epoch, mean)) or options.keep == "last"
    if best:
        state.best = {name: value.clone() for name, value in model.weights().items()}
    whole = mean if not state.unscored else None
    state.epochs.append({"epoch": epoch, "update": state.update, "scores": scores, "mean": whole, "best": best})


def _check_loss(state: TrainState, row: Mapping[str, Number]) -> None:
    """Of a row of the history, if its loss is known already."""
    if isinstance(row["loss"], float) and not math.isfinite(row["loss"]):
        name = state.model.tasks[int(row["task"])].name
        raise _not_finite("E430", f"the loss of the task '{name}'", int(row["update"]), row["loss"])


def _check_norm(state: TrainState, update: int, tasks: Sequence[int], norm: Number) -> None:
    """Of an update, if its gradient norm is known already; a scaler skips such a step and lowers its scale."""
    if isinstance(norm, float) and not math.isfinite(norm) and not state.scaler.is_enabled():
        names = ", ".join(f"'{state.model.tasks[task].name}'" for task in sorted(set(tasks)))
        raise _not_finite("E431", f"the gradient of {names}", update, norm)


def _not_finite(code: str, what: str, update: int, value: float) -> StageError:
    return StageError(
        code,
        f"{what} is {value} at update {update}",
        hint="lower the learning rates, or clip gradients at a smaller norm",
    )
