"""Exported models: transformers alone gives our labels and scores, mtlspec and MLflow our predictions."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from mtlspec.cli.app import run as mtlspec
from mtlspec.errors import DataError, IntegrityError, SpecError
from mtlspec.io.manifest import verify_manifest
from mtlspec.use.export import export_model
from mtlspec.use.loaded import load_trained
from tests import toy
from tests.unit.use.conftest import Trained


@pytest.fixture(scope="module")
def tagger(words: Trained, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "tagger"
    made = export_model(load_trained(words.train).predictor, folder, "pos")
    assert (made.tasks, made.pipeline, made.why) == (("pos",), "token-classification", None)
    assert made.difference < 1e-5
    return folder


def test_a_tagger_by_transformers_alone(tagger: Path, words: Trained) -> None:
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tagger)
    model = AutoModelForTokenClassification.from_pretrained(tagger)
    expected = load_trained(words.train).predict([[*s.words] for s in words.test], tasks=["pos"], probabilities=True)
    for sentence, ours in zip(words.test, expected, strict=True):
        batch = tokenizer([*sentence.words], is_split_into_words=True, return_tensors="pt")
        with torch.no_grad():
            logits = model(**batch).logits[0]
        of = batch.word_ids()
        scores = torch.stack(
            [logits[[at for at, word in enumerate(of) if word == n]].mean(0) for n in range(len(sentence.words))]
        )
        assert [model.config.id2label[best] for best in scores.argmax(1).tolist()] == ours["tasks"]["pos"]
        likely = [next(iter(word.values())) for word in ours["probabilities"]["pos"]]
        assert scores.softmax(1).amax(1).tolist() == pytest.approx(likely, abs=1e-5)


@pytest.mark.parametrize("task", ["topic", "size"])
def test_a_classifier_and_a_regressor_by_transformers_alone(task: str, texts: Trained, tmp_path: Path) -> None:
    """`size` takes the mean of sub-tokens, which no classifier of BERT does."""
    from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

    made = export_model(load_trained(texts.train).predictor, tmp_path / "out", task)
    if task == "size":
        assert made.pipeline is None
        assert made.why == (
            "transformers' classifier for this encoder is not built like that of task 'size' "
            "(`pooling: mean`, no hidden layer)"
        )
        assert AutoModel.from_pretrained(tmp_path / "out/encoder").config.model_type == "bert"
        return
    assert made.pipeline == "text-classification"
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path / "out")
    ours = load_trained(texts.train).predict([s.texts[0] for s in texts.test], tasks=[task], probabilities=True)
    for sentence, expected in zip(texts.test, ours, strict=True):
        with torch.no_grad():
            found = model(**tokenizer(sentence.texts[0], return_tensors="pt")).logits[0].softmax(0)
        by_label = {model.config.id2label[number]: p for number, p in enumerate(found.tolist())}
        assert by_label == pytest.approx({**dict.fromkeys(by_label, 0.0), **expected["probabilities"][task]}, abs=1e-4)
        assert max(by_label, key=lambda label: by_label[label]) == expected["tasks"][task]


def test_every_task_of_an_exported_model_predicts_as_before(
    words: Trained, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mtlspec(["export", str(words.train), str(tmp_path / "all")]) == 0
    captured = capsys.readouterr()
    assert "encoder/ is a plain model of transformers, proven equal " in captured.out
    assert (
        "the decoders are read by mtlspec alone: a model of transformers has one task, which `--task` chooses"
        in captured.err
    )
    sentences = [[*s.words] for s in words.test]
    assert load_trained(tmp_path / "all").predict(sentences) == load_trained(words.train).predict(sentences)
    verify_manifest(tmp_path / "all")
    assert mtlspec(["export", str(words.train), str(tmp_path / "all")]) == 2
    assert "error E549: there is something of this name already" in capsys.readouterr().err


def test_decoders_without_a_counterpart_say_so(words: Trained, tmp_path: Path) -> None:
    whys = {
        task: export_model(load_trained(words.train).predictor, tmp_path / task, task).why
        for task in ("ner", "dep", "topic")
    }
    assert whys == {
        "ner": "transformers has no head like the crf of task 'ner'",
        "dep": "transformers has no head like the decoder of task 'dep' ('biaffine_dep')",
        "topic": "transformers' classifier for this encoder is not built like that of task 'topic' "
        "(`pooling: auto`, no hidden layer)",
    }
    sentences = [[*s.words] for s in words.test]
    expected = load_trained(words.train).predict(sentences, tasks=["dep"])
    assert load_trained(tmp_path / "dep").predict(sentences) == expected


def test_gates_are_folded_in_and_other_strategies_stay_at_home(
    words: Trained, toy_encoder: Path, tmp_path: Path
) -> None:
    from transformers import AutoModelForTokenClassification

    from mtlspec.model.multitask import load_model

    tasks = {"pos": {"type": "tagging", "layer": "pos"}}

    def trained(sharing: dict[str, Any]) -> Path:
        batch = {"sentences": 40, "tokens": 2000}
        params = {**toy.train_params(epochs=2, batch=batch), "tasks": tasks, "sharing": sharing}
        toy.run_train(tmp_path / sharing["type"], toy_encoder, words.prepared, params)
        return tmp_path / sharing["type"] / "out"

    gated = trained({"type": "l0", "lambda": 50.0, "gate_lr": 2.0})
    gates = load_model(gated).sharing.head_gates("gate")
    assert gates is not None and not bool((gates == 1).all())
    made = export_model(load_trained(gated).predictor, tmp_path / "plain", "pos")
    assert made.pipeline == "token-classification" and made.difference < 1e-5
    assert type(AutoModelForTokenClassification.from_pretrained(tmp_path / "plain")).__name__.startswith("Bert")
    sentences = [[*s.words] for s in words.test]
    assert load_trained(tmp_path / "plain").predict(sentences) == load_trained(gated).predict(sentences)
    with pytest.raises(SpecError, match="E554: its strategy changes what the encoder computes"):
        export_model(load_trained(trained({"type": "adapters"})).predictor, tmp_path / "no", "pos")
    assert not (tmp_path / "no").exists()


def test_what_mlflow_calls_takes_tables_and_lists(tagger: Path, words: Trained) -> None:
    import pandas as pd

    from mtlspec.use.serving import _load_pyfunc

    sentences = [[*s.words] for s in words.test]
    model, expected = _load_pyfunc(str(tagger)), load_trained(tagger).predict(sentences)
    assert model.predict(pd.DataFrame({"words": sentences})) == model.predict(sentences) == expected
    texts = [" ".join(sentence) for sentence in sentences]
    assert model.predict(pd.DataFrame({"text": texts})) == model.predict(texts) == load_trained(tagger).predict(texts)
    assert "probabilities" in model.predict(texts[:1], {"probabilities": True})[0]
    with pytest.raises(DataError, match="E534: no column of the input is known: body; name them `text`, "):
        model.predict(pd.DataFrame({"body": texts}))


@pytest.mark.slow
def test_mlflow_passes_on_what_is_asked(tagger: Path, tmp_path: Path) -> None:
    script = (
        "import json, sys, mlflow, pandas\n"
        "model = mlflow.pyfunc.load_model(sys.argv[1])\n"
        "given = pandas.DataFrame({'text': ['The cat. The dog.']})\n"
        "asked = {'tasks': ['pos'], 'probabilities': True, 'tokens': 'blanks', 'sentences': 'rules'}\n"
        "print(json.dumps([model.predict(given), model.predict(given, params=asked)]))\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", script, str(tagger)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    plain, asked = json.loads(done.stdout.splitlines()[-1])
    assert [one["words"] for one in plain] == [["The", "cat", ".", "The", "dog", "."]]
    assert [one["words"] for one in asked] == [["The", "cat."], ["The", "dog."]] and "probabilities" in asked[0]


@pytest.mark.slow
def test_mlflow_predicts_what_we_predict(tagger: Path, words: Trained, tmp_path: Path) -> None:
    """In a process of its own, as people do it: MLflow warns of itself when it is imported."""
    sentences = [[*s.words] for s in words.test]
    given = {"dataframe_split": {"columns": ["words"], "data": [[sentence] for sentence in sentences]}}
    (tmp_path / "in.json").write_text(json.dumps(given))
    command = [sys.executable, "-W", "ignore", "-m", "mlflow", "models", "predict", "--env-manager", "local"]
    paths = ["-m", str(tagger), "-i", str(tmp_path / "in.json"), "-o", str(tmp_path / "out.json"), "-t", "json"]
    done = subprocess.run([*command, *paths], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out.json").read_bytes())["predictions"] == load_trained(tagger).predict(sentences)


def test_files_of_others_beside_an_exported_model_do_no_harm_and_edits_are_told(
    tagger: Path, words: Trained, tmp_path: Path
) -> None:
    """MLflow adds files of its own to a model that it fetches."""
    folder = tmp_path / "model"
    shutil.copytree(tagger, folder)
    (folder / "registered_model_meta").write_text("model_name: x")
    sentences = [[*s.words] for s in words.test[:2]]
    assert load_trained(folder).predict(sentences) == load_trained(tagger).predict(sentences)
    (folder / "config.json").write_text("{}")
    with pytest.raises(IntegrityError, match=r"config.json: error E594: the file changed after it was exported"):
        load_trained(folder)
    (folder / "config.json").unlink()
    with pytest.raises(IntegrityError, match=r"config.json: error E593: a file of the exported model is missing"):
        load_trained(folder)


def test_the_card_of_a_model_says_what_is_known(tagger: Path) -> None:
    text = (tagger / "README.md").read_text()
    assert text.startswith("---\nlibrary_name: transformers\n") and "pipeline_tag: token-classification" in text
    assert "- `pos`: tagging, layer `pos`, 6 labels\n" in text and "## Scores" not in text
    assert "/tmp" not in text and str(tagger.parent) not in text and "# out\n" in text


def test_the_card_of_a_recorded_model(words: Trained) -> None:
    """With the record of the default study beside a model of the same tasks."""
    import mtlspec as package
    from mtlspec.io.project import Project
    from mtlspec.model.multitask import load_model
    from mtlspec.track.record import read_record
    from mtlspec.use.model_card import model_card
    from mtlspec.use.models import Found

    places = Project(Path(package.__file__).parents[1]).run("stem_cell")
    record = read_record(places.record)
    text = model_card(Found("stem_cell/mtl-all-s1", words.train, places=places), load_model(words.train), None)
    score = record["stages"]["evaluate-mtl-all-s1"]["scores"]["test/pos/accuracy"]
    over = next(one for one in record["models"] if one["name"] == "mtl-all")["scores"]["test/pos/accuracy"]
    row = f"| pos | test | accuracy | {score:.2f} | {over['mean']:.2f} ± {over['std']:.2f} (3 seeds) |"
    assert row in text.splitlines() and "| topic |" not in text
    digest = record["data"]["artifacts"]["data-english_mini"]
    assert "- corpus `english_mini`: " in text and "; licence: CC0-1.0; source: " in text
    assert f"; digest of its files: `{digest[:16]}`" in text
    assert f"`mtlspec run stem_cell` with the spec of digest `{record['spec']['digest'][:16]}`" in text
    assert "language: [en]" in text and "- It was evaluated on `english_mini` only" in text
