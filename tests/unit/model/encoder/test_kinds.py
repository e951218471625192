"""An encoder without attention, in one file of another folder, from the spec to scores and back from disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from pydantic import TypeAdapter

import mtlspec
from mtlspec import kinds
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import EncoderError, Problems
from mtlspec.io.project import Project
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import MultiTaskModel, build_model, load_model
from mtlspec.model.predict import predict
from mtlspec.model.tasks.tagging import Options as Tagging
from mtlspec.plan.build import build_plan
from mtlspec.sharing.hard import Options as Hard
from mtlspec.spec.encoders import AnEncoder, EncoderOptions
from mtlspec.spec.families import ENCODERS
from mtlspec.spec.load import load_spec
from mtlspec.spec.models import BatchLimits
from mtlspec.stages import encoder as encoder_stage
from mtlspec.stages.context import StageContext
from tests.unit.model.encoder import small

GATED = '''"""Embeddings and a gated convolution over neighbours: an encoder without attention."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.spec.encoders import EncoderOptions

if TYPE_CHECKING:
    from mtlspec.model.encoder.encoder import Encoder


class Options(EncoderOptions):
    type: Literal["gated"]
    width: Annotated[int, Field(ge=2)] = Field(default=16, description="Of the vectors.")

    def build(self, directory: Path) -> Encoder:
        from tokenizers import Tokenizer
        from torch import nn

        from mtlspec.data.tokenizer import read_specials
        from mtlspec.model.encoder.encoder import Encoder

        class Gated(Encoder):
            def __init__(self, options: Options, vocabulary: int, specials: Any) -> None:
                super().__init__(options, specials, options.width)
                self.embeddings = nn.Embedding(vocabulary, options.width)
                self.mix = nn.Conv1d(options.width, 2 * options.width, 3, padding=1)

            def hidden(self, pieces: Any, mask: Any, types: Any = None) -> Any:
                states = self.embeddings(pieces) * mask.unsqueeze(2)
                return states + nn.functional.glu(self.mix(states.transpose(1, 2)), 1).transpose(1, 2)

        vocabulary = Tokenizer.from_file(str(directory / "tokenizer.json")).get_vocab_size()
        return Gated(self, vocabulary, read_specials(directory))
