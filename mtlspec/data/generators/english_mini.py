"""A small English with five consistent layers, from a grammar and a seed.

Every sentence is one tree from which the phrases, tags, entities, dependencies and frames are read, so the layers
cannot disagree. Some words are held out of training, no sentence is repeated, and the files are in the formats of real
corpora.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from mtlspec.data.sentence import Sentence
from mtlspec.spec.card_families import GeneratorOptions

SHORTEST, LONGEST = 4, 30


class Options(GeneratorOptions):
    type: Literal["english_mini"]
    seed: int = Field(default=7, description="Another seed, another corpus of the same language.")
    train: Annotated[int, Field(ge=1)] = Field(default=3000, description="Training sentences.")
    dev: Annotated[int, Field(ge=1)] = Field(default=500, description="Development sentences.")
    test: Annotated[int, Field(ge=1)] = Field(default=500, description="Test sentences.")

    def generate(self, out: Path) -> None:
        """Write `<split>.conllu`, `<split>.trees` and `<split>.conll12` for every split."""
        from mtlspec.data import writers
        from mtlspec.data.escapes import unescape
        from mtlspec.io.write import write_text

        for split, sentences in corpus(self):
            plain = [replace(s, words=tuple(map(unescape, s.words))) for s in sentences]  # only brackets need escapes
            write_text(out / f"{split}.conllu", writers.conllu(plain))
            write_text(out / f"{split}.trees", writers.brackets(sentences))
            write_text(out / f"{split}.conll12", writers.conll2012(sentences, f"english_mini/{split}"))


def corpus(options: Options) -> Iterator[tuple[str, list[Sentence]]]:
    """The splits; a later one has no sentence of an earlier one."""
    seen: set[tuple[str, ...]] = set()
    for split, size in (("train", options.train), ("dev", options.dev), ("test", options.test)):
        yield split, _sentences(options.seed, split, size, seen)


def _sentences(seed: int, split: str, size: int, seen: set[tuple[str, ...]]) -> list[Sentence]:
    from mtlspec.data.generators._clauses import compose
    from mtlspec.data.generators._dice import Dice
    from mtlspec.data.generators._tree import sentence
    from mtlspec.data.generators._verbphrases import Scene

    dice = Dice(seed, split)
    sentences: list[Sentence] = []
    while len(sentences) < size:
        scene = Scene(dice)
        made = sentence(f"{split}-{len(sentences) + 1}", compose(scene), scene.drafts)
        if SHORTEST <= len(made.words) <= LONGEST and made.words not in seen:
            seen.add(made.words)
            sentences.append(made)
    return sentences
