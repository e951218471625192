"""From proportional in the first epoch towards uniform in the last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from mtlspec.spec.families import SamplerOptions
from mtlspec.train.sampling import power_law

if TYPE_CHECKING:
    from mtlspec.train.sampling import Sampler, TaskSizes


class Options(SamplerOptions):
    type: Literal["annealed"]

    def build(self, sizes: TaskSizes, sentences: int, epochs: int, seed: int) -> Sampler:
        from mtlspec.train.samplers._weighted import WeightedSampler

        del sentences

        def probabilities(epoch: int) -> tuple[float, ...]:
            progress = (epoch - 1) / (epochs - 1) if epochs > 1 else 0.0
            return power_law(sizes.examples, 1 - 0.8 * progress)

        return WeightedSampler(sizes, probabilities, seed)
