"""A corpus: the aligned files of a card as one stream of sentences, token by token checked against each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from mtlspec import kinds
from mtlspec.data.escapes import unescape
from mtlspec.data.files import split_files
from mtlspec.data.sentence import Layer, Sentence
from mtlspec.errors import DataError, Place
from mtlspec.spec.cards import DataCard, FileGroup, Split
from mtlspec.spec.families import READERS


def read_split(card: DataCard, root: Path, split: Split, dropped: list[DataError] | None = None) -> Iterator[Sentence]:
    """Sentences with all layers of the card, in the order of the files.

    With `on_invalid: drop` a malformed sentence is left out in all files and its defect is put into `dropped`.
    """
    count = 0
    if not all(group.entries(split) for group in card.files):
        raise DataError("E250", f"the card has no {split} file for every group", Place(card.name))
    files = [[root / path for path in split_files(card, group, root, split)] for group in card.files]
    readers = [kinds.load(READERS, group.reader.type) for group in card.files]
    streams = [_blocks(r, g, paths) for r, g, paths in zip(readers, card.files, files, strict=True)]
    for blocks in zip_longest(*streams):
        if None in blocks:
            raise _different_lengths([paths[-1] for paths in files], blocks, count)
        count += 1
        try:
            parts = [r.parse(g.reader, block) for r, g, block in zip(readers, card.files, blocks, strict=True)]
            yield _merge(card.files, parts)
        except DataError as defect:
            if card.on_invalid == "error":
                raise
            if dropped is not None:
                dropped.append(defect)
    if not count:
        raise DataError("E251", f"the {split} files have no sentences", files[0][0])


def _blocks(reader: Any, group: FileGroup, paths: list[Path]) -> Iterator[Any]:
    """The sentences of several files as one stream."""
    for path in paths:
        yield from reader.blocks(group.reader, path)


def _merge(groups: tuple[FileGroup, ...], parts: list[Sentence]) -> Sentence:
    first = parts[0]
    layers: dict[str, Layer] = {}
    for group, part in zip(groups, parts, strict=True):
        if part.words != first.words:
            _compare(first, part)
        for layer, column in group.layers.items():
            if column not in part.layers:
                raise DataError("E252", f"the sentence has no '{column}' for layer '{layer}'", Place(*part.place))
            layers[layer] = part.layers[column]
    return Sentence(first.id, first.words, layers, first.place, first.comments, first.between)


def _compare(one: Sentence, other: Sentence) -> None:
    """The same words up to the treebanks' escapes, or an error that names both files and lines."""
    for number, (a, b) in enumerate(zip_longest(one.words, other.words), 1):
        if a is None or b is None or unescape(a) != unescape(b):
            seen = f"word {number} is '{a if a is not None else ''}', but '{b if b is not None else ''}'"
            raise DataError("E253", f"{seen} at {Place(*other.place)}", Place(*one.place), "aligned files must agree")


def _different_lengths(files: list[Path], blocks: tuple[Any, ...], count: int) -> DataError:
    short = files[blocks.index(None)]
    block = next(block for block in blocks if block is not None)
    if not count:
        message = f"this file has no sentences, but {block.place().file} has some"
        return DataError("E257", message, short, "aligned files must agree")
    message = f"one more sentence than the {count} that end with {short}"
    return DataError("E254", message, block.place(), "aligned files must agree")
