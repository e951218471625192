"""Every paper pack by its name, whichever study it is of: each study has figures of its own shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, Strict

from mtlspec.kinds import Frozen, Sequence_
from mtlspec.spec.packs import FOLDER, Pack, load_pack, pack_names
from mtlspec.spec.yaml import read_yaml

_STUDY = "functional_specialization"
Figure: TypeAlias = str | float | Annotated[tuple[float, float], Strict(False)] | None
"""A name, a number, (mean, standard deviation over seeds), or nothing where the paper prints nothing."""


class PublishedTable(Frozen):
    """A table as it is printed; the first cell of a row names it."""

    id: str
    title: str
    columns: Sequence_[str]
    rows: Sequence_[Sequence_[Figure]]

    def numbers(self, row: str) -> tuple[float | None, ...]:
        """The means of a row without its name."""
        cells = next(cells for cells in self.rows if cells[0] == row)[1:]
        return tuple(_mean(cell) for cell in cells)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(str(cells[0]) for cells in self.rows)


def _mean(cell: Figure) -> float | None:
    if isinstance(cell, str) or cell is None:
        return None
    return cell[0] if isinstance(cell, tuple) else cell


class SpecialisationPack(Frozen):
    """The figures of the study of functional specialisation with one encoder."""

    pack: int
    study: Literal["functional_specialization"]
    title: str
    paper: str
    source: str = Field(description="The tables and figures that the numbers stand in.")
    encoder: str
    corpus: str
    seeds: int
    heads: int = Field(description="Attention heads of the encoder.")
    tables: Sequence_[PublishedTable]
    notes: Sequence_[str] = Field(default=(), description="Figures that are doubtful, and why.")

    def table(self, wanted: str) -> PublishedTable | None:
        return next((table for table in self.tables if table.id == wanted), None)

    def stored(self) -> dict[str, Any]:
        """As a stage's parameters hold it."""
        return self.model_dump(mode="json")


AnyPack: TypeAlias = Pack | SpecialisationPack


def load_published(name: str) -> AnyPack:
    if name in pack_names() and name.startswith(f"{_STUDY}/"):
        return SpecialisationPack.model_validate(read_yaml(FOLDER / f"{name}.yaml", f"packs/{name}.yaml").plain())
    return load_pack(name)


def restored_published(stored: Mapping[str, Any]) -> AnyPack:
    """From a stage's parameters."""
    return SpecialisationPack.model_validate(stored) if "study" in stored else Pack.restored(stored)
