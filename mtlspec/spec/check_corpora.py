"""Checks of corpora: each is another card, each is read, and everything that reads one knows which.

They read the raw tree; `Cards` are the corpora of a spec with their cards, None for a card with problems of its own.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import TypeAlias

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.spec.cards import DataCard, EncoderCard
from mtlspec.spec.check_layers import check_analysis_layers, check_task_layer, layers_named, reads_one_corpus
from mtlspec.spec.corpora import corpora_with, corpus_of_task, only
from mtlspec.spec.nodes import Node
from mtlspec.spec.words import either, shorten

Cards: TypeAlias = Mapping[str, DataCard | None]
Checked: TypeAlias = Generator[SpecError, None, str | None]
"""Problems, and then the corpus that is meant; None if that is not known."""


def check_corpora(node: Node, cards: Cards, encoder: EncoderCard | None) -> Iterator[SpecError]:
    """Every problem of a spec with its corpora; nothing if these are not known."""
    if not cards:
        return
    yield from _check_cards(node, cards)
    read: set[str | None] = set()
    for name, task in node.children("tasks").items():
        corpus = yield from _task_corpus(name, task, cards)
        yield from check_task_layer(task, cards[corpus]) if corpus is not None else ()
        read.add(corpus)
    for analysis in node.children("analyses").values():
        if reads_one_corpus(analysis):
            corpus = yield from _analysis_corpus(analysis, cards)
            read.add(corpus)
            if layers_named(analysis) is not None:
                yield from check_analysis_layers(analysis, cards[corpus] if corpus is not None else None)
    if encoder is not None:
        corpus = yield from _encoder_corpus(node, cards, encoder)
        read |= {corpus} if encoder.source.learns_from_data and not encoder.source.learns_from_all else set()
    for name in cards:
        if name not in read and None not in read:
            message = f"no task, no analysis and no encoder reads the corpus '{name}'"
            entry = node.near(("data", name))
            yield SpecError("E852", message, entry.key or entry.place, "leave it out, or name it in a task's `data`")


def _check_cards(node: Node, cards: Cards) -> Iterator[SpecError]:
    """Stages and folders are named after cards: a card has one name, and a name one card."""
    first: dict[str, tuple[str, DataCard]] = {}
    for name, card in cards.items():
        if card is None:
            continue
        other, known = first.setdefault(card.name, (name, card))
        place = node.near(("data", name)).place
        if other != name and known == card:
            hint = f"leave one out; tasks may say `data: {other}`"
            yield SpecError("E853", f"the corpora '{other}' and '{name}' are the same card", place, hint)
        elif other != name:
            message = f"the corpora '{other}' and '{name}' are different cards of one name, '{card.name}'"
            yield SpecError("E854", message, place, "give one of them a `name` of its own")


def _task_corpus(name: str, task: Node, cards: Cards) -> Checked:
    corpus = corpus_of_task(name, _said(task), cards)
    if corpus is None:
        message = f"which corpus does the task '{shorten(name)}' learn from? None has its name"
        yield SpecError("E851", message, task.key or task.place, _which(cards))
    elif corpus not in cards:
        yield _unknown(corpus, task, cards)
        return None
    return corpus


def _analysis_corpus(analysis: Node, cards: Cards) -> Checked:
    """The one that it names, the only one, or the only one with its layers; the first, if its type reads no layers."""
    said = _said(analysis)
    if said is not None and said not in cards:
        yield _unknown(said, analysis, cards)
        return None
    layers = layers_named(analysis)
    if said is not None or len(cards) == 1:
        return said or only(cards)
    if not layers:
        return next(iter(cards)) if layers is None else None
    known = {name: card for name, card in cards.items() if card is not None}
    having = corpora_with(layers, known)
    if len(having) != 1 and len(known) == len(cards):
        what = either([f"'{layer}'" for layer in layers]).replace(" or ", " and ")
        message = f"which corpus is meant? {f'{len(having)} have' if having else 'none has'} {what} of the right kind"
        yield SpecError("E856", message, analysis.place, _which(cards))
    return only(having)


def _encoder_corpus(node: Node, cards: Cards, encoder: EncoderCard) -> Checked:
    use = node.near(("encoder",))
    said = _said(use)
    if said is not None and said not in cards:
        yield _unknown(said, use, cards)
        return None
    if said is not None and not encoder.source.learns_from_data:
        message = f"the encoder '{encoder.name}' does not learn from data"
        yield SpecError("E857", message, use.near(("data",)).place, "leave `encoder.data` out")
    elif encoder.source.learns_from_data and not encoder.source.learns_from_all and said is None and len(cards) > 1:
        message = f"it is not said on which corpus the encoder '{encoder.name}' is pre-trained"
        yield SpecError("E858", message, use.place, f"write `encoder.data`: {either(list(cards))}")
    return said or only(cards)


def _said(reader: Node) -> str | None:
    said = reader.child("data")
    return said.value if said is not None and isinstance(said.value, str) else None


def _which(cards: Cards) -> str:
    return f"write `data`: {either(list(cards))}"


def _unknown(corpus: str, reader: Node, cards: Cards) -> SpecError:
    message = f"the spec has no corpus '{shorten(corpus)}'"
    return SpecError("E855", message, reader.near(("data",)).place, did_you_mean(corpus, cards))
