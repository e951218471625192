"""A task is as likely as the square root of its examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from mtlspec.spec.families import SamplerOptions
from mtlspec.train.sampling import power_law

if TYPE_CHECKING:
    from mtlspec.train.sampling import Sampler, TaskSizes


class Options(SamplerOptions):
    type: Literal["square_root"]

    def build(self, sizes: TaskSizes, sentences: int, epochs: int, seed: int) -> Sampler:
        from mtlspec.train.samplers._weighted import WeightedSampler

        del sentences, epochs
        probabilities = power_law(sizes.examples, 0.5)
        return WeightedSampler(sizes, lambda _epoch: probabilities, seed)
