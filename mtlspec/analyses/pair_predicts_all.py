"""Do pairs of tasks tell what learning all tasks together will do?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.analyses._transfer.reading import ReadsTransfer

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(ReadsTransfer):
    type: Literal["pair_predicts_all"]
    draws: Annotated[int, Field(ge=100)] = Field(
        default=10_000, description="Samples of tasks behind each interval, and draws behind each p value."
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=1, description="Seed of these samples and draws.")

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json`; returns facts for the stage's record."""
        from mtlspec.analyses._transfer.prediction import find

        return find(self.transfers(job), job.out, self.draws, self.seed)
