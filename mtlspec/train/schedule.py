"""Learning rates over a run, early stopping and plateau halving: small pure pieces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from mtlspec.spec.models import Plateau, TrainOptions


def warmup_updates(options: TrainOptions, updates: int) -> int:
    return round(options.warmup * updates)


def rate_factor(options: TrainOptions, update: int, updates: int) -> float:
    """What the learning rates are multiplied with at one update (from 1 to `updates`).

    Over W warm-up updates it rises as update / W; then it stays at 1, or falls linearly and would reach 0 one update
    after the last. No update is spent at a rate of zero, and some update has the full rate.
    """
    warm = warmup_updates(options, updates)
    if update <= warm:
        return update / warm
    if options.schedule == "constant":
        return 1.0
    return (updates + 1 - update) / (updates + 1 - max(warm, 1))


@dataclass
class Patience:
    """The best mean dev score so far, and what follows from epochs that do not beat it."""

    limit: int  # stop after this many epochs without a better score
    plateau: Plateau | None
    best: float = -math.inf
    best_epoch: int = 0
    stale: int = 0  # epochs since the best
    waiting: int = 0  # epochs since the best or since the last cut
    scale: float = 1.0  # of the learning rates

    @classmethod
    def of(cls, options: TrainOptions) -> Patience:
        return cls(max(1, math.ceil(options.patience * options.epochs)), options.plateau)

    def observe(self, epoch: int, score: float) -> bool:
        """Note the score of an epoch; True if it is the best so far."""
        if score > self.best:
            self.best, self.best_epoch = score, epoch
            self.stale = self.waiting = 0
            return True
        self.stale += 1
        self.waiting += 1
        if self.plateau is not None and self.waiting >= self.plateau.patience:
            self.scale *= self.plateau.factor
            self.waiting = 0
        return False

    @property
    def exhausted(self) -> bool:
        return self.stale >= self.limit

    def state(self) -> dict[str, Any]:
        best = None if self.best_epoch == 0 else self.best  # JSON has no infinity
        names = ("best_epoch", "stale", "waiting", "scale")
        return {"best": best, **{name: getattr(self, name) for name in names}}

    def load_state(self, saved: dict[str, Any]) -> None:
        for name, value in saved.items():
            setattr(self, name, -math.inf if value is None else value)
