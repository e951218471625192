"""Every paper pack by its name, whichever study it is of: each study has figures of its own shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, Strict

from mtlspec.kinds import Frozen, Sequence_
from mtlspec.spec.packs import FOLDER, Pack, Published, load_pack, pack_names
from mtlspec.spec.tagging_pack import TaggingPack
from mtlspec.spec.yaml import read_yaml

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


class TablesPack(Published):
    """The figures of a study with one encoder, table by table. Tasks bear the names that specs use for them."""

    study: str
    heads: int = Field(description="Attention heads of the encoder.")
    tables: Sequence_[PublishedTable]

    def table(self, wanted: str) -> PublishedTable | None:
        return next((table for table in self.tables if table.id == wanted), None)

    def stored(self) -> dict[str, Any]:
        """As a stage's parameters hold it."""
        return self.model_dump(mode="json")


class SpecialisationPack(TablesPack):
    """The study of functional specialisation."""

    study: Literal["functional_specialization"]


class ConditionalPack(TablesPack):
    """The study of conditionally adaptive multi-task learning."""

    study: Literal["ca_mtl"]


AnyPack: TypeAlias = Pack | SpecialisationPack | ConditionalPack | TaggingPack
_STUDIES: Mapping[str, type[SpecialisationPack | ConditionalPack | TaggingPack]] = {
    "functional_specialization": SpecialisationPack,
    "ca_mtl": ConditionalPack,
    "sequence_tagging": TaggingPack,
}


def load_published(name: str) -> AnyPack:
    study = _STUDIES.get(name.split("/", 1)[0])
    if study is None or name not in pack_names():
        return load_pack(name)
    return study.model_validate(read_yaml(FOLDER / f"{name}.yaml", f"packs/{name}.yaml").plain())


def restored_published(stored: Mapping[str, Any]) -> AnyPack:
    """From a stage's parameters."""
    return _STUDIES[stored["study"]].model_validate(stored) if "study" in stored else Pack.restored(stored)
