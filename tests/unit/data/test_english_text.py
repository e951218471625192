"""The text that small encoders of sentence tasks learn from: consistent, and without a sentence of any test data."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from mtlspec.data.escapes import unescape
from mtlspec.data.generators._quantified import Statement
from mtlspec.data.generators.english_text import Options
from mtlspec.data.sentence import Sentence
from mtlspec.io.project import Project
from mtlspec.spec.load import load_data_card
from tests.unit.data.test_sentence_tasks import TASKS, made, meaning, parsed, told_by_rules

ROOT = Path(__file__).parents[3]
Texts = dict[str, list[tuple[str, ...]]]


@pytest.fixture(scope="module")
def texts() -> Texts:
    return dict(Options(type="english_text").splits())


def test_the_card_has_the_digests_of_its_files(texts: Texts, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    card = load_data_card("english_text", Project(ROOT))
    asked = Options(type="english_text")
    assert card.generator == asked and card.licence == "CC0-1.0"
    monkeypatch.setattr(Options, "splits", lambda _: iter(texts.items()))
    asked.generate(tmp_path)
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in tmp_path.iterdir()}
    assert files == card.sha256
    first = (tmp_path / "train.tsv").read_text().splitlines()[:2]
    assert first == ["text\tsentences", f"{' '.join(texts['train'][0])}\t{len(texts['train'][0])}"]


def test_no_sentence_is_of_the_dev_and_test_data_of_a_task(texts: Texts, mini: dict[str, list[Sentence]]) -> None:
    seen = {sentence for text in texts["train"] for sentence in text}
    for task in TASKS:
        assert seen.isdisjoint(text for split in ("dev", "test") for e in made(task)[split] for text in e.texts)
    assert seen.isdisjoint(" ".join(map(unescape, s.words)) for split in ("dev", "test") for s in mini[split])
    assert seen.isdisjoint(sentence for split in ("dev", "test") for text in texts[split] for sentence in text)


def test_the_second_sentence_of_a_pair_goes_with_the_first(texts: Texts) -> None:
    pairs = [text for text in texts["train"] if len(text) == 2]
    assert 0.3 < len(pairs) / len(texts["train"]) < 0.5
    quantified = [pair for pair in pairs if pair[0].split()[0] in ("All", "Some", "No", "Not")]
    assert 0.2 < len(quantified) / len(pairs) < 0.5
    for pair in pairs:
        if pair in quantified:
            assert told_by_rules(*(Statement(*parsed(text)) for text in pair)) == "entailment", pair
        else:
            (*said, day), (*again, other_day) = map(meaning, pair)
            assert said == again and (day == other_day or "" in (day, other_day)), pair
