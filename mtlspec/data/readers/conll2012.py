"""CoNLL-2012 (OntoNotes): parse bits, predicates, named entities and one column of roles a predicate."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Literal

from mtlspec.data import bracket_columns
from mtlspec.data.blocks import Block, cells, paragraphs, partial_tags
from mtlspec.data.bracket_columns import Span
from mtlspec.data.malformed import refuse, tried
from mtlspec.data.sentence import ConTree, Frame, Layer, Sentence
from mtlspec.errors import DataError, Place
from mtlspec.io.words import counted
from mtlspec.spec.card_families import ReaderOptions
from mtlspec.spec.families import LayerKind

_BEFORE = 11  # document, part, number, word, tag, parse, lemma, frameset, sense, speaker, entity
_BEGIN, _END = "#begin document", "#end document"
_DOCUMENT = re.compile(re.escape(_BEGIN) + r" \((.*)\); part (\d+)\s*")
_NUMBER = re.compile(r"[0-9]{1,9}")
_VERB = {"V", "C-V"}  # a predicate of several words has both
_NO_WORD = "[WORD]"  # the files as distributed have no words: a script fills them in


class Options(ReaderOptions):
    columns: ClassVar[dict[str, LayerKind]] = {"pos": "tags", "con": "con", "ner": "tags", "srl": "srl"}
    type: Literal["conll2012"]

    def blocks(self, path: Path) -> Iterator[Block]:
        """Sentences; a document that is begun must end, and its sentences must be its own."""
        document: list[str] | None = None
        begun = 0
        for block in paragraphs(path, skip=(_BEGIN, _END), to_the_end=True):
            for number, line in block.before:
                if line.startswith(_BEGIN) == (document is not None):
                    wrong = "ends, but none was begun" if document is None else "begins inside another one"
                    raise DataError("E227", f"a document {wrong}", Place(block.file, number))
                document, begun = (document_of(line), number) if document is None else (None, 0)
            if not block.lines:
                continue
            if document and cells(block.lines[0])[:2] != document:
                raise DataError("E228", f"the sentence is not of the document '{' '.join(document)}'", block.place())
            yield block
        if document is not None:
            raise DataError(
                "E229", f"the document '{' '.join(document)}' has no end: the file is cut off", Place(str(path), begun)
            )

    def parse(self, block: Block) -> Sentence:
        """One sentence from its lines."""
        rows = [cells(line) for line in block.lines]
        defects = list(_defects_of_rows(rows, block))
        if any(len(row) != len(rows[0]) or len(row) <= _BEFORE for row in rows):
            refuse(defects)  # its columns cannot be told
        columns = list(zip(*rows, strict=True))
        documents, parts, _, words, pos, parse_bits, lemmas, senses = columns[:8]
        layers: dict[str, Layer | None] = {}
        layers["srl"] = tried(defects, lambda: _frames(columns[_BEFORE:-1], lemmas, senses, block))
        layers |= partial_tags({"pos": pos}, ("-",))
        if set(parse_bits) not in ({"-"}, {"*"}):  # a column without anything is "-" everywhere, no tree "*" as well
            layers["con"] = tried(defects, lambda: _tree(parse_bits, pos, block))
        if set(columns[10]) != {"-"}:
            layers["ner"] = tried(defects, lambda: _entities(columns[10], block))
        refuse(defects)
        name = f"{documents[0]}-{parts[0]}-{block.number}"
        begun = tuple(line for _, line in block.before if line.startswith(_BEGIN))
        found = {column: layer for column, layer in layers.items() if layer is not None}
        return Sentence(name, words, found, (block.file, block.first), begun)

    def line(self, block: Block, word: int) -> int:
        """Every line is a word."""
        del block
        return word


def document_of(line: str) -> list[str]:
    """Name and part as they stand in the first two columns of its sentences; empty for an unusual line."""
    match = _DOCUMENT.fullmatch(line)
    return [match[1], str(int(match[2]))] if match else []


def _defects_of_rows(rows: Sequence[Sequence[str]], block: Block) -> Iterator[DataError]:
    """The width that most lines have is right; behind a wrong number, numbers go on from there."""
    width, _ = Counter(map(len, rows)).most_common(1)[0]
    if width <= _BEFORE:  # another format: one line tells as much as all
        message = f"{counted(len(rows[0]), 'column')} instead of at least {_BEFORE + 1}"
        yield DataError("E233", message, block.place())
        return
    number: int | None = 0
    for at, row in enumerate(rows):
        if len(row) != width:
            yield DataError("E233", f"{counted(len(row), 'column')} instead of {width}", block.place(at))
            number = None
            continue
        if number is not None and row[2] != str(number):
            yield DataError("E234", f"word number '{row[2]}' instead of {number}", block.place(at))
        number = int(row[2]) + 1 if _NUMBER.fullmatch(row[2]) else None
    empty = next((at for at, row in enumerate(rows) if len(row) == width and row[3] == _NO_WORD), None)
    if empty is not None:  # a script was forgotten: all of them are
        hint = "run the script that fills them in (skeleton2conll)"
        yield DataError("E276", "the words of this file are not filled in", block.place(empty), hint)


def _tree(bits: Sequence[str], pos: tuple[str, ...], block: Block) -> ConTree:
    spans = bracket_columns.spans(bits, block, range(len(bits)), "parse")
    if not spans or spans[0][:2] != (0, len(bits)):
        raise DataError("E235", "the parse column has no root over all words", block.place())
    return ConTree(tuple(spans), pos)


def _entities(bits: Sequence[str], block: Block) -> tuple[str, ...]:
    """Brackets as IOB2 tags."""
    tags = ["O"] * len(bits)
    nested = []
    for start, end, label in bracket_columns.spans(bits, block, range(len(bits)), "entity"):
        if tags[start] != "O":
            nested.append(DataError("E236", "an entity inside another one", block.place(start), "this layer is flat"))
        else:
            tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    refuse(nested)
    return tuple(tags)


def _frames(
    columns: Sequence[Sequence[str]], lemmas: Sequence[str], senses: Sequence[str], block: Block
) -> tuple[Frame, ...]:
    defects: list[DataError] = []
    found = [tried(defects, partial(bracket_columns.spans, bits, block, range(len(bits)), "role")) for bits in columns]
    predicates = [word for word, sense in enumerate(senses) if sense != "-"]
    if len(predicates) != len(columns):
        message = f"{counted(len(predicates), 'frameset')}, but {counted(len(columns), 'role column')}"
        refuse([*defects, DataError("E237", message, block.place())])  # nobody knows which column is whose
    frames = []
    for word, roles in zip(predicates, found, strict=True):
        if roles is not None:
            defects += _defects_of_roles(word, roles, lemmas[word], block)
            frames.append(Frame(word, f"{lemmas[word]}.{senses[word]}", tuple(roles)))
    refuse(defects)
    return tuple(frames)


def _defects_of_roles(word: int, roles: Sequence[Span], lemma: str, block: Block) -> Iterator[DataError]:
    if not any(start <= word < end for start, end, role in roles if role in _VERB):
        yield DataError("E238", f"the roles of '{lemma}' do not mark it as V", block.place(word))
    for (_, end, role), (start, _, inner) in pairwise(roles):
        if start < end:
            yield DataError("E239", f"the roles {role} and {inner} of '{lemma}' overlap", block.place(start))
