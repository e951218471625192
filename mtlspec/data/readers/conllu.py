"""CoNLL-U: ten tab-separated columns; trees and enhanced graphs are checked, multi-word tokens and empty nodes kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from mtlspec.data.blocks import Block, paragraphs, partial_tags
from mtlspec.data.malformed import refuse
from mtlspec.data.sentence import DepTree, Layer, Sentence
from mtlspec.errors import DataError
from mtlspec.io.words import counted
from mtlspec.spec.card_families import ReaderOptions
from mtlspec.spec.families import LayerKind
from mtlspec.spec.words import shorten

_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_NOT_A_WORD = re.compile(r"(\d{1,9})-(\d{1,9})|\d+\.\d+")
_LONGEST_NUMBER = 9  # digits; more are out of range anyway, and Python refuses to read thousands of them
_WORD = re.compile(r"\d{1,9}")
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
        refuse([*rows.defects, *rows.defects_of_tree()] if rows.defects else ())
        _, words, lemmas, upos, xpos, feats, heads, rels, deps, misc = zip(*rows.words, strict=True)
        layers: dict[str, Layer] = {"lemma": lemmas, "feats": feats, "deps": deps, "misc": misc}
        layers |= partial_tags({"upos": upos, "xpos": xpos}, ("_",))
        if set(heads) != {"_"}:  # a file without syntax has "_" everywhere
            refuse(rows.defects_of_tree())
            layers["dep"] = DepTree(tuple(map(int, heads)), rels)
        named = (match[1] for comment in rows.comments if (match := _SENT_ID.match(comment)))
        name = next(named, str(block.number))
        place = (block.file, block.first + rows.lines[0])
        return Sentence(name, words, layers, place, tuple(rows.comments), tuple(rows.between))

    def line(self, block: Block, word: int) -> int:
        return _Rows.of(block).lines[word]


@dataclass
class _Rows:
    """The lines of a sentence, sorted by what they are, and what is wrong with them.

    Behind a line that cannot be told to be a word, or is the wrong one, the next word's number is taken as it comes;
    what counts words is then not asked.
    """

    block: Block
    words: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # the block's line of each word
    comments: list[str] = field(default_factory=list)
    between: list[tuple[int, str]] = field(default_factory=list)
    graph: list[tuple[int, str, str]] = field(default_factory=list)  # enhanced arcs: the block's line, node, arcs
    empty: list[str] = field(default_factory=list)  # ids of empty nodes
    range_line: int = 0
    range_end: int = 0  # the last word of the last multi-word token
    defects: list[DataError] = field(default_factory=list)
    last: int | None = 0  # the number of the last word; None if it is not known
    countable: bool = True  # each line is a word and its number is right
    nodes_known: bool = True  # the ids of empty nodes are right

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
                self._defect("E275", "a comment stands between the words", at, "put it above")
            self.comments.append(line)
            return
        row = line.split("\t")
        if len(row) != len(_COLUMNS):
            message = f"{counted(len(row), 'column')} instead of {len(_COLUMNS)}"
            self._defect("E210", message, at, "separate them by tabs")
            self.last, self.countable = None, False
            return
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

    def _defect(self, code: str, message: str, at: int, hint: str | None = None) -> None:
        self.defects.append(DataError(code, message, self.block.place(at), hint))

    def _word(self, at: int, row: list[str]) -> None:
        if self.last is not None and row[0] != str(self.last + 1):
            seen = "comes twice" if row[0] in {r[0] for r in self.words} else f"instead of {self.last + 1}"
            self._defect("E212", f"word id '{row[0]}' {seen}", at)
            self.last, self.countable = None, False
        elif self.last is None:
            self.last = int(row[0]) if _WORD.fullmatch(row[0]) else None
            if self.last is None:
                self._defect("E212", f"word id '{row[0]}' instead of a number", at)
        else:
            self.last += 1
        if not row[1].strip():
            self._defect("E213", f"word {row[0]} has no form", at)
        if "" in row[2:]:
            for column in (name for name, cell in zip(_COLUMNS[2:], row[2:], strict=True) if not cell):
                self._defect("E249", f"column '{column}' of word {row[0]} is empty", at, "write `_`")
        self.words.append(row)
        self.lines.append(at)

    def _range(self, at: int, first: int, last: int) -> None:
        if last < first or (self.last is not None and first != self.last + 1):
            after = f"after word {self.last}" if self.last is not None else "anywhere"
            self._defect("E211", f"the range {first}-{last} does not fit {after}", at)
            return
        if first <= self.range_end:
            self._defect("E204", f"the range {first}-{last} overlaps the one before", at)
        self.range_line, self.range_end = at, max(last, self.range_end)

    def _empty_node(self, at: int, name: str) -> None:
        if self.last is not None:
            before = self.empty[-1].split(".") if self.empty else ["-1", ""]
            number = int(before[1]) + 1 if before[0] == str(self.last) else 1
            if name != f"{self.last}.{number}":
                self.nodes_known = False
                self._defect("E219", f"the empty node '{name}' stands where '{self.last}.{number}' would", at)
            elif self.range_line == at - 1 and self.range_end > self.last:
                message = f"the empty node '{name}' stands between a multi-word token and its words"
                self._defect("E743", message, at, "put it above the token's line")
        self.empty.append(name)

    def _require_blank(self, at: int, row: list[str], what: str, columns: slice) -> None:
        """Only words have what these columns are for."""
        for name, cell in zip(_COLUMNS[columns], row[columns], strict=True):
            if cell != "_" and (name, cell) != ("feats", _TYPO):
                message = f"column '{name}' of the {what} {shorten(row[0])} is filled: '{shorten(cell)}'"
                self._defect("E744", message, at, "write `_`: its words have what it would say")

    def finish(self) -> None:
        if not (self.words or self.defects):
            self._defect("E214", "a sentence without words", 0)
        if self.range_end > len(self.words) and self.countable:
            message = f"a multi-word token ends at word {self.range_end}, but there are {len(self.words)} words"
            self._defect("E205", message, self.range_line)
        if self.graph:
            self._check_graph()

    def _check_graph(self) -> None:
        """Every enhanced arc comes from 0, from another word or from another empty node."""
        known = {str(number) for number in range(len(self.words) + 1)} | set(self.empty)
        for at, node, arcs in self.graph:
            for arc in arcs.split("|"):
                match = _ARC.fullmatch(arc)
                if match is None:
                    self._defect("E206", f"'{arc}' is not an enhanced arc `head:relation`", at)
                elif match[1] == node:
                    self._defect("E745", f"the enhanced arc '{shorten(arc)}' of {node} comes from itself", at)
                elif match[1] not in known and self.countable and (self.nodes_known or "." not in match[1]):
                    self._defect("E207", f"the enhanced arc '{arc}' comes from no node", at)

    def defects_of_tree(self) -> list[DataError]:
        """What is wrong with heads and relations; none where all words lack a head, as in a file without syntax."""
        heads = [row[6] for row in self.words]
        if set(heads) <= {"_"}:
            return []
        found = _Tree(self.block, self.lines, heads, [row[7] for row in self.words])
        return found.defects(self.countable)


@dataclass(frozen=True)
class _Tree:
    block: Block
    lines: Sequence[int]
    heads: Sequence[str]
    rels: Sequence[str]

    def defects(self, countable: bool) -> list[DataError]:
        """`countable`: each line is a word and its number is right."""
        numbers = [int(head[: _LONGEST_NUMBER + 1]) if _is_number(head) else -1 for head in self.heads]
        found = [
            self._defect("E209", f"word {word} has a head but no relation", word)
            for word, (rel, head) in enumerate(zip(self.rels, self.heads, strict=True), 1)
            if rel == "_" and head != "_"
        ]
        for word, (head, number) in enumerate(zip(self.heads, numbers, strict=True), 1):
            if not head:
                continue  # that the column is empty was told
            if number < 0:
                found.append(self._defect("E215", f"the head of word {word} is '{shorten(head)}', not a number", word))
            elif countable and number > len(self.heads):
                message = f"the head of word {word} is {shorten(head)}, but there are {len(self.heads)} words"
                found.append(self._defect("E216", message, word))
        whole = countable and all(0 <= number <= len(numbers) for number in numbers)
        return [*found, *self._defects_of_shape(numbers, whole)]

    def _defects_of_shape(self, numbers: Sequence[int], whole: bool) -> Iterator[DataError]:
        roots = [word for word, number in enumerate(numbers, 1) if number == 0]
        for order, word in enumerate(roots[1:]):
            yield self._defect("E217", f"the tree has {'one more' if order else 'a second'} root", word)
        if whole and not roots:
            yield DataError("E208", "the tree has no root", self.block.place(self.lines[0]), "one word has the head 0")
        elif whole:
            for word in _on_cycles(numbers):
                yield self._defect("E218", f"word {word} is its own ancestor: a cycle of heads", word)

    def _defect(self, code: str, message: str, word: int) -> DataError:
        return DataError(code, message, self.block.place(self.lines[word - 1]))


def _is_number(head: str) -> bool:
    return head.isascii() and head.isdigit()


def _on_cycles(heads: Sequence[int]) -> list[int]:
    """The first word of each cycle; linear in the number of words."""
    found = []
    state = [0] * (len(heads) + 1)  # 0 unseen, 1 on the current path, 2 known to reach the root or a cycle
    state[0] = 2
    for start in range(1, len(heads) + 1):
        path = []
        node = start
        while state[node] == 0:
            state[node] = 1
            path.append(node)
            node = heads[node - 1]
        if state[node] == 1:
            found.append(min(path[path.index(node) :]))
        for done in path:
            state[done] = 2
    return found
