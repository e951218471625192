"""Cards: where data and encoders come from, what they hold, and the digests they must have."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Annotated, Literal

from pydantic import Field

from mtlspec.kinds import Frozen, OneOf, Sequence_
from mtlspec.spec.card_families import GeneratorOptions, ReaderOptions, SourceOptions
from mtlspec.spec.families import GENERATORS, READERS, SOURCES, LayerKind, Sha256

NAME = r"^[a-z][a-z0-9_]{0,39}$"
Name = Annotated[str, Field(pattern=NAME)]
Share = Annotated[float, Field(gt=0, lt=1)]
SPLITS = ("train", "dev", "test")
"""Every corpus has these splits; further ones, of any name, are evaluated only."""

ABOUT_SCORES = ("main", "layer", "columns", "labels", "undefined")
"""What `scores.json` says of a task beside its scores on each split, whose names are others therefore."""


def is_pattern(path: str) -> bool:
    """Whether an entry of `paths` stands for all files that match it."""
    return any(sign in path for sign in "*?[")


class FileGroup(Frozen):
    """Files of one format that carry some layers of every split."""

    reader: Annotated[ReaderOptions, OneOf(READERS)] = Field(description="The format of the files.")
    paths: dict[Name, str | Sequence_[str]] = Field(
        description="Files of each split, relative to the card's root: a file, a folder (all files below it), "
        "a pattern such as `train/**/*.gold_conll`, or a list of them. Files of a folder or pattern are read in "
        "sorted order. Beside `train`, `dev` and `test` there may be further splits, such as `dev_mismatched`, on "
        "which models are evaluated."
    )
    layers: dict[Name, str] = Field(description="Layer name -> column of the format.")
    readers: dict[Name, Annotated[ReaderOptions, OneOf(READERS)]] = Field(
        default_factory=dict, description="Splits whose files have another format or layout than `reader` says."
    )
    unlabelled: Sequence_[Name] = Field(
        default=(),
        description="Splits whose files lack the layers, such as the test files of a shared task: predictions for them "
        "are written, nothing is scored.",
    )

    def entries(self, split: str) -> tuple[str, ...]:
        """What the card names as the files of a split."""
        named = self.paths.get(split, ())
        return (named,) if isinstance(named, str) else named

    def reader_of(self, split: str) -> ReaderOptions:
        """The reader of a split's files; of unlabelled ones it reads no layer."""
        reader = self.readers.get(split, self.reader)
        return reader.unlabelled() if split in self.unlabelled else reader


class HoldOut(Frozen):
    """Splits that a corpus lacks, taken out of its training files.

    A hash of the text decides, so that equal texts stay together and more files move nothing that was there before.
    """

    dev: Share | None = Field(default=None, description="About this share of the training files is `dev`.")
    test: Share | None = Field(default=None, description="About this share of the training files is `test`.")
    seed: int = Field(default=1, description="Another seed, another choice.")

    @property
    def shares(self) -> dict[str, float]:
        """Split -> share, of the splits that are held out."""
        said = {"dev": self.dev, "test": self.test}
        return {split: share for split, share in said.items() if share is not None}


class DataCard(Frozen):
    """A corpus."""

    card: Literal["data"] = Field(description="What sort of card this is.")
    name: Name = Field(description="The name of the card's file, without `.yaml`.")
    title: str = Field(default="", description="For the report.")
    language: str = Field(default="en", description="BCP 47 tag of the text's language.")
    licence: str = Field(description="The corpus's licence, or where it is written.")
    source: str = Field(description="Where the corpus comes from.")
    root: str | None = Field(
        default=None,
        description="Folder of the files, relative to the project; `$NAME/sub` reads an environment variable.",
    )
    generator: Annotated[GeneratorOptions, OneOf(GENERATORS)] | None = Field(
        default=None, description="Makes the files; excludes `root`."
    )
    files: Sequence_[FileGroup] = Field(
        min_length=1, description="Groups of files; several groups hold layers of the same sentences."
    )
    hold_out: HoldOut | None = Field(
        default=None,
        description="Splits without files: a share of the training files instead, such as `{dev: 0.1, seed: 1}`. Equal "
        "texts stay together.",
    )
    on_invalid: Literal["error", "drop"] = Field(
        default="error", description="What to do with a malformed sentence; dropped ones are counted in the report."
    )
    sha256: dict[str, Sha256] = Field(
        default_factory=dict, description="Digest of every file, written by `mtlspec data lock`."
    )

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of all splits: `train`, `dev` and `test`, then further ones in the card's order."""
        named = (split for group in self.files for split in group.paths)
        return tuple(dict.fromkeys((*SPLITS, *named)))

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

    def known_labels(self, layer: str) -> tuple[str, ...] | None:
        """All labels of a layer, where the readers of all its files name them."""
        for group in self.files:
            if layer in group.layers:
                others = (reader for split, reader in group.readers.items() if split not in group.unlabelled)
                found = [reader.known_labels(group.layers[layer]) for reader in (group.reader, *others)]
                named = [labels for labels in found if labels is not None]
                return tuple(dict.fromkeys(chain.from_iterable(named))) if len(named) == len(found) else None
        return None

    @property
    def paths(self) -> tuple[str, ...]:
        """What the card names as files, folders and patterns; `mtlspec.data.files` finds what they stand for."""
        return tuple(sorted({path for group in self.files for split in group.paths for path in group.entries(split)}))


def is_inline(keys: Iterable[str]) -> bool:
    """Whether a mapping under `data` is a card, because it has a key of cards; otherwise it names several corpora."""
    return any(key == "extends" or key in DataCard.model_fields for key in keys)


class EncoderCard(Frozen):
    """An encoder."""

    card: Literal["encoder"] = Field(description="What sort of card this is.")
    name: Name = Field(description="The name of the card's file, without `.yaml`.")
    title: str = Field(default="", description="For the report.")
    licence: str = Field(description="The weights' licence, or where it is written.")
    source: Annotated[SourceOptions, OneOf(SOURCES)] = Field(description="Where the weights come from.")
