"""Small trained models of every task type, and what their evaluations predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mtlspec.data.choices import Choice
from mtlspec.data.prepare import write_prepared
from mtlspec.data.prepared import Prepared
from mtlspec.data.sentence import Sentence
from mtlspec.data.text_tokenizer import TextTokenizer
from mtlspec.data.tokenizer import WordTokenizer
from mtlspec.io.manifest import write_manifest
from mtlspec.model.multitask import load_model
from mtlspec.model.predict import predict
from mtlspec.spec.models import BatchLimits
from mtlspec.track.record import write_record
from tests import toy
from tests.finished_run import FinishedRun, make_run

WORDS: dict[str, dict[str, Any]] = {
    "pos": {"type": "tagging", "layer": "pos", "decoder": {"type": "linear"}},
    "f1": {"type": "tagging_f1", "layer": "pos", "decoder": {"type": "linear"}},
    "ner": {"type": "tagging", "layer": "ner", "decoder": {"type": "crf"}},
    "spans": {"type": "biaffine_ner", "layer": "ner", "size": 8, "nested": True},
    "dep": {"type": "biaffine_dep", "layer": "dep", "arc_size": 16, "rel_size": 8},
    "con": {"type": "crf_con", "layer": "con", "span_size": 16, "label_size": 8},
    "srl": {"type": "span_srl", "layer": "srl", "size": 8, "label_size": 8, "max_width": 6},
    "topic": {"type": "classification", "layer": "topic"},
    "size": {"type": "regression", "layer": "size", "pooling": "mean"},
    "odd": {"type": "multiple_choice", "layer": "odd", "pooling": "mean"},
}
TEXTS: dict[str, dict[str, Any]] = {
    "topic": {"type": "classification", "layer": "topic", "pooling": "cls", "hidden": 32},
    "size": {"type": "regression", "layer": "size", "pooling": "mean"},
}
PAIRS: dict[str, dict[str, Any]] = {**TEXTS, "choice": {"type": "multiple_choice", "layer": "choice"}}
QUESTIONS: dict[str, dict[str, Any]] = {
    "reply": {"type": "qa_span", "layer": "reply", "no_answer": True},
    "alike": {"type": "word_in_context", "layer": "alike"},
}
TEST = 23  # examples


@dataclass(frozen=True)
class Trained:
    """A trained model's artifact, its evaluation, its corpus, and the test examples."""

    train: Path
    evaluate: Path
    prepared: Path
    test: list[Sentence]

    def predictions(self) -> dict[str, list[Any]]:
        """What the evaluation stage predicts, task by task."""
        model = load_model(self.train)
        return predict(model, Prepared.load(self.prepared).test, BatchLimits(sentences=32, tokens=3200))


def raw(sentences: Sequence[Sentence], pairs: bool = False) -> list[Sentence]:
    """The same sentences as texts; as pairs, every second one is the right one of two choices."""
    made = []
    for number, own in enumerate(sentences):
        layers = {name: own.layers[name] for name in ("topic", "size")}
        choice: dict[str, Any] = {"choice": Choice(f"question {number // 2}", "the cat", float(number % 2))}
        texts = (" ".join(own.words), *(["the cat"] if pairs else []))
        made.append(replace(own, words=(), texts=texts, layers={**layers, **(choice if pairs else {})}))
    return made


def _trained(root: Path, encoder: Path, splits: dict[str, list[Sentence]], tasks: dict[str, dict[str, Any]]) -> Trained:
    prepared = root / "prepared"
    prepared.mkdir()
    write_prepared(splits, WordTokenizer.load(encoder), prepared, None, partial(TextTokenizer.load, encoder))
    params = {**toy.train_params(epochs=1, batch={"sentences": 20, "tokens": 1000}), "tasks": tasks}
    toy.run_train(root / "train", encoder, prepared, params)
    toy.run_evaluate(root / "evaluate", root / "train/out", prepared)
    write_manifest(root / "train/out")
    return Trained(root / "train/out", root / "evaluate/out/predictions", prepared, splits["test"])


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """A finished run with its record and its report; who changes it copies it before."""
    run = make_run(tmp_path_factory.mktemp("project"), seeds=(1, 2))
    write_record(run.plan, run.places, run.project.lock_file)
    return run


@pytest.fixture(scope="session")
def words(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> Trained:
    """Every task type, on sentences of words."""
    splits = {"train": toy.corpus(1, 40), "dev": toy.corpus(2, 10), "test": toy.corpus(3, TEST)}
    return _trained(tmp_path_factory.mktemp("words"), toy_encoder, splits, WORDS)


@pytest.fixture(scope="session")
def texts(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> Trained:
    """Tasks about raw texts."""
    splits = {"train": raw(toy.corpus(1, 40)), "dev": raw(toy.corpus(2, 10)), "test": raw(toy.corpus(3, TEST))}
    return _trained(tmp_path_factory.mktemp("texts"), toy_encoder, splits, TEXTS)


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> Trained:
    """The same tasks, and multiple choice, about pairs of texts."""
    splits = {"train": toy.corpus(1, 40), "dev": toy.corpus(2, 10), "test": toy.corpus(3, TEST)}
    paired = {split: raw(sentences, pairs=True) for split, sentences in splits.items()}
    return _trained(tmp_path_factory.mktemp("pairs"), toy_encoder, paired, PAIRS)


@pytest.fixture(scope="session")
def questions(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> Trained:
    """Tasks that point into the second text of a pair."""
    splits = {"train": toy.questions(1, 40), "dev": toy.questions(2, 10), "test": toy.questions(3, TEST)}
    return _trained(tmp_path_factory.mktemp("questions"), toy_encoder, splits, QUESTIONS)
