"""What both probes have in common, as the spec sees it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from mtlspec.spec.demands import OneCorpus
from mtlspec.spec.families import MeasuringOptions, Needed

Protocol = Literal["held_out", "released"]


class ProbeOptions(OneCorpus, MeasuringOptions):
    """Every head of every model, asked without training anything."""

    needs: ClassVar[tuple[Needed, ...]] = ("prepare", "train")
    measures_encoder: ClassVar[bool] = True
    reads_heads: ClassVar[bool] = True
    baseline: str = Field(
        default="stl", description="The model group whose single-task models the others are compared with."
    )
    protocol: Protocol = Field(
        default="held_out",
        description="`held_out`: centroids and the best head come from dev, the score from test. `released`: all three "
        "from test, as in the released code; rare labels then reach 100 % for nothing.",
    )
    min_count: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="Labels with fewer items in dev or test are left out of tables. Default: 20, or 1 if `released`.",
    )
    seed: Annotated[int, Field(ge=0)] = Field(
        default=1,
        description="Seed of controls: the randomly initialised encoder, and shuffled labels of attended values.",
    )

    def probed(self) -> dict[str, str]:
        """Probed task -> layer of the data."""
        return {name: layer for name in self.layer_kinds if (layer := getattr(self, name)) is not None}

    @property
    def least(self) -> int:
        """Items that a label needs to be shown."""
        return self.min_count if self.min_count is not None else (20 if self.protocol == "held_out" else 1)

    @property
    def choosing(self) -> str:
        """The split on which heads are chosen and centroids are made."""
        return "dev" if self.protocol == "held_out" else "test"

    @property
    def splits(self) -> tuple[str, ...]:
        return ("dev", "test") if self.protocol == "held_out" else ("test",)
