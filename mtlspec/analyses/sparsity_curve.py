"""What fewer heads cost: the score of gated models against the share of heads that they keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from mtlspec.spec.demands import Demanding, Gates


class Options(Demanding):
    type: Literal["sparsity_curve"]
    needs: ClassVar[tuple[Literal["prepare", "encoder", "train", "evaluate"], ...]] = ("train", "evaluate")
    needs_gates: ClassVar[Gates | None] = "some"
    baseline: str = Field(
        default="stl", description="The model group without gates whose single-task models have all their heads."
    )


def run(
    options: Options,
    models: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Path],
    out: Path,
    progress: Callable[[int, int, str], None],
) -> dict[str, Any]:
    """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
    from mtlspec.analyses import _sparsity as made
    from mtlspec.analyses._findings import Findings
    from mtlspec.analyses._variants import variants

    found = variants(models)
    curve = made.Curve(made.points(found, inputs, options.baseline, progress), options.baseline, found)
    findings = Findings(
        type=options.type,
        title="Sparsity",
        summary=made.summary(curve),
        tables=(made.points_table(curve),),
        figures=made.draw(curve, out / "figures"),
    )
    findings.write(out)
    return {"points": len(curve.points)}
