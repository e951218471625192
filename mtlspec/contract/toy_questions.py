"""Pairs of raw texts in the toy language: questions about sentences, for tasks that point into a text."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from mtlspec.contract.toy_language import VERBS, corpus
from mtlspec.data.answers import Answered
from mtlspec.data.layer import TextSpan
from mtlspec.data.marks import Marked
from mtlspec.data.sentence import Frame, Sentence

LAYERS = ("reply", "alike")


def questions(seed: int, size: int) -> list[Sentence]:
    """Layer `reply`: `sees a` asks for what stands behind the verb, `a sees` for what stands before it; every fourth
    names another verb, and nothing answers it. `alike`: are the phrases on both sides both names, or both things?"""
    return [_question(sentence, number) for number, sentence in enumerate(corpus(seed, size))]


def _question(sentence: Sentence, number: int) -> Sentence:
    frames, pos = sentence.layers["srl"], sentence.layers["pos"]
    assert isinstance(frames, tuple) and isinstance(frames[0], Frame) and isinstance(pos, tuple)
    (first, end, _), _, (second, behind, _), *_ = frames[0].roles
    text = " ".join(sentence.words)
    at = [0, *accumulate(len(word) + 1 for word in sentence.words)]  # where words start
    before, after = (at[first], at[end] - 1), (at[second], at[behind] - 1)
    right: tuple[tuple[int, int], ...]
    verb = sentence.words[frames[0].predicate]
    asked, right = (f"{verb} a", (after,)) if number % 2 else (f"a {verb}", (before,))
    if number % 4 == 0:
        asked, right = f"a {next(other for other in VERBS if other not in sentence.words)}", ()
    same = (pos[first] == "NAME") == (pos[second] == "NAME")
    marked = Marked((TextSpan(1, *before), TextSpan(1, *after)), "alike" if same else "different")
    reply = Answered(tuple(text[start:stop] for start, stop in right), right)
    layers: dict[str, Any] = {"reply": reply, "alike": marked}
    return Sentence(f"q{number}", (), layers, ("toy", number + 1), texts=(asked, text))
