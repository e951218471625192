"""`mtlspec.load` and `save`: any path works, and a damaged directory is one clear line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

import mtlspec
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import EncoderError
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import MultiTaskModel, build_model
from mtlspec.model.tasks.tagging import Options
from mtlspec.sharing.hard import Options as Hard
from tests.unit.model.encoder import small


@pytest.fixture(scope="module")
def saved(toy_encoder, toy_prepared, tmp_path_factory) -> Path:
    """A model with one task, saved by a text path into a folder whose parents do not exist."""
    tasks = {"pos": Options.model_validate({"type": "tagging", "layer": "pos"})}
    model = build_model(
        Encoder.load(toy_encoder), Hard(type="hard"), tasks, Corpora.single(Prepared.load(toy_prepared)).labels(tasks)
    )  # type: ignore[arg-type]
    directory = tmp_path_factory.mktemp("models") / "not/there/yet"
    model.save(str(directory), tokenizer=str(toy_encoder))
    again = mtlspec.load(str(directory))
    assert isinstance(again, MultiTaskModel)
    weights = model.weights()
    assert all(torch.equal(value, weights[name]) for name, value in again.weights().items())
    return directory


def refused(directory: str | Path) -> str:
    with pytest.raises(EncoderError) as caught:
        mtlspec.load(directory)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_encoder_is_saved_by_a_text_path_into_a_new_folder(tmp_path):
    source = small.write(tmp_path / "source")
    encoder = Encoder.load(str(source))
    encoder.save(str(tmp_path / "not/there/yet"), tokenizer=str(source))
    again = mtlspec.load(str(tmp_path / "not/there/yet"))
    assert isinstance(again, Encoder)
    assert torch.equal(again(small.batch(4)).words, encoder(small.batch(4)).words)


def test_nothing_is_saved_without_a_tokenizer(saved, tmp_path):
    for model in (mtlspec.load(saved), Encoder.load(small.write(tmp_path / "source"))):
        with pytest.raises(EncoderError, match=r"nowhere: error E359: there is no tokenizer\.json"):
            model.save(tmp_path / "out", tokenizer=tmp_path / "nowhere")
        assert not (tmp_path / "out").exists()


def test_a_path_that_is_no_directory_is_named(tmp_path):
    assert "gone: error E362: there is no such directory" in refused(tmp_path / "gone")
    (tmp_path / "file").write_text("")
    assert "file: error E362: this is a file, not a directory" in refused(str(tmp_path / "file"))


def test_truncated_weights_are_one_clear_line(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "model")
    small.write(tmp_path / "encoder")
    for name, code in (("model", "E361"), ("encoder", "E306")):
        weights = tmp_path / name / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-100])
        assert f"error {code}: the" in refused(tmp_path / name)
        weights.unlink()
        assert "model.safetensors" in refused(tmp_path / name)


def test_weights_of_another_model_are_named(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "model")
    about = json.loads((saved / "model.json").read_bytes())
    about["tasks"][0]["name"] = "other"
    (tmp_path / "model/model.json").write_text(json.dumps(about))
    assert "E361" in refused(tmp_path / "model") and "tasks.other" in refused(tmp_path / "model")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", "\x00", '{"sharing": {"type": "none_such"}, "tasks": []}', '{"sharing": 1}']
)
def test_a_broken_record_of_a_model_is_one_clear_line(saved, tmp_path, text):
    for name, code in (("model.json", "E360"), ("encoder/encoder.json", "E358")):
        shutil.copytree(saved, tmp_path / code)
        (tmp_path / code / name).write_text(text)
        assert f"{name}: error {code}: this is not a record of" in refused(tmp_path / code)


def test_a_model_without_its_encoders_settings_is_refused(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "model")
    (tmp_path / "model/encoder/config.json").unlink()
    assert "E303" in refused(tmp_path / "model")
    (tmp_path / "model/encoder/encoder.json").unlink()
    assert "E358" in refused(tmp_path / "model")
