"""What no model can predict: one clear line each, and nothing half-written."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mtlspec.cli.app import run as mtlspec
from tests.unit.use.conftest import Trained

LONG_WORD, LONG_DOCUMENT = "x" * 10_000, "cat " * 100_000


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "new.txt: error E536: there are no sentences in the file"),
        ("the cat\n\nthe dog\n", "new.txt:2: error E532: an empty line; a line is a sentence; leave empty ones out"),
        (
            f"the cat\nthe {LONG_WORD}\n",
            "new.txt:2: error E538: a word of 10,000 characters, at most 5,000 are read; is this text?",
        ),
        (
            LONG_DOCUMENT,
            "new.txt:1: error E537: 100,000 words in one example, at most 1,000 are read; "
            "cut it into sentences (`--input documents` does), or raise `--longest`",
        ),
        (
            b"the cat\nthe caf\xe9 there\n",
            "new.txt:2: error E531: not UTF-8: invalid continuation byte; save the file as UTF-8",
        ),
        ("the \0 cat\n", "new.txt:1: error E533: a line with a NUL byte; is this a text file?"),
        (
            "x " * 2**20,
            "new.txt:1: error E533: a line of more than 1,048,576 characters; is this a text file?",
        ),
    ],
    ids=["empty file", "empty line", "long word", "long document", "not UTF-8", "NUL", "no lines"],
)
def test_lines_that_are_no_sentences(
    text: str | bytes, error: str, words: Trained, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("new.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert mtlspec(["predict", str(words.train), "new.txt", "--files", "out", "-o", "out.jsonl"]) == 3
    captured = capsys.readouterr()
    assert captured.err.splitlines()[-1] == error
    assert captured.out == "" and [path.name for path in Path().iterdir()] == ["new.txt"]


def test_keep_going_names_every_malformed_line_and_predicts_the_others(
    words: Trained, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("new.txt").write_bytes(b"the cat\n\nthe caf\xe9\nanna sees acme\n")
    assert mtlspec(["predict", str(words.train), "new.txt", "--keep-going", "--task", "pos"]) == 1
    captured = capsys.readouterr()
    assert captured.err.splitlines()[-3:] == [
        "new.txt:2: error E532: an empty line; a line is a sentence; leave empty ones out",
        "new.txt:3: error E531: not UTF-8: invalid continuation byte; save the file as UTF-8",
        "2 examples left out, 2 predicted",
    ]
    assert [json.loads(line)["id"] for line in captured.out.splitlines()] == ["1", "4"]


def test_raw_text_that_the_encoder_cannot_read_at_once(texts: Trained, capsys: pytest.CaptureFixture[str]) -> None:
    Path("new.txt").write_text("the cat\n" + "cat " * 80 + "\nthe dog\n")
    why = "the example has 82 sub-tokens, but the encoder reads 64 at once; cut it into shorter texts"
    error = f"new.txt:2: error E279: {why}"
    assert mtlspec(["predict", str(texts.train), "new.txt"]) == 3
    assert capsys.readouterr().err.splitlines() == [error]
    assert mtlspec(["predict", str(texts.train), "new.txt", "--keep-going"]) == 1
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [error, "1 example left out, 2 predicted"]
    assert [json.loads(line)["text"] for line in captured.out.splitlines()] == ["the cat", "the dog"]


def test_pairs(pairs: Trained, words: Trained, capsys: pytest.CaptureFixture[str]) -> None:
    Path("new.txt").write_text("the cat\ta dog\nthe cat\n")
    assert mtlspec(["predict", str(pairs.train), "new.txt", "--input", "pairs"]) == 3
    assert capsys.readouterr().err == (
        "new.txt:2: error E535: 1 text instead of two; a line of pairs is two texts with a tab between them\n"
    )
    assert mtlspec(["predict", str(words.train), "new.txt", "--input", "pairs"]) == 3
    assert capsys.readouterr().err == (
        "new.txt:1: error E539: task 'pos' reads the words of one text, and this is a pair; "
        "choose tasks with `--task`\n"
    )


@pytest.mark.parametrize(
    ("options", "code", "error"),
    [
        (["--task", "nre"], 2, "error E547: the model '{model}' has no task 'nre'; did you mean 'ner'?"),
        (
            ["--task", "dep", "--probabilities"],
            2,
            "error E546: the decoder of task 'dep' ('biaffine_dep') gives no probabilities; taggers and classifiers do",
        ),
        (["--files", "there"], 2, "there: error E549: there is something of this name already; name a new folder"),
        (["-o", "there"], 2, "there: error E549: this is a folder, not a file; name a file"),
        (["-o", "x" * 300], 6, "x" * 300 + ": error E690: the machine refuses: File name too long"),
        (["--reader", "conllu", "--card", "x"], 2, "--reader, --card: error E550: both say the format; name one"),
        (
            ["--reader", "{type: jsonl}"],
            2,
            "--reader: error E551: say `text` or `words`, not neither",
        ),
        (["no.txt"], 3, "no.txt: error E530: there is no such file"),
        (["there"], 3, "there: error E530: this is a folder, not a file"),
    ],
)
def test_a_command_line_that_asks_for_what_is_not_there(
    options: list[str], code: int, error: str, words: Trained, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("new.txt").write_text("the cat\n")
    Path("there").mkdir()
    assert mtlspec(["predict", str(words.train), "new.txt", *options]) == code
    captured = capsys.readouterr()
    assert captured.err == error.format(model=words.train) + "\n" and captured.out == ""


def test_a_model_whose_files_were_edited(words: Trained, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(words.train, "model")
    about = Path("model/model.json")
    about.write_text(about.read_text().replace("B-PER", "B-ORG"))
    Path("new.txt").write_text("the cat\n")
    assert mtlspec(["predict", "model", "new.txt"]) == 5
    err = capsys.readouterr().err
    assert err.startswith("model/model.json: error E505: the file changed: recorded sha256 ") and err.count("\n") == 1


def test_roles_of_given_predicates_need_them(
    tmp_path: Path, words: Trained, toy_encoder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests import toy

    tasks = {"srl": {"type": "span_srl", "layer": "srl", "predicates": "gold", "size": 8, "label_size": 8}}
    params = {**toy.train_params(epochs=1, batch={"sentences": 60, "tokens": 4000}), "tasks": tasks}
    toy.run_train(tmp_path / "train", toy_encoder, words.prepared, params)
    Path("new.txt").write_text("the cat\n")
    assert mtlspec(["predict", "train/out", "new.txt"]) == 2
    assert capsys.readouterr().err == (
        "error E548: task 'srl' was trained with given predicates, and this input has no 'srl'; "
        "read a format that has them, or choose other tasks: `--task`\n"
    )


@pytest.mark.parametrize("reader", [[], ["--reader", "{type: brackets}"]], ids=["lines", "a reader"])
def test_pipes_that_have_names_are_read_and_written(
    reader: list[str], words: Trained, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a shell makes of `predict MODEL <(zcat new.gz) -o >(gzip > out.gz)`."""
    text = "(S (NP (DT the) (NN cat)))\n" if reader else "the cat\n"
    os.mkfifo("given")
    os.mkfifo("asked")
    with ThreadPoolExecutor(2) as others:
        others.submit(Path("given").write_text, text)
        answers = others.submit(Path("asked").read_text)
        assert mtlspec(["predict", str(words.train), "given", *reader, "-o", "asked"]) == 0
        (line,) = answers.result(60).splitlines()
    assert json.loads(line)["words"] == ["the", "cat"] and json.loads(line)["place"] == "given:1"
    assert Path("asked").is_fifo() and len(list(Path().iterdir())) == 2  # not replaced by a file
    assert capsys.readouterr().out == ""
