"""The formats of the readers, in the other direction: sentences to text, for generators and for round trips."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mtlspec.data import bracket_columns
from mtlspec.data.layers.con import bracketed
from mtlspec.data.readers.conll2012 import document_of
from mtlspec.data.sentence import ConTree, DepTree, Frame, Layer, Sentence


def conllu(sentences: Iterable[Sentence]) -> str:
    """Layers lemma, upos, xpos, feats, dep, deps and misc; those that a sentence does not have become `_`.

    Comments, multi-word tokens and empty nodes that it was read with are written back.
    """
    return "".join(_conllu_sentence(sentence) for sentence in sentences)


def brackets(sentences: Iterable[Sentence]) -> str:
    """Layer con, one tree a line."""
    return "".join(_bracketed(sentence) + "\n" for sentence in sentences)


def conll2012(sentences: Iterable[Sentence], document: str) -> str:
    """Layers pos, con, ner (IOB2) and srl; one that a sentence does not have is `-` in every line.

    Sentences that were read from documents go back into them; others are of the document that is named.
    """
    lines: list[str] = []
    name: list[str] = []
    for sentence in sentences:
        begun = [comment for comment in sentence.comments if comment.startswith("#begin document")]
        if begun or not name:
            lines += ["#end document\n"] if name else []
            begun = begun or [f"#begin document ({document}); part 000"]
            lines.append(begun[-1] + "\n")
            name = document_of(begun[-1]) or [document, "0"]
        lines.append(_conll2012_sentence(sentence, name))
    return "".join([*lines, "#end document\n"] if name else lines)


def columns(sentences: Iterable[Sentence], layers: Sequence[str], separator: str = "\t") -> str:
    """A word and its tags a line, `_` for a tag that is not there; before them CoNLL-2003's document lines."""
    blocks = []
    for sentence in sentences:
        blocks += [f"{comment}\n\n" for comment in sentence.comments if comment.startswith("-DOCSTART-")]
        words = _unbroken(sentence.words) if separator == " " else sentence.words
        rows = zip(words, *(_tags_or_blank(sentence, layer, "_") for layer in layers), strict=True)
        blocks.append("".join(separator.join(row) + "\n" for row in rows) + "\n")
    return "".join(blocks)


def _conllu_sentence(sentence: Sentence) -> str:
    own = [comment for comment in sentence.comments if comment.startswith("#")]
    comments = own or [f"# sent_id = {sentence.id}", f"# text = {' '.join(sentence.words)}"]
    size = len(sentence.words)
    lemmas, upos, xpos, feats, deps, misc = (
        _tags_or_blank(sentence, name, "_") for name in ("lemma", "upos", "xpos", "feats", "deps", "misc")
    )
    tree = sentence.layers.get("dep")
    heads: Sequence[object] = ("_",) * size
    rels: Sequence[str] = ("_",) * size
    if isinstance(tree, DepTree):
        heads, rels = tree.heads, tree.rels
    rows = zip(range(1, size + 1), sentence.words, lemmas, upos, xpos, feats, heads, rels, deps, misc, strict=True)
    lines = ["\t".join(map(str, row)) for row in rows]
    for before, line in reversed(sentence.between):
        lines.insert(before, line)
    return "\n".join([*comments, *lines]) + "\n\n"


def _bracketed(sentence: Sentence) -> str:
    tree = sentence.layers["con"]
    assert isinstance(tree, ConTree)
    return bracketed(sentence.words, tree)


def _conll2012_sentence(sentence: Sentence, document: Sequence[str]) -> str:
    size = len(sentence.words)
    blank = ("-",) * size
    tree, frames = sentence.layers.get("con"), sentence.layers.get("srl", ())
    pos, parse, entities = _tags_or_blank(sentence, "pos", "-"), blank, blank
    if isinstance(tree, ConTree):
        pos, parse = tree.pos if "pos" not in sentence.layers else pos, tuple(bracket_columns.bits(tree.spans, size))
    if "ner" in sentence.layers:
        entities = tuple(bracket_columns.bits(_iob2_spans(_tags_or_blank(sentence, "ner", "O")), size))
    lemmas, senses = list(blank), list(blank)
    roles: list[list[str]] = []
    for frame in sorted((f for f in _items(frames) if isinstance(f, Frame)), key=lambda f: f.predicate):
        lemma, _, sense = frame.sense.rpartition(".")
        lemmas[frame.predicate], senses[frame.predicate] = lemma or "-", sense or _NO_SENSE
        roles.append(bracket_columns.bits(_with_verb(frame), size))
    table = [
        [document[0]] * size,
        [document[1]] * size,
        list(map(str, range(size))),
        _unbroken(sentence.words),
        pos,
        parse,
        lemmas,
        senses,
        blank,
        blank,
        entities,
        *roles,
        blank,
    ]
    return "".join("\t".join(row) + "\n" for row in zip(*table, strict=True)) + "\n"


_NO_SENSE = "XX"  # the format knows a predicate by its frameset: one without a sense needs a stand-in


def _with_verb(frame: Frame) -> list[tuple[int, int, str]]:
    """The roles in order; the format wants the predicate among them."""
    own = (frame.predicate, frame.predicate + 1, "V")
    marked = any(start <= frame.predicate < end and role in ("V", "C-V") for start, end, role in frame.roles)
    return sorted(frame.roles if marked else (*frame.roles, own), key=lambda role: (role[0], -role[1]))


def _iob2_spans(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """Spans of tags; one that continues nothing starts a span, as predictions may."""
    spans: list[tuple[int, int, str]] = []
    for at, tag in enumerate(tags):
        prefix, _, label = tag.partition("-")
        if prefix == "I" and spans and spans[-1][1:] == (at, label):
            spans[-1] = (spans[-1][0], at + 1, label)
        elif prefix != "O":
            spans.append((at, at + 1, label))
    return spans


def _unbroken(words: Sequence[str]) -> list[str]:
    """Formats whose columns blanks separate have no other way to write a blank in a word than a no-break space."""
    return [word.replace(" ", "\u00a0") for word in words]


def _tags_or_blank(sentence: Sentence, layer: str, blank: str) -> tuple[str, ...]:
    """The tags of a layer; `blank` for words that have none."""
    if layer not in sentence.layers:
        return (blank,) * len(sentence.words)
    return tuple(blank if tag is None else str(tag) for tag in _items(sentence.layers[layer]))


def _items(layer: Layer) -> tuple[str | None, ...] | tuple[Frame, ...]:
    assert isinstance(layer, tuple)
    return layer
