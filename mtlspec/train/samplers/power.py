"""A task is as likely as its examples to the power alpha."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from mtlspec.spec.families import SamplerOptions
from mtlspec.train.sampling import power_law

if TYPE_CHECKING:
    from mtlspec.train.sampling import Sampler, TaskSizes


class Options(SamplerOptions):
    type: Literal["power"]
    alpha: Annotated[float, Field(ge=0)] = Field(default=0.8, description="0: all alike; 1: proportional to size.")
    count: Literal["examples", "batches"] = Field(default="examples", description="What a task's size is counted in.")

    def build(self, sizes: TaskSizes, sentences: int, epochs: int, seed: int) -> Sampler:
        from mtlspec.train.samplers._weighted import WeightedSampler

        del sentences, epochs
        probabilities = power_law(getattr(sizes, self.count), self.alpha)
        return WeightedSampler(sizes, lambda _epoch: probabilities, seed)
