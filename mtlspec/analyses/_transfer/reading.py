"""What analyses have in common that go on from tables of transfer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from mtlspec.analyses.transfer_table import Options as TransferTable
from mtlspec.kinds import Sequence_
from mtlspec.spec.demands import Demanding, ReadsFrom
from mtlspec.spec.families import Needed

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob
    from mtlspec.results.transfer import Transfer


class ReadsTransfer(Demanding):
    """Its figures and tables have a part for each way of sharing that is named."""

    needs: ClassVar[tuple[Needed, ...]] = ()
    reads_from: ClassVar[ReadsFrom] = {"transfer": TransferTable}
    transfer: Sequence_[str] = Field(
        min_length=1, description="Analyses above this one, of the type `transfer_table`: one for each way of sharing."
    )

    def transfers(self, job: AnalysisJob) -> dict[str, Transfer]:
        """By the names of the analyses."""
        from mtlspec.results.findings import Findings
        from mtlspec.results.transfer import Transfer

        numbers = {name: Findings.read(job.inputs[f"analyse-{name}"]).numbers for name in self.transfer}
        return {name: Transfer.restored(found["transfer"]) for name, found in numbers.items()}
