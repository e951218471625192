"""Cards: where data and encoders come from, what they hold, and the digests they must have."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mtlspec.kinds import Frozen, OneOf, Sequence_
from mtlspec.spec.families import (
    GENERATORS,
    READERS,
    SOURCES,
    GeneratorOptions,
    LayerKind,
    ReaderOptions,
    SourceOptions,
)

Split = Literal["train", "dev", "test"]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class FileGroup(Frozen):
    """Files of one format that carry some layers of every split."""

    reader: Annotated[ReaderOptions, OneOf(READERS)]
    paths: dict[Split, str] = Field(description="File of each split, relative to the card's root.")
    layers: dict[Name, str] = Field(description="Layer name -> column of the format.")


class DataCard(Frozen):
    """A corpus."""

    card: Literal["data"]
    name: Name
    title: str = ""
    language: str = "en"
    licence: str
    source: str
    root: str | None = Field(
        default=None,
        description="Folder of the files, relative to the project; `$NAME/sub` reads an environment variable.",
    )
    generator: Annotated[GeneratorOptions, OneOf(GENERATORS)] | None = Field(
        default=None, description="Makes the files; excludes `root`."
    )
    files: Sequence_[FileGroup] = Field(min_length=1)
    on_invalid: Literal["error", "drop"] = Field(
        default="error", description="What to do with a malformed sentence; dropped ones are counted in the report."
    )
    sha256: dict[str, Sha256] = Field(
        default_factory=dict, description="Digest of every file, written by `mtlspec data lock`."
    )

    @property
    def layer_kinds(self) -> dict[str, LayerKind]:
        """Layer name -> kind, for the columns that their formats know."""
        kinds = {}
        for group in self.files:
            for layer, column in group.layers.items():
                kind = group.reader.layer_kind(column)
                if kind is not None:
                    kinds[layer] = kind
        return kinds

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(sorted({path for group in self.files for path in group.paths.values()}))


class EncoderCard(Frozen):
    """An encoder."""

    card: Literal["encoder"]
    name: Name
    title: str = ""
    licence: str
    source: Annotated[SourceOptions, OneOf(SOURCES)]
