"""Bracketed trees: `(TOP (S (NP (NNP Ann)) ...))`, one a line or spread over indented lines as in the Penn Treebank."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from mtlspec.data.blocks import MOST_LINES, Block, endless, lines
from mtlspec.data.malformed import refuse
from mtlspec.data.sentence import ConTree, Sentence
from mtlspec.errors import DataError
from mtlspec.spec.card_families import ReaderOptions
from mtlspec.spec.families import LayerKind

_TOKEN = re.compile(r"[()]|[^ \t()]+")
_FUNCTION = re.compile(r"(?<=.)[-=].*")
_TRACE = "-NONE-"
_NO_TREE = ("()", "(())")


class Options(ReaderOptions):
    columns: ClassVar[dict[str, LayerKind]] = {"con": "con", "pos": "tags"}
    type: Literal["brackets"]
    functions: bool = Field(default=False, description="Keep function tags: NP-SBJ instead of NP.")
    traces: bool = Field(default=False, description="Keep empty elements (-NONE-) as words.")

    def blocks(self, path: Path) -> Iterator[Block]:
        """A tree starts with a bracket in the first column; what follows without one belongs to it."""
        held: list[str] = []
        number = first = 0
        for place, line in enumerate(lines(path), 1):
            if line.startswith("(") and held:
                number += 1
                yield Block(str(path), number, first, tuple(held))
                held = []
            if held or line.strip(" \t"):
                first = first if held else place
                held.append(line)
                if len(held) > MOST_LINES:
                    raise endless(path, first, "a tree starts with a bracket in the first column")
        if held:
            yield Block(str(path), number + 1, first, tuple(held))

    def parse(self, block: Block) -> Sentence:
        """One tree from its lines, without recursion: depth is not limited."""
        if (
            "".join("".join(block.lines).split()) in _NO_TREE
        ):  # what parsers write where they fail: the sentence has none
            return Sentence(str(block.number), (), {}, (block.file, block.first))
        builder = _Builder(self, block)
        for line, text in enumerate(block.lines):
            for match in _TOKEN.finditer(text):
                builder.add(match[0], line, match.start() + 1)
        tree, words = builder.finish()
        return Sentence(str(block.number), words, {"con": tree, "pos": tree.pos}, (block.file, block.first))


class _Node:
    """An open bracket: its label, where it stands, and how much was found before it."""

    __slots__ = ("column", "filled", "label", "line", "slot", "start")

    def __init__(self, line: int, column: int, start: int, slot: int) -> None:
        self.label: str | None = None
        self.line, self.column = line, column
        self.start, self.slot = start, slot
        self.filled = False  # has a child or a word


class _Builder:
    def __init__(self, options: Options, block: Block) -> None:
        self.options, self.block = options, block
        self.words: list[str] = []
        self.pos: list[str] = []
        self.spans: list[tuple[int, int, str] | None] = []  # None: a bracket that turned out to hold no phrase
        self.open: list[_Node] = []
        self.defects: list[DataError] = []

    def add(self, text: str, line: int, column: int) -> None:
        if text == "(":
            if not self.open and self.spans:
                self._stop("E220", "a second tree follows the first", line, column, "one tree a line")
            if self.open:
                self.open[-1].filled = True
            self.open.append(_Node(line, column, len(self.words), len(self.spans)))
            self.spans.append(None)
        elif not self.open:
            self._stop("E221", f"'{text}' stands outside of the tree", line, column)
        elif text == ")":
            self._close(self.open.pop())
        else:
            self._text(self.open[-1], text, line, column)

    def _text(self, node: _Node, text: str, line: int, column: int) -> None:
        if node.label is None and not node.filled:
            node.label = text
            return
        if node.filled or node.label is None:
            self._defect("E222", f"the word '{text}' has no tag of its own", line, column)
            return
        node.filled = True
        if node.label != _TRACE or self.options.traces:
            self.words.append(text)
            self.pos.append(node.label)
        node.slot = -1  # a pre-terminal is no phrase

    def _close(self, node: _Node) -> None:
        if not node.filled:
            self._defect("E223", "a bracket without words", node.line, node.column)
            return
        if node.slot < 0 or len(self.words) == node.start:  # a tag, or a phrase of traces only
            return
        label = node.label if node.label is not None else ("TOP" if not self.open else None)
        if label is None:
            self._defect("E224", "a phrase without a label", node.line, node.column)
            return
        if not self.options.functions:
            label = _FUNCTION.sub("", label)
        self.spans[node.slot] = (node.start, len(self.words), label)

    def _defect(self, code: str, message: str, line: int, column: int, hint: str | None = None) -> None:
        self.defects.append(DataError(code, message, self.block.place(line, column), hint))

    def _stop(self, code: str, message: str, line: int, column: int, hint: str | None = None) -> None:
        """The brackets before it do not pair: what follows cannot be told."""
        self._defect(code, message, line, column, hint)
        refuse(self.defects)

    def finish(self) -> tuple[ConTree, tuple[str, ...]]:
        for node in self.open:
            self._defect("E225", "a bracket is not closed", node.line, node.column)
        refuse(self.defects)
        spans = tuple(span for span in self.spans if span is not None)
        if not self.words or not spans:
            raise DataError("E226", "a tree without a phrase over words", self.block.place())
        return ConTree(spans, tuple(self.pos)), tuple(self.words)
