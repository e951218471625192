"""What a card must hold beyond its shape."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import get_args

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.spec.cards import DataCard, EncoderCard, FileGroup, Split
from mtlspec.spec.check_splits import check_splits
from mtlspec.spec.nodes import Node
from mtlspec.spec.words import shorten


def check_card(card: DataCard | EncoderCard, node: Node) -> Iterator[SpecError]:
    """Every problem of a card that has the right shape."""
    if isinstance(card, EncoderCard):
        if card.source.type == "directory":
            yield from _check_home(node.near(("source", "path")))
        return
    if (card.root is None) == (card.generator is None):
        said, hint = "both", "leave one of them out"
        if card.root is None:
            said, hint = "neither", "name the folder of the files, or what makes them"
        place = node.near(("root",)).place
        yield SpecError("E141", f"a card has `root` or `generator`, this one has {said}", place, hint)
    yield from _check_home(node.near(("root",)))
    yield from check_splits(card, node)
    first_line: dict[str, int] = {}
    for index, group in enumerate(card.files):
        yield from _check_group(group, node.near(("files", index)))
        for layer in group.layers:
            key = node.near(("files", index, "layers", layer)).key
            if layer in first_line:
                hint = f"it stands first in line {first_line[layer]}"
                yield SpecError("E142", f"the layer '{layer}' stands in two groups of files", key, hint)
            elif key is not None:
                first_line[layer] = key.line


def _check_home(folder: Node) -> Iterator[SpecError]:
    """`~` is the shell's word; only environment variables are read, so that a card says what it depends on."""
    said = folder.value
    if isinstance(said, str) and said.startswith("~"):
        tilde, _, below = said.partition("/")
        written = f"$HOME/{below}".rstrip("/")
        hint = f"write `{shorten(written)}`" if tilde == "~" else "write the path in full"
        yield SpecError("E148", f"'{shorten(tilde)}' is not read as a home folder", folder.place, hint)


def _check_group(group: FileGroup, node: Node) -> Iterator[SpecError]:
    for split in get_args(Split):
        if not group.entries(split):
            yield SpecError("E143", f"the split '{split}' has no file", node.near(("paths",)).place)
    for named in group.paths:
        for index, path in enumerate(group.entries(named)):
            if not _is_below(path):
                place = node.near(("paths", named, index)).place
                hint = "write it relative to the card's root, with `/`, without `..`"
                yield SpecError("E144", f"'{shorten(path)}' is not a path below the card's root", place, hint)
    if not group.layers:
        yield SpecError("E145", "these files give no layer", node.near(("layers",)).place)
    for layer, column in group.layers.items():
        if group.reader.layer_kind(column) is None:
            place = node.near(("layers", layer)).place
            message = f"the format '{group.reader.type}' has no column '{shorten(column)}'"
            yield SpecError("E146", message, place, did_you_mean(column, group.reader.column_names()))


def _is_below(path: str) -> bool:
    """Whether a path cannot leave the folder it is relative to."""
    parts = PurePosixPath(path)
    return bool(path) and not parts.is_absolute() and ".." not in parts.parts and "\\" not in path and "\0" not in path
