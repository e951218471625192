"""The k-sigma rule: a mean over seeds is higher than another if both scatters, k times, leave a gap between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

Rule = Literal["printed", "released"]
K = Annotated[float, Field(ge=0)]
Ddof = Literal[0, 1]

WHAT_IS_HIGHER = "A score is higher than another if its mean - k std is above the other's mean + k std, over the seeds."
WHAT_IS_DDOF = "1: the standard deviation of a sample (n - 1), which needs two seeds. 0: of a population."
WHAT_IS_RULE = (
    "`printed`: the rule as the paper prints it. `released`: as its code has it, where a gap of nothing is enough"
)
WHAT_IS_RULE += ", and runs with a score of exactly 0 count as missing."


class Spread(NamedTuple):
    """Mean and standard deviation over seeds."""

    mean: float
    std: float


@dataclass(frozen=True)
class KSigma:
    """How far apart two means must be."""

    k: float = 1.5
    ddof: Ddof = 1
    rule: Rule = "printed"

    @property
    def least_seeds(self) -> int:
        return 1 + self.ddof

    def spread(self, values: Sequence[float]) -> Spread | None:
        """Of the scores of all seeds; None where too few count."""
        counted = [value for value in values if self.rule == "printed" or value != 0]
        if len(counted) < self.least_seeds:
            return None
        mean = fmean(counted)
        return Spread(mean, (sum((value - mean) ** 2 for value in counted) / (len(counted) - self.ddof)) ** 0.5)

    def higher(self, a: Spread | None, b: Spread | None) -> bool:
        """Whether a is higher than b; nothing is known of what is missing."""
        if a is None or b is None:
            return False
        gap = (a.mean - self.k * a.std) - (b.mean + self.k * b.std)
        return gap > 0 or (self.rule == "released" and gap == 0)
