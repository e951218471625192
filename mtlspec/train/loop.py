"""The training loop: draw tasks, sum their losses, step; score dev each epoch, keep the best, resume anywhere."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from mtlspec.data.corpora import Corpora
from mtlspec.errors import StageError
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.predict import count_corpora, mean_score, predict_corpora, score
from mtlspec.model.sharing import Moment
from mtlspec.spec.models import RunOptions, TrainOptions
from mtlspec.train.checkpoint import ResumePoints
from mtlspec.train.determinism import precision
from mtlspec.train.history import History
from mtlspec.train.schedule import rate_factor
from mtlspec.train.state import Portion, TrainState

Progress = Callable[[int, int, str], None]
Context = AbstractContextManager[None]


@dataclass(frozen=True)
class Outcome:
    """A trained model (its weights are those of the best epoch) and how it came about."""

    model: MultiTaskModel
    history: History
    epochs: list[dict[str, Any]]
    updates: int
    sentences: int  # trained on in this process
    words: int
    seconds: float  # spent on them, evaluation and resume points not counted


@dataclass
class Meter:
    """Speed of this process; never part of an output."""

    sentences: int = 0
    words: int = 0
    seconds: float = 0.0


def train(
    model: MultiTaskModel,
    corpora: Corpora,
    options: TrainOptions,
    run: RunOptions,
    seed: int,
    points: ResumePoints,
    progress: Progress,
) -> Outcome:
    """Train to the end, from the newest resume point if there is one."""
    state = TrainState.fresh(model, corpora, options, run, seed)
    saved = points.latest()
    if saved is not None:
        state.load(saved)
    context = precision(run)
    meter = Meter()
    model.module.train()
    while not state.done:
        started = time.perf_counter()
        take_update(state, options, context, meter)
        meter.seconds += time.perf_counter() - started
        if state.update % state.updates_per_epoch == 0:
            finish_epoch(state, options)
            points.save(state.update, state.save())
        elif state.update % options.checkpoint_every == 0:
            points.save(state.update, state.save())
        progress(state.update, state.updates, "updates")
    model.load_weights(state.best)
    model.module.eval()
    return Outcome(model, state.history, state.epochs, state.update, meter.sentences, meter.words, meter.seconds)


def take_update(state: TrainState, options: TrainOptions, context: Context, meter: Meter) -> None:
    """One step of the optimiser over `accumulate` batches; their losses are averaged, as are the parts of one batch."""
    sharing, optimiser, scaler = state.model.sharing, state.optimiser, state.scaler
    update = state.update + 1
    epoch = (update - 1) // state.updates_per_epoch + 1
    optimiser.set_rates(rate_factor(options, update, state.updates) * state.patience.scale)
    draws = [state.draw(epoch) for _ in range(options.accumulate)]
    tasks = tuple(task for portions in draws for portion in portions for task in portion.tasks)
    moment = Moment(update, state.updates, tasks, optimiser.adam, state.training_batches)
    sharing.before_update(moment)
    rows: list[dict[str, float]] = []
    for portions in draws:
        sentences = sum(len(portion.rows) for portion in portions)
        for portion in portions:
            share = len(portion.rows) / (sentences * options.accumulate)
            for task, loss, weight in backward(state, portion, share, context, update):
                rows.append({"update": update, "epoch": epoch, "task": task, "loss": loss, "weight": weight})
            meter.sentences += len(portion.rows)
            meter.words += int(portion.split.word_counts[portion.rows].sum())
    scaler.unscale_(optimiser.adam)
    norm = optimiser.clip(options.clip)
    if not math.isfinite(norm) and not scaler.is_enabled():  # a scaler skips such a step and lowers its scale
        names = ", ".join(f"'{state.model.tasks[task].name}'" for task in sorted(set(tasks)))
        raise _not_finite("E431", f"the gradient of {names}", update, norm)
    scaler.step(optimiser.adam)
    scaler.update()
    optimiser.adam.zero_grad()
    state.update = update
    sharing.after_update(moment)
    rates = {"lr_encoder": optimiser.rate("encoder"), "lr_decoder": optimiser.rate("decoder"), "grad_norm": norm}
    logs = sharing.logs()
    for row in rows:
        state.history.add({**row, **rates, **logs})


def backward(
    state: TrainState, portion: Portion, share: float, context: Context, update: int
) -> list[tuple[int, float, float]]:
    """Add the gradient of a portion of sentences, times its share of the update; (task, loss, weight) of each task.

    The losses of several tasks on the same sentences are averaged; the strategy's penalty counts once.
    """
    model = state.model
    batch = state.batch(portion.split, portion.rows)
    told: list[tuple[int, float, float]] = []
    parts: list[Tensor] = []
    states = None
    with context:
        for task in portion.tasks:
            if states is None or not model.sharing.task_free:
                states = model.states(batch, task)
            loss = model.tasks[task].loss(states, batch, state.gold[task])
            value: float = loss.item()
            if not math.isfinite(value):
                raise _not_finite("E430", f"the loss of the task '{model.tasks[task].name}'", update, value)
            trained, weight = weigh(state, task, loss)
            told.append((task, value, weight))
            parts.append(trained)
        total = parts[0] if len(parts) == 1 else torch.stack(parts).mean()
        penalty = model.sharing.penalty()
        if penalty is not None and not model.sharing.balance_penalty:
            total = total + (penalty * total.detach() if model.sharing.relative_penalty else penalty)
    state.scaler.scale(total * share).backward()  # type: ignore[no-untyped-call]
    return told


def weigh(state: TrainState, task: int, loss: Tensor) -> tuple[Tensor, float]:
    """The trained loss of a task, and the weight that balancing gave it."""
    weight = 1.0
    sharing = state.model.sharing

    def balance(task: int, loss: Tensor) -> Tensor:
        nonlocal weight
        weighted, weight = state.balance.weigh(task, loss)
        return weighted

    penalty = sharing.penalty() if sharing.balance_penalty else None
    trained = sharing.loss(task, loss if penalty is None else loss + penalty, balance)
    return trained, weight


def finish_epoch(state: TrainState, options: TrainOptions) -> None:
    """Score dev, remember the weights if they are the best so far."""
    model = state.model
    scores = score(
        model, count_corpora(model, state.corpora, "dev", predict_corpora(model, state.corpora, "dev", options.batch))
    )
    model.module.train()
    mean = mean_score(model, scores)
    epoch = state.update // state.updates_per_epoch
    best = state.patience.observe(epoch, mean) or options.keep == "last"
    if best:
        state.best = {name: value.clone() for name, value in model.weights().items()}
    state.epochs.append({"epoch": epoch, "update": state.update, "scores": scores, "mean": mean, "best": best})


def _not_finite(code: str, what: str, update: int, value: float) -> StageError:
    return StageError(
        code,
        f"{what} is {value} at update {update}",
        hint="lower the learning rates, or clip gradients at a smaller norm",
    )
