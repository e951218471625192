"""Paper packs: published figures that a spec can name under `compare_to`, one YAML file each in `mtlspec/packs`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_origin

from pydantic import Field, Strict

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.kinds import Frozen, Sequence_
from mtlspec.spec.words import shorten
from mtlspec.spec.yaml import read_yaml

FOLDER = Path(__file__).parents[1] / "packs"
MeanAndStd = Annotated[tuple[float, float], Strict(False)]
Figures = dict[str, MeanAndStd]
"""task -> (mean, standard deviation over seeds)"""


class Published(Frozen):
    """What every pack says of the study and of the encoder that its figures are of."""

    pack: int
    title: str
    paper: str
    source: str = Field(description="The tables and figures that the numbers stand in.")
    encoder: str
    corpus: str
    seeds: int
    notes: Sequence_[str] = Field(default=(), description="Figures that are doubtful, and why.")


class Pack(Published):
    """The figures of the stem cell study with one encoder. Groups and tasks bear the names that specs use for them."""

    heads: int = Field(description="Attention heads of the encoder.")
    metrics: dict[str, str] = Field(description="Task -> main metric.")
    scores: dict[str, Figures] = Field(description="Model group -> task -> test score.")
    pairs: dict[str, Figures] = Field(default_factory=dict, description="`a+b` -> scores of both tasks.")
    heads_kept: dict[str, Figures] = Field(default_factory=dict, description="Model group -> task -> share in percent.")
    samples_per_second: dict[str, dict[str, int]] = Field(default_factory=dict)
    utilisation: dict[str, dict[str, float]] = Field(default_factory=dict, description="Agreement of head utilisation.")

    def stored(self) -> dict[str, Any]:
        """As a stage's parameters hold it: mappings become lists of pairs, because stored keys are sorted."""
        dumped = self.model_dump(mode="json")
        pairs = {name: list(map(list, value.items())) for name, value in dumped.items() if isinstance(value, dict)}
        return {**dumped, **pairs}

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Pack:
        """The inverse of `stored`: the pack in the order of its file."""
        mappings = [name for name, field in cls.model_fields.items() if get_origin(field.annotation) is dict]
        return cls.model_validate({**stored, **{field: dict(stored[field]) for field in mappings}})


@cache
def pack_names() -> tuple[str, ...]:
    """`stem_cell/bert` and the like, sorted."""
    return tuple(sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.glob("*/*.yaml")))


def load_pack(name: str) -> Pack:
    if name not in pack_names():
        raise SpecError("E171", f"there is no paper pack '{shorten(name)}'", None, did_you_mean(name, pack_names()))
    path = FOLDER / f"{name}.yaml"
    return Pack.model_validate(read_yaml(path, f"packs/{name}.yaml").plain())
