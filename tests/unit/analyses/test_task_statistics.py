"""Statistics of tasks, against what a count by hand gives."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from mtlspec.analyses._task_statistics import entropy
from mtlspec.analyses.task_statistics import Options
from mtlspec.data.sentence import Sentence
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob
from tests import toy
from tests.model_rows import model_row


def _sentence(name: str, words: str, tags: str | None) -> Sentence:
    layers = {} if tags is None else {"pos": tuple(tags.split())}
    return Sentence(name, tuple(words.split()), layers, ("by hand", 1))


def test_counts_are_of_labelled_sentences_and_of_words_whatever_their_case(tmp_path: Path, toy_encoder: Path) -> None:
    noun = toy.NOUNS[0]
    splits = {
        "train": [
            _sentence("a", f"{noun.upper()} {noun}", "N N"),
            _sentence("b", noun, None),
            _sentence("c", "x", "X"),
        ],
        "dev": [_sentence("d", f"{noun} y", "N N")],
        "test": [_sentence("e", noun, "N")],
    }
    prepared = toy.write_prepared(tmp_path / "prepared", toy_encoder, splits)
    row, train = model_row("stl", ["pos"]), tmp_path / "train"
    train.mkdir()
    about = {"tasks": [{"name": "pos", "options": {"layer": "pos", "data": "own"}}]}
    (train / "model.json").write_text(json.dumps(about))
    out = tmp_path / "out"
    out.mkdir()
    job = AnalysisJob((row,), {row.train: train, "prepare-own": prepared}, out)
    assert Options(type="task_statistics").run(job) == {"tasks": 1}
    (told,) = Findings.read(out).numbers["tasks"]
    assert told["train"] == {"sentences": 2, "tokens": 3, "types": 2}
    assert told["all"] == {"sentences": 4, "tokens": 6, "types": 3}
    assert told["labels"] == 2
    assert told["entropy"] == pytest.approx(-(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3)))


def test_entropy_is_in_nats() -> None:
    assert entropy([5] * 17) == pytest.approx(math.log(17))
    assert entropy([7, 0]) == 0
