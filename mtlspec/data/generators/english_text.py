"""Plain text of the small English for an encoder to learn from: sentences, and pairs of which one goes with the other.

A pair says the same twice, in other words, or its second sentence follows from the first, as in a text that does not
contradict itself. No sentence is one of the dev and test data of `english_mini` and of the sentence tasks, as their
cards have them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from mtlspec.data.escapes import unescape
from mtlspec.data.generators import (
    english_acceptability,
    english_entailment,
    english_mini,
    english_paraphrase,
    english_sentiment,
    english_similarity,
    english_topic,
)
from mtlspec.data.generators._clauses import compose
from mtlspec.data.generators._dice import Dice
from mtlspec.data.generators._examples import ExampleOptions, Size
from mtlspec.data.generators._tree import sentence
from mtlspec.data.generators._verbphrases import Scene
from mtlspec.data.sentence import Sentence
from mtlspec.spec.card_families import GeneratorOptions

_PLAIN = english_mini.Options(type="english_mini")
_TASKS: tuple[tuple[ExampleOptions, tuple[str, ...], float], ...] = (
    (english_topic.Options(type="english_topic"), english_topic.Options.classes, 1.0),
    (english_sentiment.Options(type="english_sentiment"), english_sentiment.Options.classes, 2.0),
    (english_acceptability.Options(type="english_acceptability"), ("1",), 2.0),
    (english_paraphrase.Options(type="english_paraphrase"), ("1",), 2.0),
    (english_entailment.Options(type="english_entailment"), ("entailment",), 2.0),
    (english_similarity.Options(type="english_similarity"), ("5",), 2.0),
)
"""Corpora whose kinds of sentences occur, those of their classes that a text may have, and how often."""
_PLAIN_SHARE = 3.0


class Options(GeneratorOptions):
    type: Literal["english_text"]
    seed: int = Field(default=11, description="Another seed, another text of the same language.")
    train: Size = Field(default=6000, description="Training texts of one sentence or two.")
    dev: Size = Field(default=500, description="Development texts.")
    test: Size = Field(default=500, description="Test texts.")

    def generate(self, out: Path) -> None:
        """Write `<split>.tsv` for every split: a text a row, and how many sentences it has."""
        from mtlspec.io.write import write_text

        for split, texts in self.splits():
            rows = ["text\tsentences", *(f"{' '.join(text)}\t{len(text)}" for text in texts)]
            write_text(out / f"{split}.tsv", "".join(f"{row}\n" for row in rows))

    def splits(self) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
        """The sentences of each text; none occurs in a later split."""
        earlier = set(_kept_for_tests())
        for split, size in (("train", self.train), ("dev", self.dev), ("test", self.test)):
            dice = Dice(self.seed, split)
            made: dict[tuple[str, ...], None] = {}
            while len(made) < size:
                text = _draw(dice)
                if earlier.isdisjoint(text):
                    made[text] = None
            earlier.update(one for text in made for one in text)
            yield split, list(made)


def _draw(dice: Dice) -> tuple[str, ...]:
    task = dice.weighted(((None, _PLAIN_SHARE), *((number, task[2]) for number, task in enumerate(_TASKS))))
    while True:
        if task is None:
            scene = Scene(dice)
            made = sentence("", compose(scene), scene.drafts)
            if english_mini.SHORTEST <= len(made.words) <= english_mini.LONGEST:
                return (_spelled(made),)
        else:
            options, classes, _ = _TASKS[task]
            texts = options.draw(dice, dice.one(classes)).texts
            if all(text.count(" ") < options.longest for text in texts):
                return texts


@cache
def _kept_for_tests() -> frozenset[str]:
    """Sentences of dev and test data."""
    plain = (_spelled(s) for split, sentences in english_mini.corpus(_PLAIN) if split != "train" for s in sentences)
    examples = (e for options, _, _ in _TASKS for split, made in options.splits() if split != "train" for e in made)
    return frozenset((*plain, *(text for example in examples for text in example.texts)))


def _spelled(made: Sentence) -> str:
    return " ".join(map(unescape, made.words))
