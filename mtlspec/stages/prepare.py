"""Stage `prepare`: read, check and tokenise the data once for an encoder."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from mtlspec.data.corpus import read_split
from mtlspec.data.defects import own_folder
from mtlspec.data.prepare import write_prepared
from mtlspec.data.sentence import Sentence
from mtlspec.data.statistics import Statistics
from mtlspec.data.text_tokenizer import TextTokenizer
from mtlspec.data.tokenizer import WordTokenizer
from mtlspec.errors import DataError
from mtlspec.io.project import Project
from mtlspec.io.write import write_json
from mtlspec.spec.cards import DataCard
from mtlspec.stages.context import StageContext, StageResult


def run(ctx: StageContext) -> StageResult:
    """Parameters: `card`, `max_pieces`, `long_text`. Inputs: `data` (files of the card), `encoder` (its tokenizer)."""
    card = DataCard.model_validate(ctx.params["card"])
    statistics = Statistics(card.layer_kinds)
    dropped: dict[str, list[DataError]] = {split: [] for split in card.splits}
    shown = own_folder(card, Project(ctx.project_root))

    def stream(number: int, split: str) -> Iterator[Sentence]:
        ctx.progress(number, len(dropped), f"preparing {split}")
        yield from statistics.watch(split, read_split(card, ctx.inputs["data"], split, dropped[split], shown))

    splits = {split: stream(number, split) for number, split in enumerate(card.splits)}
    tokenizer = WordTokenizer.load(ctx.inputs["encoder"])
    layout = card.files[0].reader.layout
    sizes, texts = write_prepared(splits, tokenizer, ctx.out, card.layer_kinds, partial(_text_tokenizer, ctx), layout)
    write_json(
        ctx.out / "dropped.json", {split: [_line(defect) for defect in found] for split, found in dropped.items()}
    )
    counts = {split: len(found) for split, found in dropped.items()}
    facts: dict[str, Any] = {"sentences": sizes, "dropped sentences": counts}
    write_json(ctx.out / "statistics.json", statistics.result(tokenizer, dropped, texts))
    return StageResult(facts=facts)


def _text_tokenizer(ctx: StageContext) -> TextTokenizer:
    return TextTokenizer.load(ctx.inputs["encoder"], ctx.params["max_pieces"], ctx.params["long_text"])


def _line(defect: DataError) -> str:
    """A defect without the folder it was found in: artifacts hold no paths of a machine."""
    place = defect.place
    where = f"{Path(place.file).name}:{place.line}: " if place else ""
    return f"{where}{defect.code}: {defect.message}"
