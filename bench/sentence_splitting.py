"""How well `mtlspec predict --input documents` finds sentences: English web texts, whose annotators marked them.

Documents are put together again from their sentences: paragraphs with a blank line between them, as texts on disk have
them, or all in one line, where nothing but the rules can tell. The rules were chosen on dev; test is what to quote.
`MTLSPEC_DATA` names the folder with the English Web Treebank.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from mtlspec.use.sentences import sentences_of

CORPUS = "ewt5/full/ewt5.{split}.conllu.gz"
Paragraph = list[tuple[str, bool]]
"""Sentences, and whether a blank follows each."""
Places = list[tuple[int, int]]


def documents(path: Path) -> Iterator[list[Paragraph]]:
    found: list[Paragraph] = []
    spaced = True
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("# newdoc"):
                yield from [found] * bool(found)
                found = []
            elif line.startswith("# newpar") or not found:
                found.append([])
            if line.startswith("# text = "):
                found[-1].append((line.removeprefix("# text = ").rstrip("\n"), True))
            elif line[0].isdigit():
                spaced = "SpaceAfter=No" not in line
            elif not line.strip() and found[-1]:
                found[-1][-1] = (found[-1][-1][0], spaced)
    yield found


def joined(paragraph: Paragraph) -> tuple[str, Places]:
    """The text, and the places of its sentences."""
    text, places = "", []
    for sentence, spaced in paragraph:
        places.append((len(text), len(text) + len(sentence)))
        text += sentence + " " * spaced
    return text, places


def in_one_line(document: list[Paragraph]) -> Paragraph:
    """A blank, or a line end, stood between paragraphs."""
    parts = [[*paragraph[:-1], (paragraph[-1][0], True)] for paragraph in document if paragraph]
    return list(chain.from_iterable(parts))


def measure(split: str, whole: bool) -> str:
    sentences, ends = Counts(), Counts()
    for document in documents(Path(os.environ["MTLSPEC_DATA"]) / CORPUS.format(split=split)):
        for paragraph in [in_one_line(document)] if whole else document:
            text, gold = joined(paragraph)
            found = list(sentences_of(text))
            sentences.add({*gold}, {*found})
            ends.add({end for _, end in gold[:-1]}, {end for _, end in found[:-1]})
    return f"sentences {sentences}; ends between sentences {ends}"


class Counts:
    def __init__(self) -> None:
        self.gold = self.found = self.right = 0

    def add(self, gold: set[object], found: set[object]) -> None:
        self.gold, self.found, self.right = (
            self.gold + len(gold),
            self.found + len(found),
            self.right + len(gold & found),
        )

    def __str__(self) -> str:
        precision, recall = self.right / self.found, self.right / self.gold
        f1 = 2 * precision * recall / (precision + recall)
        return f"{f1:.1%} F1 ({precision:.1%} precision, {recall:.1%} recall)"


def main() -> None:
    print("sentences of English web texts")
    if not os.environ.get("MTLSPEC_DATA"):
        print("  not measured: MTLSPEC_DATA is not set")
        return
    for split in ("dev", "test"):
        for whole in (False, True):
            print(f"  {split:4} {'in one line' if whole else 'paragraphs':11} {measure(split, whole)}")


if __name__ == "__main__":
    main()
