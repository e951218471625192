"""TrainState: everything that changes while a model trains; saved and loaded again, it continues to the bit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor
from torch.amp.grad_scaler import GradScaler

from mtlspec.data.batching import Batch, collate
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import PreparedSplit
from mtlspec.errors import StageError
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.spec.models import RunOptions, TrainOptions
from mtlspec.train.balance._balance import Balance, BalanceKind
from mtlspec.train.checkpoint import Saved, Section
from mtlspec.train.feed import Feed
from mtlspec.train.history import History
from mtlspec.train.optimiser import Optimiser, parameter_groups
from mtlspec.train.rng import philox
from mtlspec.train.samplers._sampler import Sampler, SamplerKind, TaskSizes
from mtlspec.train.schedule import Patience


class Portion(NamedTuple):
    """Examples int64 [B] of one split that train some tasks (indices) together."""

    tasks: tuple[int, ...]
    split: PreparedSplit
    rows: Tensor


@dataclass
class TrainState:
    """A run of training between two updates.

    An epoch is as many batches as one pass over every task's data has, whichever tasks the sampler draws them from;
    with joint batches it is one pass over the sentences that all tasks share.
    """

    model: MultiTaskModel
    corpora: Corpora
    gold: list[Any]  # per task: its training annotation, encoded
    feeds: list[Feed]  # per task
    joint: Feed | None  # sentences that carry the labels of all tasks, where these are trained together
    sampler: Sampler
    balance: Balance
    optimiser: Optimiser
    scaler: GradScaler
    patience: Patience
    updates_per_epoch: int
    updates: int  # in all, unless training stops early
    update: int = 0  # the last one that is done
    best: dict[str, Tensor] = field(default_factory=dict)  # weights of the best epoch
    epochs: list[dict[str, Any]] = field(default_factory=list)  # dev scores
    history: History = field(default_factory=History)

    @classmethod
    def fresh(
        cls, model: MultiTaskModel, corpora: Corpora, options: TrainOptions, run: RunOptions, seed: int
    ) -> TrainState:
        sampler_kind = cast(SamplerKind, options.sampler)
        feeds = []
        for task in model.tasks:
            split = corpora.of(task).train
            rows = _sample(task.rows(split), len(split), options.examples, seed)
            if not len(rows):
                raise StageError("E432", f"there are no training sentences for the task '{task.name}'")
            lengths = split.piece_counts[rows]
            feeds.append(Feed(task.name, rows, lengths, options.batch, seed, options.sampler.by_count))
        joint = _joint_feed(model, corpora, options, seed) if options.batching == "joint" else None
        sizes = TaskSizes(tuple(len(feed) for feed in feeds), tuple(feed.batches_per_pass for feed in feeds))
        batches = sum(sizes.batches) if joint is None else joint.batches_per_pass
        per_epoch = math.ceil(batches / options.accumulate)
        updates = per_epoch * options.epochs
        balance = cast(BalanceKind, options.balance).build([task.name for task in model.tasks])
        balance.module.to(model.device)
        return cls(
            model=model,
            corpora=corpora,
            gold=[task.encode(corpora.of(task).train) for task in model.tasks],
            feeds=feeds,
            joint=joint,
            sampler=sampler_kind.build(sizes, options.batch.sentences, options.epochs, seed),
            balance=balance,
            optimiser=Optimiser(parameter_groups(model, balance.module, options, updates), options),
            scaler=GradScaler(model.device.type, enabled=run.precision == "fp16"),
            patience=Patience.of(options),
            updates_per_epoch=per_epoch,
            updates=updates,
            history=History(tuple(model.sharing.logs())),
        )

    @property
    def done(self) -> bool:
        return self.update >= self.updates or self.patience.exhausted

    def draw(self, epoch: int) -> list[Portion]:
        """The portions of the next batch."""
        if self.joint is not None:
            return [Portion(tuple(range(len(self.model.tasks))), self._split(0), self.joint.next(None))]
        return [
            Portion((part.task,), self._split(part.task), self.feeds[part.task].next(part.examples))
            for part in self.sampler.draw(epoch)
        ]

    def _split(self, task: int) -> PreparedSplit:
        return self.corpora.of(self.model.tasks[task]).train

    def batch(self, split: PreparedSplit, rows: Tensor) -> Batch:
        """Training examples on the model's device."""
        return collate(split, rows, self.model.encoder.specials).to(self.model.device)

    def training_batches(self, task: int) -> Iterator[tuple[Batch, Any]]:
        """A task's training data once, with gold; nothing that training draws from moves."""
        return ((self.batch(self._split(task), rows), self.gold[task]) for rows in self.feeds[task].once())

    @property
    def _streams(self) -> list[Feed]:
        return [*self.feeds, *([] if self.joint is None else [self.joint])]

    def save(self) -> Saved:
        """The sections of a resume point. Leave out any of the first seven at `load`, and the bits differ."""
        model, balance, sharing = self.model, self.balance, self.model.sharing
        return {
            "model": Section(tensors=model.weights()),
            "optimiser": Section(tensors=self.optimiser.tensors()),
            "schedule": Section({"update": self.update, **self.patience.state()}),
            "rng": Section(tensors=_rng_states()),
            "sampler": Section(self.sampler.state()),
            "cursors": Section([feed.state() for feed in self._streams]),
            "balance": Section(balance.state(), {k: v.cpu() for k, v in balance.module.state_dict().items()}),
            "sharing": Section(sharing.state()),
            "scaler": Section(self.scaler.state_dict()),
            "best": Section(tensors=self.best),
            "history": Section(self.epochs, self.history.tensors()),
        }

    def load(self, saved: Saved) -> None:
        """Continue from a resume point; a section that is not there stays as it is."""
        for name, section in saved.items():
            getattr(self, f"_load_{name}")(section.values, section.tensors)

    def _load_model(self, _: None, tensors: Mapping[str, Tensor]) -> None:
        self.model.load_weights(tensors)

    def _load_optimiser(self, _: None, tensors: Mapping[str, Tensor]) -> None:
        self.optimiser.load(tensors)

    def _load_schedule(self, values: dict[str, Any], _: object) -> None:
        self.update = values["update"]
        self.patience.load_state({name: value for name, value in values.items() if name != "update"})

    def _load_rng(self, _: None, tensors: Mapping[str, Tensor]) -> None:
        torch.set_rng_state(tensors["cpu"])
        if "cuda" in tensors:
            torch.cuda.set_rng_state_all(list(tensors["cuda"]))

    def _load_sampler(self, values: dict[str, Any], _: object) -> None:
        self.sampler.load_state(values)

    def _load_cursors(self, values: list[dict[str, int]], _: object) -> None:
        for feed, state in zip(self._streams, values, strict=True):
            feed.load_state(state)

    def _load_balance(self, values: dict[str, Any], tensors: Mapping[str, Tensor]) -> None:
        self.balance.load_state(values)
        self.balance.module.load_state_dict(dict(tensors))

    def _load_sharing(self, values: dict[str, Any], _: object) -> None:
        self.model.sharing.load_state(values)

    def _load_scaler(self, values: dict[str, Any], _: object) -> None:
        if values:
            self.scaler.load_state_dict(values)

    def _load_best(self, _: None, tensors: Mapping[str, Tensor]) -> None:
        self.best = dict(tensors)

    def _load_history(self, values: list[dict[str, Any]], tensors: Mapping[str, Tensor]) -> None:
        self.epochs = list(values)
        self.history.load(tensors)


def _sample(rows: Tensor, sentences: int, limit: int | None, seed: int) -> Tensor:
    """At most `limit` of the rows int64 [n], ascending; tasks with the same sentences get the same ones."""
    if limit is None or len(rows) <= limit:
        return rows
    rank = torch.from_numpy(philox(seed, "examples").bit_generator.random_raw(sentences).astype("int64"))
    return rows[rank[rows].argsort(stable=True)[:limit]].sort().values


def _joint_feed(model: MultiTaskModel, corpora: Corpora, options: TrainOptions, seed: int) -> Feed:
    split = corpora.of(model.tasks[0]).train
    rows = model.tasks[0].rows(split)
    for task in model.tasks[1:]:
        rows = rows[torch.isin(rows, task.rows(split))]
    rows = _sample(rows, len(split), options.examples, seed)
    if not len(rows):
        raise StageError(
            "E433", "no training sentence carries the labels of all tasks", hint="use `train.batching: sampled`"
        )
    return Feed("joint", rows, split.piece_counts[rows], options.batch, seed, by_count=False)


def _rng_states() -> dict[str, Tensor]:
    states = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states["cuda"] = torch.stack(torch.cuda.get_rng_state_all())
    return states
