"""CoNLL-U: ten tab-separated columns; multi-word tokens and empty nodes are skipped, trees are checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from mtlspec.data.readers._blocks import Block, paragraphs
from mtlspec.data.sentence import DepTree, Layer, Sentence
from mtlspec.errors import DataError
from mtlspec.spec.families import LayerKind, ReaderOptions

_COLUMNS = 10
_NOT_A_WORD = re.compile(r"(\d+)-(\d+)|\d+\.\d+")
_SENT_ID = re.compile(r"#\s*sent_id\s*=\s*(\S+)")


class Options(ReaderOptions):
    columns: ClassVar[dict[str, LayerKind]] = {"lemma": "tags", "upos": "tags", "xpos": "tags", "dep": "dep"}
    type: Literal["conllu"]


def read(options: Options, path: Path) -> Iterator[Sentence]:
    """Stream the sentences of a file; a defect ends the stream with its place."""
    return (parse(options, block) for block in blocks(options, path))


def blocks(options: Options, path: Path) -> Iterator[Block]:
    del options
    return paragraphs(path)


def parse(options: Options, block: Block) -> Sentence:
    """One sentence from its lines."""
    del options
    comments = tuple(line for line in block.lines if line.startswith("#"))
    rows, lines = _words(block)
    _, words, lemmas, upos, xpos, _, heads, rels, *_ = zip(*rows, strict=True)
    layers: dict[str, Layer] = {"lemma": lemmas, "upos": upos, "xpos": xpos}
    if set(heads) != {"_"}:  # a file without syntax has "_" everywhere
        layers["dep"] = _tree(heads, rels, block, lines)
    named = (match[1] for comment in comments if (match := _SENT_ID.match(comment)))
    return Sentence(next(named, str(block.number)), words, layers, (block.file, block.first + lines[0]), comments)


def _words(block: Block) -> tuple[list[list[str]], list[int]]:
    """The rows that are words, and the block's line of each."""
    rows: list[list[str]] = []
    places: list[int] = []
    for at, line in enumerate(block.lines):
        if line.startswith("#"):
            continue
        row = line.split("\t")
        if len(row) != _COLUMNS:
            raise DataError(
                "E210", f"{len(row)} columns instead of {_COLUMNS}", block.place(at), "separate them by tabs"
            )
        if match := _NOT_A_WORD.fullmatch(row[0]):
            if match[1] and not len(rows) < int(match[1]) <= int(match[2]):
                raise DataError("E211", f"the range {row[0]} does not fit after word {len(rows)}", block.place(at))
            continue
        if row[0] != str(len(rows) + 1):
            seen = "comes twice" if row[0] in {r[0] for r in rows} else f"instead of {len(rows) + 1}"
            raise DataError("E212", f"word id '{row[0]}' {seen}", block.place(at))
        if not row[1].strip():
            raise DataError("E213", f"word {row[0]} has no form", block.place(at))
        rows.append(row)
        places.append(at)
    if not rows:
        raise DataError("E214", "a sentence without words", block.place())
    return rows, places


def _tree(heads: Sequence[str], rels: Sequence[str], block: Block, lines: Sequence[int]) -> DepTree:
    numbers: list[int] = []
    roots: list[int] = []
    for word, (head, line) in enumerate(zip(heads, lines, strict=True), 1):
        if not head.isascii() or not head.isdigit():
            raise DataError("E215", f"the head of word {word} is '{head}', not a number", block.place(line))
        numbers.append(int(head))
        if numbers[-1] > len(heads):
            raise DataError(
                "E216", f"the head of word {word} is {head}, but there are {len(heads)} words", block.place(line)
            )
        if numbers[-1] == 0:
            roots.append(line)
    if len(roots) > 1:
        raise DataError("E217", "the tree has a second root", block.place(roots[1]))
    cycle = _on_cycle(numbers)
    if cycle is not None:
        raise DataError("E218", f"word {cycle + 1} is its own ancestor: a cycle of heads", block.place(lines[cycle]))
    return DepTree(tuple(numbers), tuple(rels))


def _on_cycle(heads: Sequence[int]) -> int | None:
    """The first word (0-based) that lies on a cycle, or None; linear in the number of words."""
    state = [0] * (len(heads) + 1)  # 0 unseen, 1 on the current path, 2 known to reach the root
    state[0] = 2
    for start in range(1, len(heads) + 1):
        path = []
        node = start
        while state[node] == 0:
            state[node] = 1
            path.append(node)
            node = heads[node - 1]
        if state[node] == 1:
            return min(path[path.index(node) :]) - 1
        for done in path:
            state[done] = 2
    return None
