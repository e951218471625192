"""One of eleven tagging tasks on the small English: as many cards, each with a sample of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from mtlspec.spec.card_families import GeneratorOptions

TaggingTask = Literal["upos", "xpos", "chunk", "ner", "mwe", "sem", "semtr", "supsense", "com", "frame", "hyp"]
Size = Annotated[int, Field(ge=1)]


class Options(GeneratorOptions):
    type: Literal["english_tags"]
    task: TaggingTask = Field(
        default="upos",
        description="What the words are tagged with. `xpos` gives `upos` away and most of `chunk`, `sem` gives `semtr`"
        " away, names are `mwe`; of `hyp` no task has any use.",
    )
    seed: int = Field(default=7, description="Another seed, another sample of the same language.")
    train: Size = Field(default=600, description="Training sentences.")
    dev: Size = Field(default=150, description="Development sentences.")
    test: Size = Field(default=150, description="Test sentences.")

    def generate(self, out: Path) -> None:
        """Write `<split>.conll` for every split: a word and its tag a line."""
        from mtlspec.data.escapes import unescape
        from mtlspec.data.generators._tagged import TAGGED
        from mtlspec.data.generators.english_mini import Options as English
        from mtlspec.data.generators.english_mini import corpus
        from mtlspec.io.write import write_text

        language = English(type="english_mini", seed=self.seed, train=self.train, dev=self.dev, test=self.test)
        for split, sentences in corpus(language):
            blocks = []
            for sentence in sentences:
                tagged = zip(map(unescape, sentence.words), TAGGED[self.task](sentence), strict=True)
                blocks.append("".join(f"{word}\t{tag}\n" for word, tag in tagged))
            write_text(out / f"{split}.conll", "\n".join(blocks))
