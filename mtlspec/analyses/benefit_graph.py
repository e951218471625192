"""A graph of who helps and who harms whom in pairs of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from mtlspec.analyses._transfer.reading import ReadsTransfer

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(ReadsTransfer):
    type: Literal["benefit_graph"]

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json`; returns facts for the stage's record."""
        from mtlspec.analyses._transfer.graph import find

        return find(self.transfers(job), job.out)
