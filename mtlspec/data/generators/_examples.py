"""What the corpora of sentence tasks have in common: sizes, splits that share no sentence, and tables like GLUE's."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from mtlspec.data.escapes import unescape
from mtlspec.data.generators._dice import Dice
from mtlspec.data.generators._tree import Node, phrase, sentence, word
from mtlspec.errors import DataError
from mtlspec.spec.card_families import GeneratorOptions

Size = Annotated[int, Field(ge=1)]
_TRIES = 5000  # for one example; a grammar that finds none has said what it can say


class Example(NamedTuple):
    """One sentence or two, and the label or number that their making gives them."""

    texts: tuple[str, ...]
    gold: str


class ExampleOptions(GeneratorOptions):
    """A corpus of examples that are drawn class by class, in turn, so that every class has as many."""

    header: ClassVar[tuple[str, ...]]  # columns of the tables: the texts, then what is to be learnt
    classes: ClassVar[tuple[str, ...]]  # what is drawn in turn
    longest: ClassVar[int] = 16  # words of a sentence
    seed: int = Field(default=7, description="Another seed, another corpus of the same task.")
    train: Size = Field(default=3000, description="Training examples.")
    dev: Size = Field(default=500, description="Development examples.")
    test: Size = Field(default=500, description="Test examples.")

    @abstractmethod
    def draw(self, dice: Dice, wanted: str) -> Example:
        """An example of a class."""

    def generate(self, out: Path) -> None:
        """Write `<split>.tsv` for every split."""
        from mtlspec.io.write import write_text

        made = {split: self.table(examples) for split, examples in self.splits()}
        for split, table in made.items():
            write_text(out / f"{split}.tsv", table)

    def table(self, examples: Sequence[Example]) -> str:
        rows = [self.header, *((*example.texts, example.gold) for example in examples)]
        return "".join("\t".join(row) + "\n" for row in rows)

    def splits(self) -> Iterator[tuple[str, list[Example]]]:
        """The splits; no sentence of an earlier one occurs in a later one, and no example twice."""
        earlier: set[str] = set()
        for split, size in (("train", self.train), ("dev", self.dev), ("test", self.test)):
            dice = Dice(self.seed, split)
            made: dict[tuple[str, ...], Example] = {}
            while len(made) < size:
                example = self._new(dice, self.classes[len(made) % len(self.classes)], made, earlier)
                if example is None:
                    message = f"this grammar has no {size} {split} examples that are all new, only {len(made)}"
                    raise DataError("E962", message, hint="ask for fewer in the card's `generator`")
                made[example.texts] = example
            earlier.update(text for texts in made for text in texts)
            yield split, list(made.values())

    def _new(self, dice: Dice, wanted: str, made: dict[tuple[str, ...], Example], earlier: set[str]) -> Example | None:
        for _ in range(_TRIES):
            example = self.draw(dice, wanted)
            short = all(text.count(" ") < self.longest for text in example.texts)
            if short and example.texts not in made and earlier.isdisjoint(example.texts):
                return example
        return None


def spelled(body: Node) -> str:
    """A clause as a sentence, with blanks between its words, as english_mini has them."""
    whole = phrase("TOP", body, word(".", ".", "punct"))
    return " ".join(map(unescape, sentence("", whole, []).words))
