"""Eleven tagging tasks of the small English: what is related by construction, and what is not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from mtlspec.data.generators._tagged import TAGGED
from mtlspec.data.generators.english_mini import Options as English
from mtlspec.data.generators.english_mini import corpus
from mtlspec.data.sentence import Sentence
from mtlspec.data.span_tags import split_tag
from mtlspec.io.digest import digest_tree
from mtlspec.io.project import Project
from mtlspec.spec.load import load_data_card

ROOT = Path(__file__).parents[3]


@cache
def sentences() -> list[Sentence]:
    options = English(type="english_mini", seed=3, train=400, dev=1, test=1)
    return dict(corpus(options))["train"]


@cache
def tags(task: str) -> list[str]:
    return [tag for sentence in sentences() for tag in TAGGED[task](sentence)]


def known(source: Iterable[str], target: Iterable[str]) -> float:
    """How much of one tagging is told by another: words that the commonest answer gets right."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for a, b in zip(source, target, strict=True):
        found[a][b] += 1
    return sum(counts.most_common(1)[0][1] for counts in found.values()) / sum(c.total() for c in found.values())


@pytest.mark.parametrize("task", TAGGED)
def test_every_card_has_the_digests_of_its_files(task: str, tmp_path: Path) -> None:
    card = load_data_card(f"english_{task}", Project(ROOT))
    assert card.generator is not None
    card.generator.generate(tmp_path)
    assert digest_tree(tmp_path) == card.sha256


def test_fine_tags_give_coarse_ones_away() -> None:
    assert known(tags("sem"), tags("semtr")) == 1.0
    assert known(tags("xpos"), tags("upos")) > 0.93 > 0.9 > known(tags("upos"), tags("xpos"))
    assert known(tags("supsense"), tags("semtr")) > 0.99


def test_parts_of_speech_tell_most_of_chunks_and_names_most_expressions() -> None:
    assert known(tags("xpos"), tags("chunk")) > known(["O"] * len(tags("chunk")), tags("chunk")) + 0.3
    inside = [(a, b) for a, b in zip(tags("ner"), tags("mwe"), strict=True) if b == "I"]
    assert sum(name.startswith("I-") for name, _ in inside) > len(inside) / 2


def test_links_are_a_matter_of_words_and_of_nothing_else() -> None:
    nouns = [i for i, tag in enumerate(tags("upos")) if tag in ("NOUN", "PROPN")]
    links = [tags("hyp")[i] for i in nouns]
    for task in ("sem", "semtr", "ner", "mwe", "xpos", "supsense"):
        told = known([tags(task)[i] for i in nouns], links)
        assert told < known(["O"] * len(links), links) + 0.06, task
    words = [word for sentence in sentences() for word in sentence.layers["lemma"]]  # type: ignore[union-attr]
    assert known([str(words[i]).lower() for i in nouns], links) == 1.0


def test_chunks_are_well_formed_and_compressions_keep_negations() -> None:
    for sentence in sentences():
        before = "O"
        for tag in TAGGED["chunk"](sentence):
            prefix, opened = tag[0], before[0] in "BI"
            assert (prefix in "IE") == opened and (not opened or tag[2:] == before[2:])
            before = tag
        assert before[0] not in "BI"
        kept = TAGGED["com"](sentence)
        assert all(keep == "KEEP" for word, keep in zip(sentence.words, kept, strict=True) if word in ("not", "n't"))
    assert all(split_tag(tag) is not None for tag in set(tags("chunk")) - {"O"})
