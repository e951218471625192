"""A toy sampler: of some candidates of every task it trains on those that the model is least sure of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from mtlspec.spec.families import SamplerOptions
from mtlspec.train.sampling import Part, Sampler, TaskSizes

if TYPE_CHECKING:
    from mtlspec.train.view import View


class Options(SamplerOptions):
    type: Literal["least_sure"]

    def build(self, sizes: TaskSizes, sentences: int, epochs: int, seed: int) -> Sampler:
        del epochs, seed
        return LeastSure(sizes, sentences)


class LeastSure(Sampler):
    def __init__(self, sizes: TaskSizes, sentences: int) -> None:
        super().__init__(sizes)
        self._sentences = sentences

    def draw(self, view: View) -> tuple[Part, ...]:
        import torch

        candidates = [Part(task, view.take(task, self._sentences)) for task in range(len(self.sizes))]
        best = torch.cat(view.all_scores(candidates)).argsort(descending=True, stable=True)[: self._sentences]
        owners, places = best // self._sentences, best % self._sentences
        parts = (Part(task, rows[places[owners == task]]) for task, rows in candidates)
        return tuple(part for part in parts if len(part.rows))
