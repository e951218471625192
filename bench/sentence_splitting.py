"""How well `mtlspec predict --input documents` finds sentences: English web texts, whose annotators marked them.

Documents are put together again from their sentences: paragraphs with a blank line between them (as texts on disk have
them), or all in one line, where nothing but the rules can tell. The rules were chosen on dev; test is what to quote.

    MTLSPEC_DATA=… python bench/sentence_splitting.py [--mistakes N]
"""

from __future__ import annotations

import argparse
import gzip
import os
from collections.abc import Iterator
from pathlib import Path

from mtlspec.use.sentences import sentences_of

CORPUS = "ewt5/full/ewt5.{split}.conllu.gz"
Paragraph = list[tuple[str, bool]]
"""Sentences, and whether a blank follows each."""


def documents(path: Path) -> Iterator[list[Paragraph]]:
    paragraphs: list[Paragraph] = []
    spaced = True
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("# newdoc"):
                if paragraphs:
                    yield paragraphs
                paragraphs = []
            elif line.startswith("# newpar") or not paragraphs:
                paragraphs.append([])
            if line.startswith("# text = "):
                paragraphs[-1].append((line.removeprefix("# text = ").rstrip("\n"), True))
            elif line[0].isdigit():
                spaced = "SpaceAfter=No" not in line
            elif not line.strip() and paragraphs[-1]:
                paragraphs[-1][-1] = (paragraphs[-1][-1][0], spaced)
    yield paragraphs


def joined(paragraph: Paragraph) -> tuple[str, list[tuple[int, int]]]:
    """The text, and the places of its sentences."""
    text, places = "", []
    for sentence, spaced in paragraph:
        places.append((len(text), len(text) + len(sentence)))
        text += sentence + (" " if spaced else "")
    return text, places


def measure(split: str, by_paragraph: bool, mistakes: int) -> None:
    found = right = gold = ends = ends_found = ends_right = 0
    for document in documents(Path(os.environ["MTLSPEC_DATA"]) / CORPUS.format(split=split)):
        parts = [part for part in document if part]
        texts = (
            parts
            if by_paragraph
            else [[(s, True) if n + 1 == len(p) else (s, b) for p in parts for n, (s, b) in enumerate(p)]]
        )
        for part in texts:
            text, places = joined(part)
            mine = list(sentences_of(text))
            gold, found, right = gold + len(places), found + len(mine), right + len({*places} & {*mine})
            inner, own = {end for _, end in places[:-1]}, {end for _, end in mine[:-1]}
            ends, ends_found, ends_right = ends + len(inner), ends_found + len(own), ends_right + len(inner & own)
            for end in sorted(inner ^ own)[: max(mistakes, 0)]:
                mistakes -= 1
                print(
                    "missed" if end in inner else "wrong ",
                    repr(text[max(end - 40, 0) : end] + " || " + text[end : end + 30]),
                )
    p, r = right / found, right / gold
    ep, er = ends_right / ends_found, ends_right / ends
    how = "paragraphs" if by_paragraph else "one line"
    print(
        f"{split:5} {how:10}  sentences: precision {p:.1%}, recall {r:.1%}, F1 {2 * p * r / (p + r):.1%}; "
        f"ends inside: precision {ep:.1%}, recall {er:.1%}, F1 {2 * ep * er / (ep + er):.1%}"
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--mistakes", type=int, default=0, help="of dev, to look at")
    mistakes = arguments.parse_args().mistakes
    for split in ("dev", "test"):
        for by_paragraph in (True, False):
            measure(split, by_paragraph, mistakes if split == "dev" and by_paragraph else 0)


if __name__ == "__main__":
    main()
