"""A corpus: the aligned files of a card as one stream of sentences, token by token checked against each other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from mtlspec.data.defects import Defects, renamed
from mtlspec.data.escapes import unescape
from mtlspec.data.files import split_files
from mtlspec.data.layer_kinds import layer_kind
from mtlspec.data.malformed import refuse, tried
from mtlspec.data.sentence import Layer, Sentence
from mtlspec.errors import DataError, Place
from mtlspec.spec.card_families import ReaderOptions
from mtlspec.spec.cards import DataCard, FileGroup, HoldOut

if TYPE_CHECKING:
    from mtlspec.data.blocks import Block


def read_split(
    card: DataCard, root: Path, split: str, dropped: list[DataError] | None = None, shown: str | None = None
) -> Iterator[Sentence]:
    """Sentences with the layers of the card that they have, in the order of the files.

    With `on_invalid: drop` a malformed sentence is left out in all files and its defect is put into `dropped`; else
    the stream ends with all defects of the split. What a card holds out of its training files comes as a split of its
    own and is no longer part of `train`. `shown` is how messages name `root`, if it is a copy; a generator's files
    always have their card's name.
    """
    name = shown or (str(root) if card.generator is None else card.name)
    held_out = card.hold_out.shares if card.hold_out is not None else {}
    if card.hold_out is None or split not in ("train", *held_out):
        yield from _read(card, root, split, dropped, name)
        return
    met: set[str] = set()
    found = 0
    # A defect counts in train only: nobody can say where its sentence would have gone.
    for sentence in _read(card, root, "train", dropped if split == "train" else None, name):
        if held_out_for(sentence, card.hold_out) == split:
            found += 1
            met |= sentence.layers.keys()
            yield sentence
    hint = "change the shares or the seed of `hold_out`"
    if not found:
        share = f"holding out {held_out[split]}" if split in held_out else "what is held out"
        message = f"{share} leaves no sentence for {split}"
        raise DataError("E299", message, Place(card.name), hint)
    lacking = [layer for layer in card.layer_kinds if layer not in met]
    if lacking and split != "test":
        message = f"what is held out leaves no sentence of {split} with the layer '{lacking[0]}'"
        raise DataError("E267", message, Place(card.name), hint)


def held_out_for(sentence: Sentence, hold_out: HoldOut) -> str:
    """The split that a sentence of the training files belongs to; equal texts belong to the same one."""
    text = "\n".join(sentence.texts or sentence.words)
    digest = hashlib.sha256(f"{hold_out.seed}\n{text}".encode()).digest()
    left = int.from_bytes(digest[:8], "big") / 2**64  # even in [0, 1)
    for split, share in hold_out.shares.items():
        if left < share:
            return split
        left -= share
    return "train"


def _read(card: DataCard, root: Path, split: str, dropped: list[DataError] | None, shown: str) -> Iterator[Sentence]:
    """The sentences of the files that a card names for a split."""
    if not all(group.entries(split) for group in card.files):
        raise DataError("E250", f"the card has no {split} file for every group", Place(card.name))
    paths = [split_files(card, group, root, split) for group in card.files]
    files = [[(root / path, f"{shown}/{path}") for path in group] for group in paths]
    names = [[name for _, name in group] for group in files]
    readers = [group.reader_of(split) for group in card.files]
    streams = [_blocks(reader, group) for reader, group in zip(readers, files, strict=True)]
    taken = [_taken(group, split) for group in card.files]
    met: set[str] = set()
    defects = Defects(card.name, split)
    parsed = _parsed(readers, streams, taken, [group[-1] for group in names])
    count = 0
    while True:
        try:
            found = next(parsed, None)
        except DataError as end:
            raise defects.error(end) from None
        if found is None:
            break
        count += 1
        if isinstance(found, Sentence):
            met |= found.layers.keys()
            if not defects.count:  # behind the first defect, only further ones are looked for
                yield found
        elif card.on_invalid == "error":
            defects.add(found)
        elif dropped is not None:
            dropped.append(found)
    if defects.count:
        raise defects.error()
    if not count:
        raise DataError("E251", f"the {split} files have no sentences", Place(names[0][0]))
    if split in ("train", "dev"):
        _check_met(card.files, names, met, split)


def _taken(group: FileGroup, split: str) -> dict[str, str]:
    """The layers that are read, and their columns; without labels, those that are given with the text."""
    if split not in group.unlabelled:
        return group.layers
    kinds = {layer: group.reader_of(split).layer_kind(column) for layer, column in group.layers.items()}
    return {layer: group.layers[layer] for layer, kind in kinds.items() if kind is not None and layer_kind(kind).given}


def _parsed(
    readers: Sequence[ReaderOptions],
    streams: Sequence[Iterator[Block]],
    taken: Sequence[dict[str, str]],
    last: Sequence[str],
) -> Iterator[Sentence | DataError]:
    """Sentence by sentence of aligned files, or what is wrong with it; `last` are the last files of the groups."""
    for count, blocks in enumerate(zip_longest(*streams)):
        if None in blocks:
            raise _different_lengths(last, blocks, count)
        try:
            yield _merge(taken, _parts(readers, blocks))
        except DataError as defect:
            yield defect


def _parts(readers: Sequence[ReaderOptions], blocks: Sequence[Block]) -> list[Sentence]:
    """The sentence as each of the aligned files has it."""
    defects: list[DataError] = []
    found = [tried(defects, partial(reader.parse, block)) for reader, block in zip(readers, blocks, strict=True)]
    refuse(defects)
    return [part for part in found if part is not None]


def _blocks(reader: ReaderOptions, files: Sequence[tuple[Path, str]]) -> Iterator[Block]:
    """The sentences of several files, each with the name that its user knows, as one stream."""
    for path, name in files:
        try:
            for block in reader.blocks(path):
                yield block if block.file == name else replace(block, file=name)
        except DataError as defect:
            raise renamed(defect, path, name) from None


def _merge(taken: Sequence[dict[str, str]], parts: list[Sentence]) -> Sentence:
    """One sentence from those of aligned files; a layer that its file lacks here is not in it."""
    first = next((part for part in parts if part.words or part.texts), None)
    if first is None:
        hint = "another file must have the words of a sentence without a tree"
        raise DataError("E298", "a sentence without words", Place(*parts[0].place), hint)
    layers: dict[str, Layer] = {}
    for columns, part in zip(taken, parts, strict=True):
        if part.words != first.words and part.words:
            _compare(first, part)
        if part.texts != first.texts and (part.texts or part.words):
            message = f"the text is another one than at {Place(*part.place)}"
            raise DataError("E297", message, Place(*first.place), "aligned files must agree")
        layers |= {layer: part.layers[column] for layer, column in columns.items() if column in part.layers}
    return Sentence(first.id, first.words, layers, first.place, first.comments, first.between, first.texts)


def _check_met(groups: Sequence[FileGroup], files: Sequence[Sequence[str]], met: set[str], split: str) -> None:
    """A sentence may lack a layer. That no sentence of train or dev has it is a wrong file or a wrong column: nothing
    could be learnt, or no model be chosen."""
    for group, paths in zip(groups, files, strict=True):
        for layer, column in group.layers.items():
            if layer not in met:
                message = f"no sentence of the {split} files has '{column}' for layer '{layer}'"
                named = group.readers.get(split, group.reader).named_by(column)
                other = ", hold dev out with `hold_out`" if split == "dev" else ""
                hint = f"correct {named}{other}, or leave the layer out"
                raise DataError("E252", message, Place(paths[0]), hint)


def _compare(one: Sentence, other: Sentence) -> None:
    """The same words up to the treebanks' escapes, or an error that names both files and lines."""
    for number, (a, b) in enumerate(zip_longest(one.words, other.words), 1):
        if a is None or b is None or unescape(a) != unescape(b):
            seen = f"word {number} is '{a if a is not None else ''}', but '{b if b is not None else ''}'"
            raise DataError("E253", f"{seen} at {Place(*other.place)}", Place(*one.place), "aligned files must agree")


def _different_lengths(files: Sequence[str], blocks: Sequence[Block | None], count: int) -> DataError:
    short = files[blocks.index(None)]
    block = next(block for block in blocks if block is not None)
    if not count:
        message = f"this file has no sentences, but {block.place().file} has some"
        return DataError("E257", message, Place(short), "aligned files must agree")
    message = f"one more sentence than the {count} that end with {short}"
    return DataError("E254", message, block.place(), "aligned files must agree")
