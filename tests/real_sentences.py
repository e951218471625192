"""Sentences of the English Web Treebank, for tests that have it (MTLSPEC_DATA)."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from mtlspec.data.readers import conllu
from mtlspec.data.sentence import Sentence


def fifty(layer: str) -> list[Sentence]:
    """The first fifty training sentences of 5 to 30 words, with one layer of the CoNLL-U file."""
    path = Path(os.environ["MTLSPEC_DATA"]) / "ewt5" / "small" / "ewt5-small.train.conllu"
    read = conllu.Options(type="conllu").read(path)
    found = itertools.islice((sentence for sentence in read if 5 <= len(sentence.words) <= 30), 50)
    return [Sentence(sentence.id, sentence.words, {layer: sentence.layers[layer]}) for sentence in found]
