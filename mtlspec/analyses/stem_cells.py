"""The stem cell hypothesis in numbers: heads that several tasks use, and what training makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.analyses._probe_options import ProbeOptions
from mtlspec.kinds import Sequence_
from mtlspec.spec.demands import Demanding, Gates, ReadsFrom


class Options(Demanding):
    """`models` names the groups of single-task models with head gates (`sharing: l0`)."""

    type: Literal["stem_cells"]
    needs: ClassVar[tuple[Literal["prepare", "encoder", "train", "evaluate"], ...]] = ("train",)
    needs_gates: ClassVar[Gates | None] = "all"
    single_task: ClassVar[bool] = True
    least_tasks: ClassVar[str | None] = "tasks_at_least"
    reads_from: ClassVar[ReadsFrom] = {"probes": ProbeOptions}
    groups_read: ClassVar[tuple[str, ...]] = ("single", "joint")
    probes: Sequence_[str] = Field(
        min_length=1, description="Analyses above this one, of the types `attention_probe` and `attended_value_probe`."
    )
    tasks_at_least: Annotated[int, Field(ge=2)] = Field(
        default=3, description="A head is a stem cell if at least this many tasks keep it."
    )
    single: str = Field(default="stl", description="The group of single-task models, among those that were probed.")
    joint: str = Field(default="mtl", description="The group of models of all tasks, among those that were probed.")
    alpha: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="Level of the test against chance, and of the intervals over seeds."
    )
    draws: Annotated[int, Field(ge=20)] = Field(
        default=2000, description="How often each task's heads are shuffled within layers to see what chance gives."
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=1, description="Seed of the shuffles.")


def run(
    options: Options,
    models: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Path],
    out: Path,
    progress: Callable[[int, int, str], None],
) -> dict[str, Any]:
    """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
    from mtlspec.analyses import _stem_tables as tables
    from mtlspec.analyses._findings import Findings
    from mtlspec.analyses._gates import read_gates
    from mtlspec.analyses._stem_cells import claims, common_heads, probe_changes, verdict
    from mtlspec.analyses._variants import variants

    single = [variant for variant in variants(models) if len(variant.tasks) == 1]
    gated = read_gates(single, inputs, "gate", progress)
    common = common_heads(gated, options.tasks_at_least, options.draws, options.seed)
    changes = [
        change
        for name in options.probes
        for change in probe_changes(inputs[f"analyse-{name}"], common.stem, options.single, options.joint)
    ]
    made = claims(common, changes, options.alpha)
    judged = verdict(made)
    findings = Findings(
        type=options.type,
        title="Stem cells",
        summary=tables.summary(judged, made, changes),
        tables=(tables.claims_table(made, options.alpha), tables.changes_table(changes), tables.heads_table(common)),
        figures=tables.draw(common, changes, out / "figures"),
    )
    findings.write(out)
    return {"verdict": judged, "stem_cells": int(common.stem.sum()), "tasks": list(common.tasks)}
