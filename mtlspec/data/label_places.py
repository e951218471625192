"""Where labels stand that a task cannot read, in the files as their user knows them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from mtlspec.data.blocks import Block
from mtlspec.data.defects import NAMED
from mtlspec.data.files import split_files
from mtlspec.data.layer_kinds import layer_kind
from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError, MtlspecError, Place, Problems
from mtlspec.spec.card_families import ReaderOptions
from mtlspec.spec.cards import DataCard, FileGroup
from mtlspec.spec.families import Unreadable


def unreadable_labels(card: DataCard, root: Path, shown: str, layer: str, task: str, found: Unreadable) -> MtlspecError:
    """All of them; `shown` is how messages name `root`."""
    count = 0
    named: list[DataError] = []
    for place, label in _places(card, root, shown, layer, found.labels):
        count += 1
        if len(named) < NAMED:
            named.append(DataError("E285", f"'{label}' of layer '{layer}' {found.why}", place))
    if count == 1:
        (only,) = named
        return DataError(only.code, f"{only.message}, which task '{task}' reads", only.place, found.hint)
    first = f"; the first {NAMED} are named" if count > NAMED else ""
    listed = ", ".join(f"'{label}'" for label in found.labels[:NAMED])
    message = f"{count:,} labels of layer '{layer}' in '{card.name}' are none that task '{task}' can read: {listed}"
    return Problems([DataError("E287", message + first, None, found.hint), *named])


def _places(card: DataCard, root: Path, shown: str, layer: str, labels: Collection[str]) -> Iterator[tuple[Place, str]]:
    for group in card.files:
        if layer in group.layers:
            for split in group.paths:
                if split not in group.unlabelled:
                    yield from _in_split(card, group, root, shown, layer, split, labels)


def _in_split(
    card: DataCard, group: FileGroup, root: Path, shown: str, layer: str, split: str, labels: Collection[str]
) -> Iterator[tuple[Place, str]]:
    reader, column = group.reader_of(split), group.layers[layer]
    for path in split_files(card, group, root, split):
        for block in reader.blocks(root / path):
            try:
                sentence = reader.parse(block)
            except DataError:  # it was left out
                continue
            for line, label in _in_sentence(reader, block, sentence, card.layer_kinds[layer], column, labels):
                yield Place(f"{shown}/{path}", block.first + line), label


def _in_sentence(
    reader: ReaderOptions, block: Block, sentence: Sentence, kind: str, column: str, labels: Collection[str]
) -> Iterator[tuple[int, str]]:
    if column not in sentence.layers:
        return
    value, about = sentence.layers[column], layer_kind(kind)
    if about.per_word:
        yield from ((reader.line(block, word), tag) for word, tag in enumerate(about.cells(value)[0]) if tag in labels)
    else:
        yield from ((0, label) for label in about.targets(value) if label in labels)
