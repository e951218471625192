"""A task of pairs made of a single-sentence task: do two sentences have the same label?

Every sentence of a split is used exactly twice, once as the first and once as the second of a pair, so that words are
as frequent as in the corpus. Half of the pairs have the same label, half have different ones, and no pair comes twice.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, PlainSerializer, PlainValidator, ValidationError, WithJsonSchema

from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError, Place
from mtlspec.spec.card_families import GeneratorOptions

if TYPE_CHECKING:
    from mtlspec.spec.cards import DataCard
else:
    DataCard = str | dict[str, Any]  # cards know all generators: this file is read before there are cards

SAME, DIFFERENT = "same", "different"


def _card(said: object) -> DataCard:
    """A name stands for a card of the project; parameters of stages have the whole card."""
    from mtlspec.io.project import Project
    from mtlspec.spec.cards import DataCard
    from mtlspec.spec.load import load_data_card

    if isinstance(said, str):
        return load_data_card(said, Project.find())
    try:
        return DataCard.model_validate(said)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"`{'.'.join(map(str, first['loc'])) or 'of'}` of the card: {first['msg']}") from None


def _whole(card: DataCard) -> dict[str, Any]:
    return card.model_dump(mode="json")


Corpus = Annotated[
    DataCard, PlainValidator(_card), PlainSerializer(_whole), WithJsonSchema({"type": ["string", "object"]})
]


class Options(GeneratorOptions):
    type: Literal["pair_of"]
    of: Corpus = Field(description="The corpus of single sentences: the name of its card, or a card.")
    layer: str = Field(description="Its layer of labels; sentences without one are left out.")
    seed: int = Field(default=7, description="Another seed, other pairs of the same sentences.")

    def generate(self, out: Path) -> None:
        """Write `<split>.jsonl` for train, dev and test: `sentence1`, `sentence2` and `label`."""
        from mtlspec.data.card_folder import card_folder
        from mtlspec.data.corpus import read_split
        from mtlspec.data.pins import check_pins
        from mtlspec.io.project import Project
        from mtlspec.io.write import write_text
        from mtlspec.spec.cards import SPLITS

        if self.of.layer_kinds.get(self.layer) != "label":
            known = ", ".join(name for name, kind in self.of.layer_kinds.items() if kind == "label") or "none"
            message = f"'{self.of.name}' has no layer '{self.layer}' of labels of whole sentences"
            raise DataError("E960", message, hint=f"`layer` of `pair_of` is one of: {known}")
        project = Project.find()
        with card_folder(self.of, project) as root:
            if self.of.sha256:
                check_pins(self.of, root, project.data_cards / f"{self.of.name}.yaml")
            made = {split: self._lines(split, list(read_split(self.of, root, split))) for split in SPLITS}
        for split, lines in made.items():
            write_text(out / f"{split}.jsonl", lines)

    def _lines(self, split: str, sentences: list[Sentence]) -> str:
        from mtlspec.data.generators._pairing import paired

        labelled = [(s, str(s.layers[self.layer])) for s in sentences if self.layer in s.layers]
        labels = [label for _, label in labelled]
        pairs = paired(labels, f"{self.seed}/{split}")
        if pairs is None:
            message = (
                f"the {split} sentences of '{self.of.name}' cannot be paired, each twice and half of them the same"
            )
            hint = "no label may have more than three quarters of the sentences, and few sentences may have no pairs"
            raise DataError("E961", message, Place(self.of.name), hint)
        texts = [" ".join(sentence.texts or sentence.words) for sentence, _ in labelled]
        rows = [
            {"sentence1": texts[a], "sentence2": texts[b], "label": SAME if labels[a] == labels[b] else DIFFERENT}
            for a, b in pairs
        ]
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
