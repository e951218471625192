"""How many parameters models have and training moved, as multiples of their encoder, and for each task."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from mtlspec.spec.families import MeasuringOptions, Needed

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob, Measured, Measurement
    from mtlspec.results.tables import Row, Table
    from mtlspec.results.variants import Variant

FILE = "sizes.json"


class Options(MeasuringOptions):
    """Of the encoder, tensors count as trained that differ from those of the pre-trained one: frozen ones are the same
    to the bit. Single-task models of a group are taken together, because it takes all of them to do all tasks."""

    type: Literal["parameter_table"]
    needs: ClassVar[tuple[Needed, ...]] = ("encoder", "train")

    def measure(self, job: Measurement) -> Measured:
        """Writes `sizes.json`."""
        from mtlspec.io.write import write_json
        from mtlspec.model.encoder.encoder import Encoder
        from mtlspec.model.multitask import load_model
        from mtlspec.results.jobs import Measured

        model = load_model(job.inputs["train"])
        before = dict(Encoder.load(job.inputs["encoder"]).named_parameters())
        own = {id(parameter) for parameter in model.sharing.module.parameters()}
        moved = 0
        for name, parameter in model.encoder.named_parameters():
            if id(parameter) not in own:
                old = before.get(name)
                same = old is not None and old.shape == parameter.shape and bool((old == parameter).all())
                moved += 0 if same else parameter.numel()
        sizes = model.sizes()
        tasks = sum(size for part, size in sizes.items() if part.startswith("tasks."))
        found = {"encoder": sizes["encoder"], "moved": moved, "sharing": sizes["sharing"], "tasks": tasks}
        write_json(job.out / FILE, found)
        return Measured(facts=found)

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        found = [_read(variant, job) for variant in variants(job.models)]
        counted = [*_together([one for one in found if one.singles]), *(one for one in found if not one.singles)]
        findings = Findings(
            type=self.type,
            title="Parameters",
            summary=_summary(counted),
            tables=(_table(counted),),
            figures=(),
            numbers={"models": [one.numbers() for one in counted]},
        )
        findings.write(job.out)
        return {"rows": len(counted)}


@dataclass(frozen=True)
class Counted:
    """Parameters of a model, or of single-task models that do its tasks together."""

    label: str
    source: str
    number: int  # of tasks
    singles: int  # models of one task
    encoder: int  # of one
    total: int
    trained: int

    @property
    def multiple(self) -> float:
        """Of the encoder, in all."""
        return self.total / self.encoder

    @property
    def trained_share(self) -> float:
        """Trained for each task, as a share of the encoder."""
        return self.trained / self.number / self.encoder

    def numbers(self) -> dict[str, Any]:
        return {"model": self.label, "tasks": self.number, "total": self.total, "trained": self.trained}


def _read(variant: Variant, job: AnalysisJob) -> Counted:
    """Of the first seed: others have as many parameters, and freeze the same."""
    run = variant.runs[0]
    sizes = json.loads((job.measurement(run) / FILE).read_bytes())
    added = sizes["sharing"] + sizes["tasks"]
    return Counted(
        label=variant.label,
        source=run.train,
        number=len(variant.learnt),
        singles=int(variant.is_single),
        encoder=sizes["encoder"],
        total=sizes["encoder"] + added,
        trained=sizes["moved"] + added,
    )


def _together(singles: Sequence[Counted]) -> list[Counted]:
    """Those of a group as one row; their labels are `group: task`."""
    groups: dict[str, list[Counted]] = {}
    for one in singles:
        groups.setdefault(one.label.split(":", 1)[0], []).append(one)
    return [
        Counted(
            label=f"{group}: {len(own)} of one task" if len(own) > 1 else own[0].label,
            source=" · ".join(one.source for one in own),
            number=len(own),
            singles=len(own),
            encoder=own[0].encoder,
            total=sum(one.total for one in own),
            trained=sum(one.trained for one in own),
        )
        for group, own in groups.items()
    ]


def _summary(counted: Sequence[Counted]) -> tuple[str, ...]:
    least = min(counted, key=lambda one: one.trained_share)
    told = f"{least.label} trains least for each task: {100 * least.trained_share:.1f} % of an encoder; it has"
    return (f"{told} {least.multiple:.2f} times the parameters of one.",)


def _table(counted: Sequence[Counted]) -> Table:
    from mtlspec.results.tables import Table

    caption = (
        "Parameters of all that is needed to do the tasks: encoders, what the way of sharing adds, and decoders. "
        "Trained: the decoders, what sharing adds, and the tensors of the encoder that differ from the pre-trained "
        "ones. Single-task models of a group count together."
    )
    columns = ("model", "tasks", "total", "times the encoder", "trained", "trained per task (% of the encoder)")
    return Table("parameters", "Parameters", caption, columns, (("", tuple(map(_line, counted))),))


def _line(one: Counted) -> Row:
    from mtlspec.results.tables import Cell

    return (
        Cell(one.label, one.label, source=one.source),
        Cell(str(one.number), one.number),
        Cell(f"{one.total:,}", one.total),
        Cell(f"{one.multiple:.2f}", one.multiple),
        Cell(f"{one.trained:,}", one.trained),
        Cell(f"{100 * one.trained_share:.1f}", 100 * one.trained_share),
    )
