"""`mtlspec data` on a project of its own."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from mtlspec.cli.app import run
from tests.terminal import in_terminal, lines

CARD = """\
# my corpus
card: data
name: toy
licence: CC0-1.0
source: me
root: corpus
files:
  - reader: {type: columns, column: {tag: 1}}
    paths: {train: train.txt, dev: dev.txt, test: test.txt}
    layers: {pos: tag}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("registry/data", "specs", "corpus"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "registry/data/toy.yaml").write_text(CARD)
    for split, text in {"train": "a X\nb Y\n\na X\n", "dev": "a X\nz Z\n", "test": "b Y\n"}.items():
        (tmp_path / "corpus" / f"{split}.txt").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_lock_then_show_then_notice_a_change(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["data", "show", "toy"]) == 0
    assert capfd.readouterr().out.count("not locked") == 3
    assert run(["data", "lock", "toy"]) == 0
    assert "registry/data/toy.yaml: written" in capfd.readouterr().out
    text = (project / "registry/data/toy.yaml").read_text()
    assert text.startswith(CARD + "sha256:\n  dev.txt: ")
    assert run(["data", "lock", "toy"]) == 0
    assert "already up to date" in capfd.readouterr().out
    (project / "corpus/dev.txt").write_text("a X\n")
    assert run(["data", "show", "toy", "--json"]) == 0
    files = json.loads(capfd.readouterr().out)["files"]
    assert files["train.txt"] == "as recorded" and files["dev.txt"].startswith("changed; recorded")


