"""The formats of the readers, in the other direction: sentences to text, for generators and for round trips."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mtlspec.data.readers import _bits
from mtlspec.data.samples import bracketed
from mtlspec.data.sentence import ConTree, DepTree, Frame, Sentence


def conllu(sentences: Iterable[Sentence]) -> str:
    """Layers lemma, upos, xpos and dep; those that a sentence does not have become `_`."""
    return "".join(_conllu_sentence(sentence) for sentence in sentences)


def brackets(sentences: Iterable[Sentence]) -> str:
    """Layer con, one tree a line."""
    return "".join(_bracketed(sentence) + "\n" for sentence in sentences)


def conll2012(sentences: Iterable[Sentence], document: str) -> str:
    """Layers pos, con, ner (IOB2) and srl, as one document."""
    lines = [f"#begin document ({document}); part 000\n"]
    lines.extend(_conll2012_sentence(sentence, document) for sentence in sentences)
    return "".join([*lines, "#end document\n"])


def columns(sentences: Iterable[Sentence], layers: Sequence[str], separator: str = "\t") -> str:
    """A word and its tags a line."""
    blocks = []
    for sentence in sentences:
        rows = zip(sentence.words, *(_tags(sentence, layer) for layer in layers), strict=True)
        blocks.append("".join(separator.join(row) + "\n" for row in rows) + "\n")
    return "".join(blocks)


def _conllu_sentence(sentence: Sentence) -> str:
    comments = sentence.comments or (f"# sent_id = {sentence.id}", f"# text = {' '.join(sentence.words)}")
    blank = ("_",) * len(sentence.words)
    lemmas, upos, xpos = (_tags(sentence, n) if n in sentence.layers else blank for n in ("lemma", "upos", "xpos"))
    tree = sentence.layers.get("dep")
    heads: Sequence[object] = blank
    rels: Sequence[str] = blank
    if isinstance(tree, DepTree):
        heads, rels = tree.heads, tree.rels
    rows = zip(sentence.words, lemmas, upos, xpos, blank, heads, rels, blank, blank, strict=True)
    lines = ["\t".join(map(str, (number, *row))) for number, row in enumerate(rows, 1)]
    return "\n".join([*comments, *lines]) + "\n\n"


def _bracketed(sentence: Sentence) -> str:
    tree = sentence.layers["con"]
    assert isinstance(tree, ConTree)
    return bracketed(sentence.words, tree)


def _conll2012_sentence(sentence: Sentence, document: str) -> str:
    size = len(sentence.words)
    tree, frames = sentence.layers["con"], sentence.layers["srl"]
    assert isinstance(tree, ConTree) and isinstance(frames, tuple)
    lemmas, senses = ["-"] * size, ["-"] * size
    roles: list[list[str]] = []
    for frame in frames:
        assert isinstance(frame, Frame)
        lemmas[frame.predicate], _, senses[frame.predicate] = frame.sense.rpartition(".")
        roles.append(_bits.bits(frame.roles, size))
    blank = ["-"] * size
    table = [
        [document] * size,
        ["0"] * size,
        list(map(str, range(size))),
        sentence.words,
        _tags(sentence, "pos"),
        _bits.bits(tree.spans, size),
        lemmas,
        senses,
        blank,
        blank,
        _bits.bits(_iob2_spans(_tags(sentence, "ner")), size),
        *roles,
        blank,
    ]
    return "".join("\t".join(row) + "\n" for row in zip(*table, strict=True)) + "\n"


def _iob2_spans(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    spans: list[tuple[int, int, str]] = []
    for at, tag in enumerate(tags):
        if tag.startswith("B-"):
            spans.append((at, at + 1, tag[2:]))
        elif tag != "O":
            spans[-1] = (spans[-1][0], at + 1, spans[-1][2])
    return spans


def _tags(sentence: Sentence, layer: str) -> tuple[str, ...]:
    value = sentence.layers[layer]
    assert isinstance(value, tuple)
    return tuple(str(tag) for tag in value)
