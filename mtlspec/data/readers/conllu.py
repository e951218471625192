"""CoNLL-U: ten tab-separated columns; trees and enhanced graphs are checked, multi-word tokens and empty nodes kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from mtlspec.data.blocks import Block, paragraphs, partial_tags
from mtlspec.data.sentence import DepTree, Layer, Sentence
from mtlspec.errors import DataError
from mtlspec.io.words import counted
from mtlspec.spec.card_families import ReaderOptions
from mtlspec.spec.families import LayerKind
from mtlspec.spec.words import shorten

_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_NOT_A_WORD = re.compile(r"(\d{1,9})-(\d{1,9})|\d+\.\d+")
_LONGEST_NUMBER = 9  # digits; more are out of range anyway, and Python refuses to read thousands of them
_SENT_ID = re.compile(r"#\s*sent_id\s*=\s*(\S+)")
_ARC = re.compile(r"(\d+(?:\.\d+)?):\S.*")
_TYPO = "Typo=Yes"  # the one feature that a multi-word token may have


class Options(ReaderOptions):
    columns: ClassVar[dict[str, LayerKind]] = {
        "lemma": "tags",
        "upos": "tags",
        "xpos": "tags",
        "feats": "tags",
        "dep": "dep",
        "deps": "tags",
        "misc": "tags",
    }
    type: Literal["conllu"]

    def blocks(self, path: Path) -> Iterator[Block]:
        return paragraphs(path)

    def parse(self, block: Block) -> Sentence:
        """One sentence from its lines."""
        rows = _Rows.of(block)
        _, words, lemmas, upos, xpos, feats, heads, rels, deps, misc = zip(*rows.words, strict=True)
        layers: dict[str, Layer] = {"lemma": lemmas, "feats": feats, "deps": deps, "misc": misc}
        layers |= partial_tags({"upos": upos, "xpos": xpos}, ("_",))
        if set(heads) != {"_"}:  # a file without syntax has "_" everywhere
            layers["dep"] = _tree(heads, rels, block, rows.lines)
        named = (match[1] for comment in rows.comments if (match := _SENT_ID.match(comment)))
        name = next(named, str(block.number))
        place = (block.file, block.first + rows.lines[0])
        return Sentence(name, words, layers, place, tuple(rows.comments), tuple(rows.between))

    def line(self, block: Block, word: int) -> int:
        return _Rows.of(block).lines[word]


@dataclass
class _Rows:
    """The lines of a sentence, sorted by what they are, their ids checked."""

    block: Block
    words: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # the block's line of each word
    comments: list[str] = field(default_factory=list)
    between: list[tuple[int, str]] = field(default_factory=list)
    graph: list[tuple[int, str, str]] = field(default_factory=list)  # enhanced arcs: the block's line, node, arcs
    empty: list[str] = field(default_factory=list)  # ids of empty nodes
    range_line: int = 0
    range_end: int = 0  # the last word of the last multi-word token

    @classmethod
    def of(cls, block: Block) -> _Rows:
        rows = cls(block)
        for at, line in enumerate(block.lines):
            rows.add(at, line)
        rows.finish()
        return rows

    def add(self, at: int, line: str) -> None:
        if line.startswith("#"):
            if self.words or self.between:
                raise DataError("E275", "a comment stands between the words", self.block.place(at), "put it above")
            self.comments.append(line)
            return
        row = line.split("\t")
        if len(row) != len(_COLUMNS):
            message = f"{counted(len(row), 'column')} instead of {len(_COLUMNS)}"
            raise DataError("E210", message, self.block.place(at), "separate them by tabs")
        if row[8] != "_":
            self.graph.append((at, row[0], row[8]))
        if row[0].isdigit():
            self._word(at, row)
        elif match := _NOT_A_WORD.fullmatch(row[0]):
            self.between.append((len(self.words), line))
            if match[1]:
                self._range(at, int(match[1]), int(match[2]))
                self._require_blank(at, row, "multi-word token", slice(2, 9))
            else:
                self._empty_node(at, row[0])
                self._require_blank(at, row, "empty node", slice(6, 8))
        else:
            self._word(at, row)

    def _word(self, at: int, row: list[str]) -> None:
        if row[0] != str(len(self.words) + 1):
            seen = "comes twice" if row[0] in {r[0] for r in self.words} else f"instead of {len(self.words) + 1}"
            raise DataError("E212", f"word id '{row[0]}' {seen}", self.block.place(at))
        if not row[1].strip():
            raise DataError("E213", f"word {row[0]} has no form", self.block.place(at))
        if "" in row:
            column = _COLUMNS[row.index("")]
            raise DataError("E249", f"column '{column}' of word {row[0]} is empty", self.block.place(at), "write `_`")
        self.words.append(row)
        self.lines.append(at)

    def _range(self, at: int, first: int, last: int) -> None:
        if first != len(self.words) + 1 or last < first:
            message = f"the range {first}-{last} does not fit after word {len(self.words)}"
            raise DataError("E211", message, self.block.place(at))
        if first <= self.range_end:
            raise DataError("E204", f"the range {first}-{last} overlaps the one before", self.block.place(at))
        self.range_line, self.range_end = at, last

    def _empty_node(self, at: int, name: str) -> None:
        before = self.empty[-1].split(".") if self.empty else ["-1", ""]
        number = int(before[1]) + 1 if before[0] == str(len(self.words)) else 1
        if name != f"{len(self.words)}.{number}":
            message = f"the empty node '{name}' stands where '{len(self.words)}.{number}' would"
            raise DataError("E219", message, self.block.place(at))
        if self.range_line == at - 1 and self.range_end > len(self.words):
            message = f"the empty node '{name}' stands between a multi-word token and its words"
            raise DataError("E743", message, self.block.place(at), "put it above the token's line")
        self.empty.append(name)

    def _require_blank(self, at: int, row: list[str], what: str, columns: slice) -> None:
        """Only words have what these columns are for."""
        for name, cell in zip(_COLUMNS[columns], row[columns], strict=True):
            if cell != "_" and (name, cell) != ("feats", _TYPO):
                message = f"column '{name}' of the {what} {shorten(row[0])} is filled: '{shorten(cell)}'"
                raise DataError("E744", message, self.block.place(at), "write `_`: its words have what it would say")

    def finish(self) -> None:
        if not self.words:
            raise DataError("E214", "a sentence without words", self.block.place())
        if self.range_end > len(self.words):
            message = f"a multi-word token ends at word {self.range_end}, but there are {len(self.words)} words"
            raise DataError("E205", message, self.block.place(self.range_line))
        if self.graph:
            self._check_graph()

    def _check_graph(self) -> None:
        """Every enhanced arc comes from 0, from another word or from another empty node."""
        known = {str(number) for number in range(len(self.words) + 1)} | set(self.empty)
        for at, node, arcs in self.graph:
            for arc in arcs.split("|"):
                match = _ARC.fullmatch(arc)
                if match is None:
                    raise DataError("E206", f"'{arc}' is not an enhanced arc `head:relation`", self.block.place(at))
                if match[1] not in known:
                    raise DataError("E207", f"the enhanced arc '{arc}' comes from no node", self.block.place(at))
                if match[1] == node:
                    message = f"the enhanced arc '{shorten(arc)}' of {node} comes from itself"
                    raise DataError("E745", message, self.block.place(at))


def _tree(heads: Sequence[str], rels: Sequence[str], block: Block, lines: Sequence[int]) -> DepTree:
    numbers: list[int] = []
    roots: list[int] = []
    for word, (head, line) in enumerate(zip(heads, lines, strict=True), 1):
        if not head.isascii() or not head.isdigit():
            raise DataError("E215", f"the head of word {word} is '{shorten(head)}', not a number", block.place(line))
        numbers.append(int(head[: _LONGEST_NUMBER + 1]))
        if numbers[-1] > len(heads):
            raise DataError(
                "E216",
                f"the head of word {word} is {shorten(head)}, but there are {len(heads)} words",
                block.place(line),
            )
        if numbers[-1] == 0:
            roots.append(line)
    if len(roots) > 1:
        raise DataError("E217", "the tree has a second root", block.place(roots[1]))
    if not roots:
        raise DataError("E208", "the tree has no root", block.place(lines[0]), "one word has the head 0")
    cycle = _on_cycle(numbers)
    if cycle is not None:
        raise DataError("E218", f"word {cycle + 1} is its own ancestor: a cycle of heads", block.place(lines[cycle]))
    if "_" in rels:
        word = rels.index("_")
        raise DataError("E209", f"word {word + 1} has a head but no relation", block.place(lines[word]))
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