def test_list_and_stats(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["data", "list", "--json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)
    assert (row["name"], row["layers"], row["locked"]) == ("toy", {"pos": "tags"}, "0 of 3")
    assert run(["data", "stats", "toy", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["tokens"] == {"train": 3, "dev": 2, "test": 1}
    assert run(["data", "stats", "toy"]) == 0
    shown = " ".join(capfd.readouterr().out.split())
    assert shown.startswith("toy: me 6 words in 4 sentences; licence CC0-1.0")
    assert "unseen words % – 50.0 0.0" in shown
    assert "layer kind labels not in train most frequent in train" in shown
    assert shown.endswith("pos tags 3 Z X 67 %, Y 33 %")


@pytest.mark.parametrize("command", [["stats", "toy"], ["page", "toy", "toy.md"]])
def test_files_that_are_not_those_recorded_are_not_counted(
    project: Path, command: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["data", *command]) == 0
    assert "records no sha256 yet; `mtlspec data lock toy`" in " ".join(capfd.readouterr().err.split())
    assert run(["data", "lock", "toy"]) == 0
    assert run(["data", *command]) == 0
    assert capfd.readouterr().err == ""
    (project / "corpus/dev.txt").write_text("a X\n")
    assert run(["data", *command]) == 3
    assert "corpus/dev.txt: error E265: the data file changed" in " ".join(capfd.readouterr().err.split())


def test_all_labels_of_one_layer(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["data", "stats", "toy", "--layer", "pos"]) == 0
    lines = [line.split()[:6] for line in capfd.readouterr().out.splitlines()]
    assert ["X", "2", "1", "0", "66.7", "%"] in lines and ["Z", "0", "1", "0", "0.0", "%"] in lines
    assert run(["data", "stats", "toy", "--layer", "posh"]) == 3
    assert "error E290: the data card 'toy' has no layer 'posh'; did you mean 'pos'?" in capfd.readouterr().err


def test_dropped_sentences_are_counted_and_named(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "corpus/train.txt").write_text("a X\n\na X\nb\n\na X\n")
    assert run(["data", "stats", "toy"]) == 3
    assert "train.txt:4: error E240: 1 column instead of 2" in capfd.readouterr().err
    (project / "registry/data/toy.yaml").write_text(CARD + "on_invalid: drop\n")
    assert run(["data", "stats", "toy"]) == 0
    shown = " ".join(capfd.readouterr().out.split())
    assert "sentences 2 1 1 dropped sentences 1 0 0" in shown
    assert (
        "Left out because the card says `on_invalid: drop`: 1 sentence" in shown and "train.txt:4: error E240" in shown
    )


def test_sub_tokens_of_an_encoder_that_learns_them_are_in_the_report(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (project / "registry/encoders").mkdir()
    card = "card: encoder\nname: small\nlicence: x\nsource: pretrain\n"
    (project / "registry/encoders/small.yaml").write_text(card)
    assert run(["data", "stats", "toy", "--encoder", "small"]) == 3
    assert "error E291: the encoder 'small' learns its sub-tokens from an experiment's data" in capfd.readouterr().err


def test_every_file_of_a_pattern_is_locked(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("b/2", "a/10", "a/.hidden"):
        path = project / f"corpus/more/{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a X\n")
    (project / "registry/data/toy.yaml").write_text(CARD.replace("train: train.txt", 'train: "more/**/*.txt"'))
    assert run(["data", "lock", "toy"]) == 0
    text = (project / "registry/data/toy.yaml").read_text()
    keys = [line.split(":")[0].strip() for line in text[text.index("sha256:") :].splitlines()[1:]]
    assert keys == ["dev.txt", "more/a/10.txt", "more/b/2.txt", "test.txt"]
    capfd.readouterr()
    assert run(["data", "list", "--json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)
    assert (row["files"], row["locked"]) == (4, "yes")


def test_sample_shows_sentences(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["data", "sample", "toy", "--split", "dev", "-n", "5"]) == 0
    assert "1 (dev.txt:1)\na z\n  pos    a/X z/Z" in capfd.readouterr().out
    assert run(["data", "sample", "toy", "--split", "devv"]) == 2
    assert "'toy' has no split 'devv'; did you mean 'dev'?" in capfd.readouterr().err


def test_page_keeps_what_people_wrote(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = project / "toy.md"
    page.write_text("# Mine\n\nWords.\n")
    assert run(["data", "page", "toy", "toy.md"]) == 0
    first = page.read_text()
    assert first.startswith("# Mine\n\nWords.\n\n<!-- generated") and "| sentences | 2 | 1 | 1 |" in first
    assert run(["data", "page", "toy", "toy.md"]) == 0
    assert page.read_text() == first
    assert "already up to date" in capfd.readouterr().out
    assert run(["data", "page", "toy", "registry"]) == 6
    assert "error E633: this is no place for a file" in capfd.readouterr().err
    assert run(["data", "page", "toy", "../outside.md"]) == 6


def test_unknown_cards_and_broken_files_are_one_line(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["data", "stats", "toi"]) == 2
    assert "did you mean 'toy'?" in capfd.readouterr().err
    (project / "corpus/train.txt").write_text("a X\nb\n")
    assert run(["data", "stats", "toy"]) == 3
    error = capfd.readouterr().err
    assert "train.txt:2: error E240" in error and error.count("\n") == 1


def test_numbers_and_further_splits_are_shown_as_what_they_are(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reader = "{type: table, text: [a], value: {score: score}}"
    paths = "{train: train.tsv, dev: dev.tsv, test: test.tsv, far: far.tsv}"
    card = CARD[: CARD.index("files:")].replace("toy", "values")
    card += f"files:\n  - reader: {reader}\n    paths: {paths}\n    layers: {{score: score}}\n"
    (project / "registry/data/values.yaml").write_text(card)
    for split in ("train", "dev", "test", "far"):
        (project / "corpus" / f"{split}.tsv").write_text(f"a\tscore\nthe cat\t{'' if split == 'test' else '2.5'}\n")
    assert run(["data", "show", "values"]) == 0
    assert "splits    train, dev, test, far" in capfd.readouterr().out
    assert run(["data", "stats", "values", "--layer", "score"]) == 0
    assert "score has no labels to count; 3 examples carry it" in capfd.readouterr().out
    assert run(["data", "stats", "values"]) == 0
    lines = [" ".join(line.split()) for line in capfd.readouterr().out.splitlines()]
    assert "score 1 1 0 1" in lines
    assert "score value – – –" in lines


@pytest.mark.parametrize("columns", [80, 140])
def test_the_list_has_one_line_a_card(columns: int, project: Path) -> None:
    card = (project / "registry/data/toy.yaml").read_text()
    long = "a licence with many words that says what may be done, by whom, and when, " * 3
    (project / "registry/data/tagging_supsense.yaml").write_text(
        re.sub("licence: .*", f"licence: '{long}'", card.replace("name: toy", "name: tagging_supsense"))
    )
    (project / "registry/data/guessed.yaml").write_text(
        re.sub("licence: .*", "licence: 'not known: write it here'", card.replace("name: toy", "name: guessed"))
    )
    command = [sys.executable, "-m", "mtlspec", "data", "list"]
    status, drawn = in_terminal(command, project, os.environ, columns)
    shown = lines(drawn)
    assert status == 0 and max(map(len, shown)) <= columns
    assert [line.split()[0] for line in shown[2:]] == sorted(path.stem for path in project.glob("registry/data/*.yaml"))
    assert any("…" in line for line in shown) and "write it here" not in drawn
