"""A toy language: sentences with annotation of every kind, in which there is something to learn."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from mtlspec.data.choices import Choice
from mtlspec.data.sentence import ConTree, DepTree, Frame, Sentence

NOUNS = ["cat", "dog", "tree", "house", "river", "report", "market", "engine"]
VERBS = ["sees", "likes", "builds", "sells", "finds", "report", "market"]  # two words are nouns or verbs
ADJECTIVES = ["old", "red", "small", "quiet", "bright"]
PEOPLE = ["anna", "boris", "chen", "dana"]
FIRMS = ["acme", "globex", "initech", "umbra"]
SUFFIXES = ["##s", "##son", "##corp"]  # names may have several pieces

Words = tuple[int, int]  # from the first to behind the last


@dataclass
class _Clause:
    """A sentence that grows from left to right; heads are numbers from 1 on, as in CoNLL-U."""

    rng: random.Random
    words: list[str] = field(default_factory=list)
    pos: list[str] = field(default_factory=list)
    ner: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    rels: list[str] = field(default_factory=list)

    def add(self, word: str, tag: str, entity: str = "O") -> None:
        self.words.append(word)
        self.pos.append(tag)
        self.ner.append(entity)

    def phrase(self) -> Words:
        start, kind = len(self.words), self.rng.random()
        if kind < 0.5:
            self.add(self.rng.choice(["the", "a"]), "DET")
            for _ in range(self.rng.randrange(3)):
                self.add(self.rng.choice(ADJECTIVES), "ADJ")
            self.add(self.rng.choice(NOUNS), "NOUN")
        elif kind < 0.75:
            self._name(PEOPLE, "son", "PER")
        else:
            self._name(FIRMS, "corp", "ORG")
        return start, len(self.words)

    def _name(self, names: list[str], ending: str, entity: str) -> None:
        self.add(self.rng.choice(names), "NAME", f"B-{entity}")
        if self.rng.random() < 0.5:
            self.add(self.rng.choice(names) + ending, "NAME", f"I-{entity}")

    def depend(self, phrase: Words, head: int, rel: str) -> None:
        """The last word of a phrase is its head."""
        start, end = phrase
        self.heads += [end] * (end - start - 1) + [head]
        self.rels += ["mod"] * (end - start - 1) + [rel]

    def root(self) -> None:
        self.heads.append(0)
        self.rels.append("root")

    def prepositional_phrase(self, verb: int) -> tuple[Words, Words]:
        """`with` and a phrase: where both are, and where the phrase is."""
        at = len(self.words)
        self.add("with", "ADP")
        inner = self.phrase()
        self.heads.append(inner[1])
        self.rels.append("case")
        self.depend(inner, verb + 1, "obl")
        return (at, inner[1]), inner


def sentence(rng: random.Random, number: int) -> Sentence:
    """Noun phrase, verb, noun phrase, `with` phrases.

    Layers `pos` (plain), `ner` (BIO), `dep`, `con`, `srl`, `topic` (are there names?), `size` (words)
    and `odd` (two sentences are choices of a question; those with names are right).
    """
    clause = _Clause(rng)
    subject = clause.phrase()
    verb = len(clause.words)
    clause.add(rng.choice(VERBS), "VERB")
    object_ = clause.phrase()
    clause.depend(subject, verb + 1, "nsubj")
    clause.root()
    clause.depend(object_, verb + 1, "obj")
    with_phrases = [clause.prepositional_phrase(verb) for _ in range(rng.randrange(3))]
    layers = _layers(clause, subject, verb, object_, with_phrases)
    layers["odd"] = Choice(f"q{number // 2}", clause.words[0], float("NAME" in clause.pos))
    return Sentence(f"s{number}", tuple(clause.words), layers, ("toy", number + 1))


def _layers(
    clause: _Clause, subject: Words, verb: int, object_: Words, with_phrases: list[tuple[Words, Words]]
) -> dict[str, Any]:
    size, pos = len(clause.words), tuple(clause.pos)
    spans = [(0, size, "TOP"), (0, size, "S"), (*subject, "NP"), (verb, size, "VP"), (*object_, "NP")]
    roles = [(*subject, "ARG0"), (verb, verb + 1, "V"), (*object_, "ARG1")]
    for whole, inner in with_phrases:
        spans += [(*whole, "PP"), (*inner, "NP")]
        roles.append((*whole, "ARGM-MNR"))
    return {
        "pos": pos,
        "ner": tuple(clause.ner),
        "dep": DepTree(tuple(clause.heads), tuple(clause.rels)),
        "con": ConTree(tuple(spans), pos),
        "srl": (Frame(verb, f"{clause.words[verb]}.01", tuple(roles)),),
        "topic": "names" if "NAME" in pos else "things",
        "size": float(size),
    }


def corpus(seed: int, size: int) -> list[Sentence]:
    rng = random.Random(seed)  # noqa: S311  # a toy, not a secret
    return [sentence(rng, number) for number in range(size)]
