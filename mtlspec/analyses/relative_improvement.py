"""How much each task gains: with one other task (from the worst to the best), with all, and with those that help it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from mtlspec.analyses._transfer.reading import ReadsTransfer

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(ReadsTransfer):
    type: Literal["relative_improvement"]

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json`; returns facts for the stage's record."""
        from mtlspec.analyses._transfer.improvement import find

        return find(self.transfers(job), job.out)
