"""What a card must hold beyond its shape."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.spec.cards import ABOUT_SCORES, SPLITS, DataCard, EncoderCard, FileGroup
from mtlspec.spec.check_held_out import check_held_out
from mtlspec.spec.check_splits import check_splits
from mtlspec.spec.nodes import Node
from mtlspec.spec.words import shorten

TAKEN = frozenset({"id", "place", "words", "pieces", "word_pieces", "texts", "types", "segments"})
"""Columns that prepared data have beside the layers."""

_HOLD_OUT = {split: f"name one, or hold it out of train: `hold_out: {{{split}: 0.1}}`" for split in ("dev", "test")}


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
    yield from check_held_out(card, node)
    first_line: dict[str, int] = {}
    for index, group in enumerate(card.files):
        yield from _check_group(group, card, node.near(("files", index)))
        for layer in group.layers:
            key = node.near(("files", index, "layers", layer)).key
            if layer in TAKEN:
                yield SpecError("E807", f"a layer cannot be called '{layer}'", key, "give it another name")
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


def _check_group(group: FileGroup, card: DataCard, node: Node) -> Iterator[SpecError]:
    held_out = card.hold_out.shares if card.hold_out is not None else {}
    for split in card.splits:
        if not group.entries(split) and split not in held_out:
            hint = did_you_mean(split, group.paths.keys() - set(SPLITS)) if split in SPLITS else None
            place = node.near(("paths",)).place
            yield SpecError("E143", f"the split '{split}' has no file", place, hint or _HOLD_OUT.get(split))
    for named in group.paths:
        if named in ABOUT_SCORES:
            key = node.near(("paths", named)).key
            message = f"a split cannot be called '{named}'"
            yield SpecError("E862", message, key, "files of results use that word; give the split another name")
        for index, path in enumerate(group.entries(named)):
            if not _is_below(path):
                place = node.near(("paths", named, index)).place
                hint = "write it relative to the card's root, with `/`, without `..`"
                yield SpecError("E144", f"'{shorten(path)}' is not a path below the card's root", place, hint)
    if not group.layers:
        yield SpecError("E145", "these files give no layer", node.near(("layers",)).place)
    labelled = {split: reader for split, reader in group.readers.items() if split not in group.unlabelled}
    for layer, column in group.layers.items():
        sorts = {kind for reader in (group.reader, *labelled.values()) if (kind := reader.layer_kind(column))}
        if len(sorts) > 1:
            message = f"the layer '{layer}' is of the kinds {' and '.join(sorted(sorts))} in different splits"
            yield SpecError("E808", message, node.near(("layers", layer)).place, "see `readers` of the files")
        for reader in (group.reader, *labelled.values()):
            if reader.layer_kind(column) is None:
                place = node.near(("layers", layer)).place
                message = f"the format '{reader.type}' has no column '{shorten(column)}'"
                yield SpecError("E146", message, place, did_you_mean(column, reader.column_names()))
    yield from _check_readers(group, node)


def _check_readers(group: FileGroup, node: Node) -> Iterator[SpecError]:
    others = [(("readers", split), reader) for split, reader in group.readers.items()]
    for path, reader in ((("reader",), group.reader), *others):
        problem = reader.problem()
        if problem is not None:
            yield SpecError("E803", f"the options of the reader '{reader.type}': {problem}", node.near(path).place)
    for key, splits in {"readers": tuple(group.readers), "unlabelled": group.unlabelled}.items():
        for index, split in enumerate(splits):
            found = node.near((key, split if key == "readers" else index))
            if split not in group.paths:
                hint = did_you_mean(split, group.paths)
                yield SpecError(
                    "E802", f"`{key}` names the split '{split}', which has no file", found.key or found.place, hint
                )
    for split, why in (
        ("train", "nothing could be learnt from it"),
        ("dev", "models are chosen by their scores on it"),
    ):
        if split in group.unlabelled:
            place = node.near(("unlabelled", group.unlabelled.index(split))).place
            yield SpecError("E804", f"the split '{split}' cannot be without labels", place, why)


def _is_below(path: str) -> bool:
    """Whether a path cannot leave the folder it is relative to."""
    parts = PurePosixPath(path)
    return bool(path) and not parts.is_absolute() and ".." not in parts.parts and "\\" not in path and "\0" not in path
