"""A toy language: sentences with annotation of every kind, in which there is something to learn."""

from __future__ import annotations

import random
from typing import Any

from mtlspec.data.choices import Choice
from mtlspec.data.sentence import ConTree, DepTree, Frame, Sentence

NOUNS = ["cat", "dog", "tree", "house", "river", "report", "market", "engine"]
VERBS = ["sees", "likes", "builds", "sells", "finds", "report", "market"]  # two words are nouns or verbs
ADJECTIVES = ["old", "red", "small", "quiet", "bright"]
PEOPLE = ["anna", "boris", "chen", "dana"]
FIRMS = ["acme", "globex", "initech", "umbra"]
SUFFIXES = ["##s", "##son", "##corp"]  # names may have several pieces


def sentence(rng: random.Random, number: int) -> Sentence:
    """Noun phrase, verb, noun phrase, `with` phrases.

    Layers `pos` (plain), `ner` (BIO), `dep`, `con`, `srl`, `topic` (are there names?), `size` (words)
    and `odd` (two sentences are choices of a question; those with names are right).
    """
    words: list[str] = []
    pos: list[str] = []
    ner: list[str] = []
    heads: list[int] = []
    rels: list[str] = []

    def add(word: str, tag: str, entity: str = "O") -> None:
        words.append(word)
        pos.append(tag)
        ner.append(entity)

    def phrase() -> tuple[int, int]:
        start, kind = len(words), rng.random()
        if kind < 0.5:
            add(rng.choice(["the", "a"]), "DET")
            for _ in range(rng.randrange(3)):
                add(rng.choice(ADJECTIVES), "ADJ")
            add(rng.choice(NOUNS), "NOUN")
        elif kind < 0.75:
            add(rng.choice(PEOPLE), "NAME", "B-PER")
            if rng.random() < 0.5:
                add(rng.choice(PEOPLE) + "son", "NAME", "I-PER")
        else:
            add(rng.choice(FIRMS), "NAME", "B-ORG")
            if rng.random() < 0.5:
                add(rng.choice(FIRMS) + "corp", "NAME", "I-ORG")
        return start, len(words)

    def depend(start: int, end: int, head: int, rel: str) -> None:
        """The last word of a phrase is its head; `head` is 1-based."""
        heads.extend([end] * (end - start - 1) + [head])
        rels.extend(["mod"] * (end - start - 1) + [rel])

    subject = phrase()
    verb = len(words)
    add(rng.choice(VERBS), "VERB")
    object_ = phrase()
    depend(*subject, verb + 1, "nsubj")
    heads.append(0)
    rels.append("root")
    depend(*object_, verb + 1, "obj")
    spans = [(*subject, "NP"), (verb, 0, "VP"), (*object_, "NP")]
    roles = [(*subject, "ARG0"), (verb, verb + 1, "V"), (*object_, "ARG1")]
    for _ in range(rng.randrange(3)):
        at = len(words)
        add("with", "ADP")
        inner = phrase()
        heads.append(inner[1])
        rels.append("case")
        depend(*inner, verb + 1, "obl")
        spans += [(at, inner[1], "PP"), (*inner, "NP")]
        roles.append((at, inner[1], "ARGM-MNR"))
    size = len(words)
    closed = tuple((start, end or size, label) for start, end, label in spans)
    layers: dict[str, Any] = {
        "pos": tuple(pos),
        "ner": tuple(ner),
        "dep": DepTree(tuple(heads), tuple(rels)),
        "con": ConTree(((0, size, "TOP"), (0, size, "S"), *closed), tuple(pos)),
        "srl": (Frame(verb, f"{words[verb]}.01", tuple(roles)),),
        "topic": "names" if "NAME" in pos else "things",
        "size": float(size),
        "odd": Choice(f"q{number // 2}", words[0], float("NAME" in pos)),
    }
    return Sentence(f"s{number}", tuple(words), layers, ("toy", number + 1))


def corpus(seed: int, size: int) -> list[Sentence]:
    rng = random.Random(seed)  # noqa: S311  # a toy, not a secret
    return [sentence(rng, number) for number in range(size)]
