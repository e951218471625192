"""TrainState: everything that changes while a model trains; saved and loaded again, it continues to the bit."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.amp.grad_scaler import GradScaler

from mtlspec.data.batching import Batch, collate
from mtlspec.data.corpora import Corpora
from mtlspec.model.mixed import Reading
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.predict import undefined
from mtlspec.model.uncertainty import uncertainty
from mtlspec.spec.models import BatchLimits, RunOptions, TrainOptions
from mtlspec.train.balancing import Balance
from mtlspec.train.checkpoint import Saved, Section
from mtlspec.train.distilling import Distiller
from mtlspec.train.freezing import Frozen, KeptStates
from mtlspec.train.history import History
from mtlspec.train.optimiser import Optimiser, parameter_groups
from mtlspec.train.sampling import Part
from mtlspec.train.schedule import Patience
from mtlspec.train.supply import Supply
from mtlspec.train.view import View

if TYPE_CHECKING:
    from mtlspec.train.numbers import Number


@dataclass
class TrainState:
    """A run of training between two updates."""

    model: MultiTaskModel
    corpora: Corpora
    limits: BatchLimits
    gold: list[Any]  # per task: its training annotation, encoded
    supply: Supply
    balance: Balance
    optimiser: Optimiser
    scaler: GradScaler
    frozen: Frozen
    kept: KeptStates
    patience: Patience
    updates_per_epoch: int
    updates: int  # in all, unless training stops early
    losses: list[Number | None]  # per task: the latest
    unscored: Collection[str]  # tasks whose dev labels give no score
    distiller: Distiller | None = None  # where a teacher gives the losses; nothing of it changes
    update: int = 0  # the last one that is done
    best: dict[str, Tensor] = field(default_factory=dict)  # weights of the best epoch
    epochs: list[dict[str, Any]] = field(default_factory=list)  # dev scores
    curve: list[dict[str, Any]] = field(default_factory=list)  # dev scores that are only looked at
    history: History = field(default_factory=History)

    @classmethod
    def fresh(
        cls, model: MultiTaskModel, corpora: Corpora, options: TrainOptions, run: RunOptions, seed: int
    ) -> TrainState:
        supply = Supply(model.tasks, corpora, options, seed)
        per_epoch = math.ceil(supply.batches_per_epoch / options.accumulate)
        updates = per_epoch * options.epochs if options.examples != 0 else 0
        balance = options.balance.build([task.name for task in model.tasks])
        balance.module.to(model.device)
        frozen = Frozen(model, options.freeze)  # before the optimiser asks what learns
        return cls(
            model=model,
            corpora=corpora,
            limits=options.batch,
            gold=[task.encode(split) for task, split in zip(model.tasks, supply.splits, strict=True)],
            supply=supply,
            balance=balance,
            optimiser=Optimiser(parameter_groups(model, balance.module, options, updates), options),
            scaler=GradScaler(model.device.type, enabled=run.precision == "fp16"),
            frozen=frozen,
            kept=KeptStates(model, frozen.layers, supply.rows(), options.batch),
            patience=Patience.of(options),
            updates_per_epoch=per_epoch,
            updates=updates,
            losses=[None] * len(model.tasks),
            unscored=undefined(model, corpora, "dev"),
            history=History(tuple(model.sharing.logs())),
        )

    @property
    def done(self) -> bool:
        return self.update >= self.updates or self.patience.exhausted

    def draw(self) -> list[Reading]:
        """The next batch of the update that is under way: which tasks read which examples."""
        view = View(
            epoch=self.update // self.updates_per_epoch + 1,
            update=self.update + 1,
            updates=self.updates,
            sizes=self.supply.sizes,
            latest=tuple(self.losses),
            dev_scores=[epoch["scores"] for epoch in self.epochs],
            feeds=self.supply.feeds,
            judge=self._judge,
        )
        return self.supply.draw(view)

    def _judge(self, candidates: Sequence[Part]) -> list[Tensor]:
        readings = [Reading(task, self.supply.splits[task], rows) for task, rows in candidates]
        return uncertainty(self.model, readings, self.limits)

    def training_batches(self, task: int) -> Iterator[tuple[Batch, Any]]:
        """A task's training data once, with gold; nothing that training draws from moves."""
        split, specials = self.supply.splits[task], self.model.encoder.specials
        for drawn in self.supply.feeds[task].once():
            rows = self.model.tasks[task].completed(split, drawn)
            yield collate(split, rows, specials).to(self.model.device), self.gold[task]

    def examples(self) -> dict[str, dict[str, int]]:
        """Task -> training examples with its labels, those of them that it trains on, and how often it read one.

        `updates` are those that it took part in.
        """
        seen = self.history.seen(len(self.model.tasks))
        trained = [len(feed) if self.updates else 0 for feed in self.supply.feeds]
        each = zip(self.model.tasks, self.supply.labelled, trained, seen, strict=True)
        return {
            task.name: {"labelled": len(labelled), "trained": own, "read": read, "updates": updates}
            for task, labelled, own, (updates, read) in each
        }

    def save(self) -> Saved:
        """The sections of a resume point. Leave out any of the first seven at `load`, and the bits differ."""
        model, balance, sharing = self.model, self.balance, self.model.sharing
        losses = [None if loss is None else float(loss) for loss in self.losses]
        return {
            "model": Section(tensors=model.weights()),
            "optimiser": Section(tensors=self.optimiser.tensors()),
            "schedule": Section({"update": self.update, **self.patience.state()}),
            "rng": Section(tensors=_rng_states(model.device)),
            "sampler": Section(self.supply.sampler.state()),
            "cursors": Section(self.supply.cursors()),
            "balance": Section(balance.state(), {k: v.cpu() for k, v in balance.module.state_dict().items()}),
            "sharing": Section(sharing.state()),
            "scaler": Section(self.scaler.state_dict()),
            "best": Section(tensors=self.best),
            "history": Section({"epochs": self.epochs, "curve": self.curve, "losses": losses}, self.history.tensors()),
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
            torch.cuda.set_rng_state(tensors["cuda"], self.model.device)

    def _load_sampler(self, values: dict[str, Any], _: object) -> None:
        self.supply.sampler.load_state(values)

    def _load_cursors(self, values: list[Any], _: object) -> None:
        self.supply.load_cursors(values)

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

    def _load_history(self, values: dict[str, Any], tensors: Mapping[str, Tensor]) -> None:
        self.epochs, self.curve, self.losses = (list(values[name]) for name in ("epochs", "curve", "losses"))
        self.history.load(tensors)


def _rng_states(device: torch.device) -> dict[str, Tensor]:
    """Of the CPU and of the device that trains; no other is touched."""
    own = {"cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else {}
    return {"cpu": torch.get_rng_state(), **own}
