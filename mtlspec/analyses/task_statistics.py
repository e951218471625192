"""What each task has to learn from: sentences, words for each word type, labels and how evenly they are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from mtlspec.spec.families import AnalysisOptions, Needed

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(AnalysisOptions):
    type: Literal["task_statistics"]
    needs: ClassVar[tuple[Needed, ...]] = ("prepare",)

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/` and `analysis.json`; returns facts for the stage's record."""
        from mtlspec.analyses._task_statistics import find

        return find(job)
