"""`mtlspec predict`: a model by its name in a run, its input and its output."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from mtlspec.cli.app import run as mtlspec
from mtlspec.cli.predict import complete_model
from mtlspec.io.write import write_json
from mtlspec.spec.cards import DataCard
from tests.terminal import in_terminal
from tests.unit.use.conftest import TEST, Trained

CARD = """\
card: data
name: toy
licence: CC0-1.0
source: made up
root: corpus
files:
- reader: {type: jsonl, text: [body], label: {topic: topic}, value: {size: size}}
  paths: {train: a.jsonl, dev: b.jsonl, test: new.jsonl}
  layers: {topic: topic, size: size}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: Trained) -> Path:
    """A project with one run, `study`, of one model, as stages leave them behind."""
    base = tmp_path / "registry/runs/study"
    (tmp_path / "specs").mkdir()
    (tmp_path / "corpus").mkdir()
    (tmp_path / "registry/data").mkdir(parents=True)
    (tmp_path / "registry/data/toy.yaml").write_text(CARD)
    rows = [{"body": s.texts[0], "topic": s.layers["topic"], "size": s.layers["size"]} for s in texts.test]
    (tmp_path / "corpus/new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    from mtlspec.io.project import Project
    from mtlspec.spec.load import load_data_card

    card: DataCard = load_data_card("toy", Project.find())
    run = {"threads": 1, "device": "cpu", "precision": "fp32"}
    limits = {"sentences": 32, "tokens": 3200}
    stages: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
        "prepare-toy-tiny": ("prepare", {"card": card.model_dump(mode="json"), "long_text": "longest_first"}, {}),
        "train-mtl-all-s1": ("train", {}, {"encoder": "x", "prepare-toy": "prepare-toy-tiny"}),
        "evaluate-mtl-all-s1": ("evaluate", {"batch": limits, "run": run}, {"train": "train-mtl-all-s1"}),
        "plan": ("plan", {}, {}),
    }
    for name, (kind, params, inputs) in stages.items():
        told = {"kind": kind, "params": params, "inputs": inputs, "unit": "u"}
        write_json(base / "stages" / f"{name}.json", told)
    shutil.copytree(texts.train, base / "artifacts/train-mtl-all-s1")
    return tmp_path


def test_a_model_by_its_name_in_a_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The spec says what happens to long texts, and its card that tasks read raw text, even if words are given."""
    del project
    Path("new.txt").write_text("the cat\n" + "cat " * 80 + "\n")
    assert mtlspec(["predict", "study/mtl-all-s1", "new.txt", "--input", "words"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["tasks"].keys() for one in found] == [{"topic", "size"}] * 2 and len(found[1]["words"]) == 80
    assert mtlspec(["predict", "study/mtl-al-s1", "new.txt"]) == 2
    assert "error E542: 'study' has no model 'mtl-al-s1'; did you mean 'mtl-all-s1'?" in capsys.readouterr().err
    assert mtlspec(["predict", "stduy/mtl-all-s1", "new.txt"]) == 2
    assert "error E541: no run is called 'stduy'; did you mean 'study'?" in capsys.readouterr().err
    shutil.rmtree("registry/runs/study/artifacts")
    assert mtlspec(["predict", "study/mtl-all-s1", "new.txt"]) == 5
    assert "error E543: the model 'study/mtl-all-s1' is not on this machine; `mtlspec run study`" in (
        capsys.readouterr().err
    )


def test_names_are_completed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert complete_model("st") == ["study/"]
    assert complete_model("study/m") == ["study/mtl-all-s1"]
    assert complete_model("other/m") == []
    monkeypatch.chdir(project.parent)
    assert complete_model("") == []


def test_a_corpus_of_a_card_gives_the_files_of_the_evaluation(
    project: Path, texts: Trained, capsys: pytest.CaptureFixture[str]
) -> None:
    """The card is of JSON lines, and so are its predictions."""
    del project
    assert mtlspec(["predict", "study/mtl-all-s1", "--card", "toy", "--files", "out", "-o", "all.jsonl"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "23 examples predicted: all.jsonl, out\n")
    rows = [json.loads(line) for line in Path("out/topic.jsonl").read_text().splitlines()]
    expected = [line.split("\t") for line in (texts.evaluate / "topic.tsv").read_text().splitlines()[1:]]
    assert [[str(row["index"]), row["text"], row["gold"], row["prediction"]] for row in rows] == [
        [number, text, gold, predicted] for number, _, text, gold, predicted in expected
    ]
    together = [json.loads(line) for line in Path("all.jsonl").read_text().splitlines()]
    assert [one["tasks"]["topic"] for one in together] == [row["prediction"] for row in rows]
    assert mtlspec(["predict", "study/mtl-all-s1", "--card", "toy", "--split", "tset"]) == 2
    assert "--split: error E545: the corpus 'toy' has no split 'tset'; did you mean 'test'?" in capsys.readouterr().err


def test_standard_input_of_a_reader_and_of_lines(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = (project / "corpus/new.jsonl").read_bytes()

    def answers(data: bytes, *options: str) -> list[Any]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert mtlspec(["predict", "study/mtl-all-s1", *options]) == 0
        return [json.loads(line)["tasks"] for line in capsys.readouterr().out.splitlines()]

    read = answers(corpus, "--reader", "{type: jsonl, text: [body]}")
    bodies = "".join(json.loads(line)["body"] + "\n" for line in corpus.splitlines())
    assert len(read) == TEST and read == answers(bodies.encode()) == answers(bodies.encode(), "-")


def test_windows_hold_no_more_than_they_say(texts: Trained) -> None:
    """Examples are asked for as they are needed, never all of them."""
    from mtlspec.use.inputs import Input
    from mtlspec.use.loaded import load_trained

    taken = 0

    def endless() -> Any:
        nonlocal taken
        while True:
            taken += 1
            yield texts.test[taken % TEST]

    predictor = load_trained(texts.train).predictor
    windows = predictor.stream(Input(endless(), {}), predictor.asking(window=10))
    assert [next(windows).first for _ in range(3)] == [0, 10, 20] and taken == 30


def test_what_is_sent_to_a_file_gets_there_while_a_terminal_shows_progress(project: Path) -> None:
    (project / "new.txt").write_text("a b\nc d\n")
    script = '"$0" -m mtlspec predict study/mtl-all-s1 new.txt > answers.jsonl'
    code, shown = in_terminal(["sh", "-c", script, sys.executable], project, os.environ)
    assert code == 0
    answers = [json.loads(line) for line in (project / "answers.jsonl").read_text().splitlines()]
    assert [answer["text"] for answer in answers] == ["a b", "c d"]
    assert "c d" not in shown