'''


@pytest.fixture(autouse=True)
def gated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "gated.py").write_text(GATED)
    assert len(GATED.splitlines()) <= 60
    with kinds.extended(ENCODERS, folder):
        yield


def _options(**more: object) -> EncoderOptions:
    return TypeAdapter[EncoderOptions](AnEncoder).validate_python({"type": "gated", "card": "toy", **more})


def _model(directory: Path, data: Prepared) -> MultiTaskModel:
    torch.manual_seed(1)
    tasks = {"pos": Tagging.model_validate({"type": "tagging", "layer": "pos"})}
    labels = Corpora.single(data).labels(tasks)  # type: ignore[arg-type]
    return build_model(_options().build(directory), Hard(type="hard"), tasks, labels)  # type: ignore[arg-type]


def test_a_model_on_it_predicts_and_comes_back_from_disk(toy_encoder: Path, toy_prepared: Path, tmp_path: Path) -> None:
    data = Prepared.load(toy_prepared)
    model = _model(toy_encoder, data)
    model.module.eval()
    (expected,) = predict(model, data.dev, BatchLimits()).values()
    model.save(tmp_path, tokenizer=toy_encoder)
    assert json.loads((tmp_path / "encoder" / "encoder.json").read_bytes())["type"] == "gated"
    again = load_model(tmp_path)
    assert (again.encoder.options.type, again.encoder.width) == ("gated", 16)
    (found,) = predict(again, data.dev, BatchLimits()).values()
    assert found == expected


def test_the_encoder_alone_is_saved_and_loaded(tmp_path: Path) -> None:
    source = small.write(tmp_path / "source")
    encoder = _options(width=8).build(source).eval()
    encoder.save(tmp_path / "saved", tokenizer=source)
    again = mtlspec.load(tmp_path / "saved")
    assert isinstance(again, Encoder) and again.width == 8
    assert torch.equal(again(small.batch(5, 3)).words, encoder(small.batch(5, 3)).words)


def test_it_says_plainly_what_it_has_not(toy_encoder: Path) -> None:
    encoder = _options().build(toy_encoder)
    with pytest.raises(EncoderError, match="E365: an encoder of type 'gated' has no attention heads"):
        _ = encoder.heads
    with pytest.raises(EncoderError, match="E366: an encoder of type 'gated' has no named places"):
        _ = encoder.places


def test_its_stage_needs_a_tokenizer_only(toy_encoder: Path, tmp_path: Path) -> None:
    from mtlspec.io.digest import digest_file

    source = tmp_path / "source"
    source.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (source / name).write_bytes((toy_encoder / name).read_bytes())
    pins = {path.name: digest_file(path) for path in source.iterdir()}
    card = {"card": "encoder", "name": "toy", "licence": "none"}
    card["source"] = {"type": "directory", "path": "source", "sha256": pins}  # type: ignore[assignment]
    params = {"card": card, "encoder": _options().model_dump(mode="json"), "run": {}}
    out = tmp_path / "out"
    out.mkdir()
    context = StageContext("import-toy", params, {}, out, tmp_path / "work", "id", tmp_path)
    facts = encoder_stage.run(context).facts
    assert facts["type"] == "gated" and facts["width"] == 16 and facts["max_pieces"] is None


SPEC = """\
mtlspec: 1
name: toy
data: english_mini
encoder: {encoder}
tasks: {{pos: {{type: tagging, layer: xpos}}}}
models: {{a: {{tasks: each, sharing: {sharing}}}}}
analyses: {{{analyses}}}
"""


def _spec(tmp_path: Path, **parts: str) -> Path:
    for folder in ("data", "encoders"):
        target = tmp_path / "registry" / folder
        target.mkdir(parents=True)
        for card in (Project.find(Path(__file__).parent).root / "registry" / folder).glob("*.yaml"):
            (target / card.name).write_bytes(card.read_bytes())
    path = tmp_path / "specs" / "toy.yaml"
    path.parent.mkdir()
    path.write_text(SPEC.format(**{"sharing": "hard", "analyses": "", **parts}))
    return path


def test_a_plan_carries_its_options_and_its_code(tmp_path: Path) -> None:
    path = _spec(tmp_path, encoder="{type: gated, card: tiny, width: 8}")
    plan = build_plan(load_spec(path, Project(tmp_path)))
    units = {unit.name: unit.files for unit in plan.units}
    for stage in plan.stages:
        if stage.kind in ("encoder", "train", "evaluate"):
            files = units[stage.unit]
            assert "kinds:encoders/gated.py" in files and "model/encoder/transformer.py" not in files, stage.name
        if stage.kind == "train":
            assert stage.params["encoder"]["type"] == "gated" and stage.params["encoder"]["width"] == 8


@pytest.mark.parametrize("sharing", ["l0", "iat"])
def test_check_refuses_heads_where_there_are_none(sharing: str, tmp_path: Path) -> None:
    analyses = "heads: {type: head_importance}"
    path = _spec(tmp_path, encoder="{type: gated, card: tiny}", sharing=sharing, analyses=analyses)
    with pytest.raises(Problems) as caught:
        load_spec(path, Project(tmp_path))
    lines = [str(problem) for problem in caught.value.problems]
    reason = "needs attention heads, and the encoder is of type 'gated', which has none"
    assert [line.partition("error ")[2] for line in lines] == [
        f"E100: the sharing strategy '{sharing}' {reason}",
        f"E100: the analysis 'head_importance' {reason}",
    ]


def test_check_refuses_to_learn_layers_where_there_are_none(tmp_path: Path) -> None:
    path = _spec(tmp_path, encoder="{type: gated, card: tiny}")
    distil = "{teacher: a, prediction: 0, labels: 1, attention: 1}"
    student = f"models.small={{tasks: all, sharing: hard, train: {{distil: {distil}}}}}"
    with pytest.raises(Problems) as caught:
        load_spec(path, Project(tmp_path), [student])
    assert [str(problem).partition("error ")[2] for problem in caught.value.problems] == [
        "E100: model 'small' learns layers of a teacher, and the encoder is of type 'gated', which shows none"
    ]


def test_without_a_type_it_is_a_transformer_and_others_are_named(tmp_path: Path) -> None:
    spec = load_spec(_spec(tmp_path / "a", encoder="{card: tiny}"), Project(tmp_path / "a")).spec
    assert spec.encoder.type == "transformer" and spec.encoder.has_heads
    with pytest.raises(Problems, match=r"unknown encoder 'gatet'.*gated"):
        load_spec(_spec(tmp_path / "b", encoder="{type: gatet, card: tiny}"), Project(tmp_path / "b"))
