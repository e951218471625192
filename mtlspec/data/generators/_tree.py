"""One tree that carries all layers: phrases, tags, entities, dependencies and frames are read off it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from mtlspec.data.sentence import ConTree, DepTree, Frame, Layer, Sentence

HEAD = "head"
_UPOS = {
    "NN": "NOUN", "NNS": "NOUN", "NNP": "PROPN", "NNPS": "PROPN", "JJ": "ADJ", "JJR": "ADJ", "JJS": "ADJ", "RB": "ADV",
    "RBR": "ADV", "DT": "DET", "PDT": "DET", "PRP": "PRON", "PRP$": "PRON", "CD": "NUM", "IN": "ADP", "RP": "ADP",
    "TO": "PART", "POS": "PART", "CC": "CCONJ", "MD": "AUX", "EX": "PRON", "WP": "PRON", "WDT": "PRON", "WRB": "ADV",
    "VB": "VERB", "VBP": "VERB", "VBZ": "VERB", "VBD": "VERB", "VBN": "VERB", "VBG": "VERB", "$": "SYM", "UH": "INTJ",
}  # fmt: skip


class Node:
    """A phrase with `kids`, or a word; `rel` is its relation to its parent's head (or HEAD), or to `gov` where set."""

    __slots__ = (
        "end",
        "entity",
        "first_person",
        "gov",
        "kids",
        "label",
        "lemma",
        "plural",
        "rel",
        "sort",
        "start",
        "upos",
        "word",
    )

    def __init__(self, label: str, kids: list[Node] | None = None, word: str = "", lemma: str = "") -> None:
        self.label, self.kids, self.word, self.lemma = label, kids or [], word, lemma
        self.rel = HEAD
        self.gov: Node | None = None
        self.upos = _UPOS.get(label, "PUNCT")
        self.entity = ""  # its whole span is a named entity of this type
        self.plural = self.first_person = False
        self.sort = ""  # class of noun
        self.start = self.end = 0

    def as_(self, rel: str) -> Node:
        self.rel = rel
        return self

    def is_(self, entity: str) -> Node:
        self.entity = entity
        return self

    @property
    def head(self) -> Node:
        """The word that heads this phrase."""
        node = self
        while node.kids:
            node = next(kid for kid in node.kids if kid.rel == HEAD)
        return node

    def nodes(self) -> Iterator[Node]:
        """All nodes, parents before children, left to right."""
        yield self
        for kid in self.kids:
            yield from kid.nodes()


def word(tag: str, text: str, rel: str = HEAD, lemma: str = "", upos: str = "") -> Node:
    node = Node(tag, word=text, lemma=lemma or (text if tag.startswith("NNP") else text.lower())).as_(rel)
    if upos:
        node.upos = upos
    return node


def phrase(label: str, *kids: Node) -> Node:
    """The number of a phrase is that of its head."""
    node = Node(label, list(kids))
    head = next(kid for kid in kids if kid.rel == HEAD)
    node.plural, node.first_person, node.sort = head.plural, head.first_person, head.sort
    return node


@dataclass
class Draft:
    """A predicate in the making: roles point to nodes, whose spans are known once the sentence is complete."""

    verb: Node
    sense: str
    subject_role: str
    roles: list[tuple[Node, str]] = field(default_factory=list)
    object_role: str = ""  # role of an object that was left out for a relative clause or a question
    sharing: list[Draft] = field(default_factory=list)  # predicates that have the same subject

    def add(self, node: Node, role: str) -> None:
        self.roles.append((node, role))

    def subject(self, node: Node, prefix: str = "") -> None:
        """`prefix` R- is for relative pronouns."""
        self.add(node, prefix + self.subject_role)
        for draft in self.sharing:
            draft.subject(node, prefix)


def sentence(name: str, top: Node, drafts: list[Draft]) -> Sentence:
    """Number the words, then read every layer off the tree."""
    nodes = list(top.nodes())
    leaves = [node for node in nodes if not node.kids]
    for at, leaf in enumerate(leaves):
        leaf.start, leaf.end = at, at + 1
    for node in reversed(nodes):
        if node.kids:
            node.start, node.end = node.kids[0].start, node.kids[-1].end
    _spell(leaves)
    xpos = tuple(leaf.label for leaf in leaves)
    layers: dict[str, Layer] = {
        "lemma": tuple(leaf.lemma for leaf in leaves),
        "upos": tuple(leaf.upos for leaf in leaves),
        "xpos": xpos,
        "pos": xpos,
        "dep": _dependencies(nodes, len(leaves)),
        "con": ConTree(tuple((n.start, n.end, n.label) for n in nodes if n.kids), xpos),
        "ner": _entities(nodes, len(leaves)),
        "srl": _frames(drafts),
    }
    return Sentence(name, tuple(leaf.word for leaf in leaves), layers)


def _spell(leaves: list[Node]) -> None:
    """`an` before a vowel, a capital at the beginning."""
    for leaf, following in pairwise(leaves):
        if leaf.word == "a" and following.word[0].lower() in "aeiou":
            leaf.word = "an"
    first = next((leaf for leaf in leaves if leaf.word[0].isalpha()), leaves[0])
    first.word = first.word[0].upper() + first.word[1:]


def _dependencies(nodes: list[Node], size: int) -> DepTree:
    heads, rels = [0] * size, ["root"] * size
    for node in nodes:
        if node.kids:
            governor = node.head
            for kid in node.kids:
                if kid.rel != HEAD:
                    above = kid.gov.head if kid.gov else governor
                    heads[kid.head.start], rels[kid.head.start] = above.end, kid.rel
    return DepTree(tuple(heads), tuple(rels))


def _entities(nodes: list[Node], size: int) -> tuple[str, ...]:
    tags = ["O"] * size
    for node in nodes:
        if node.entity:
            tags[node.start : node.end] = [f"B-{node.entity}", *[f"I-{node.entity}"] * (node.end - node.start - 1)]
    return tuple(tags)


def _frames(drafts: list[Draft]) -> tuple[Frame, ...]:
    frames = []
    for draft in sorted(drafts, key=lambda draft: draft.verb.start):
        roles = sorted((node.start, node.end, role) for node, role in [*draft.roles, (draft.verb, "V")])
        frames.append(Frame(draft.verb.start, draft.sense, tuple(roles)))
    return tuple(frames)
