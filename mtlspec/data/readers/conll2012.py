"""CoNLL-2012 (OntoNotes): parse bits, predicates, named entities and one column of roles a predicate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from mtlspec.data.readers import _bits
from mtlspec.data.readers._blocks import Block, paragraphs
from mtlspec.data.sentence import ConTree, Frame, Layer, Sentence
from mtlspec.errors import DataError
from mtlspec.spec.families import LayerKind, ReaderOptions

_BEFORE = 11  # document, part, number, word, tag, parse, lemma, frameset, sense, speaker, entity
_DOCUMENT_LINES = ("#begin document", "#end document")
_VERB = {"V", "C-V"}  # a predicate of several words has both


class Options(ReaderOptions):
    columns: ClassVar[dict[str, LayerKind]] = {"pos": "tags", "con": "con", "ner": "tags", "srl": "srl"}
    type: Literal["conll2012"]


def read(options: Options, path: Path) -> Iterator[Sentence]:
    """Stream the sentences of a file; a defect ends the stream with its place."""
    return (parse(options, block) for block in blocks(options, path))


def blocks(options: Options, path: Path) -> Iterator[Block]:
    del options
    return paragraphs(path, skip=_DOCUMENT_LINES)


def parse(options: Options, block: Block) -> Sentence:
    """One sentence from its lines."""
    del options
    rows = [line.split() for line in block.lines]
    width = len(rows[0])
    for at, row in enumerate(rows):
        if len(row) != width or width <= _BEFORE:
            wanted = f"at least {_BEFORE + 1}" if width <= _BEFORE else str(width)
            raise DataError("E233", f"{len(row)} columns instead of {wanted}", block.place(at))
        if row[2] != str(at):
            raise DataError("E234", f"word number '{row[2]}' instead of {at}", block.place(at))
    columns = list(zip(*rows, strict=True))
    documents, parts, _, words, pos, parse_bits, lemmas, senses = columns[:8]
    layers: dict[str, Layer] = {"pos": pos, "ner": _entities(columns[10], block)}
    if set(parse_bits) != {"-"}:  # a file without trees has "-" everywhere
        layers["con"] = _tree(parse_bits, pos, block)
    layers["srl"] = _frames(columns[_BEFORE:-1], lemmas, senses, block)
    name = f"{documents[0]}-{parts[0]}-{block.number}"
    return Sentence(name, words, layers, (block.file, block.first))


def _tree(bits: Sequence[str], pos: tuple[str, ...], block: Block) -> ConTree:
    spans = _bits.spans(bits, block, range(len(bits)), "parse")
    if not spans or spans[0][:2] != (0, len(bits)):
        raise DataError("E235", "the parse column has no root over all words", block.place())
    return ConTree(tuple(spans), pos)


def _entities(bits: Sequence[str], block: Block) -> tuple[str, ...]:
    """Brackets as IOB2 tags."""
    tags = ["O"] * len(bits)
    if set(bits) == {"-"}:
        return tuple(tags)
    for start, end, label in _bits.spans(bits, block, range(len(bits)), "entity"):
        if tags[start] != "O":
            raise DataError("E236", "an entity inside another one", block.place(start), "this layer is flat")
        tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return tuple(tags)


def _frames(
    columns: Sequence[Sequence[str]], lemmas: Sequence[str], senses: Sequence[str], block: Block
) -> tuple[Frame, ...]:
    predicates = [word for word, sense in enumerate(senses) if sense != "-"]
    if len(predicates) != len(columns):
        raise DataError(
            "E237", f"{len(predicates)} words have a frameset, but there are {len(columns)} role columns", block.place()
        )
    frames = []
    for word, bits in zip(predicates, columns, strict=True):
        roles = _bits.spans(bits, block, range(len(bits)), "role")
        if not any(start <= word < end for start, end, role in roles if role in _VERB):
            raise DataError("E238", f"the roles of '{lemmas[word]}' do not mark it as V", block.place(word))
        frames.append(Frame(word, f"{lemmas[word]}.{senses[word]}", tuple(roles)))
    return tuple(frames)
