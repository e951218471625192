"""The model's container: names, strategies inside the encoder, and trained models to start from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from mtlspec.data.batching import collate
from mtlspec.data.prepared import Prepared
from mtlspec.errors import EncoderError
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import MultiTaskModel, build_model, load_model, start_from
from mtlspec.model.sharing import Sharing
from mtlspec.model.tasks.tagging import Options
from mtlspec.sharing.hard import Options as Hard

AWKWARD = ("train", "type", "keys", "parameters", "modules", "training", "forward", "pop")


class Inside(Sharing):
    """Replaces a module of the encoder by one of its own, and gives all tasks the union of their labels."""

    def __init__(self, encoder: Encoder, tasks: Any) -> None:
        super().__init__(encoder, tasks)
        self.added = nn.LayerNorm(encoder.width)
        self.module = nn.ModuleDict({"norm": self.added})
        encoder.places.layers[0].module.output.LayerNorm = self.added
        self.own: Mapping[str, Mapping[str, int]] = {}

    def label_spaces(self, labels: Mapping[str, Mapping[str, int]]) -> Mapping[str, Mapping[str, int]]:
        self.own = labels
        union = {label: count for counts in labels.values() for label, count in counts.items()}
        return dict.fromkeys(labels, union)


class InsideOptions(Hard):
    def build(self, encoder: Encoder, tasks: Any) -> Sharing:
        return Inside(encoder, tasks)


@pytest.fixture(scope="module")
def data(toy_prepared: Path) -> Prepared:
    return Prepared.load(toy_prepared)


def _model(encoder: Path, data: Prepared, sharing: Hard | None = None, seed: int = 0, **layers: str) -> MultiTaskModel:
    torch.manual_seed(seed)
    tasks = {name: Options.model_validate({"type": "tagging", "layer": layer}) for name, layer in layers.items()}
    labels = {name: data.labels[layer] for name, layer in layers.items()}
    return build_model(Encoder.load(encoder), sharing or Hard(type="hard"), tasks, labels)  # type: ignore[arg-type]


def test_tasks_may_have_the_names_of_methods(toy_encoder: Path, data: Prepared, tmp_path: Path) -> None:
    model = _model(toy_encoder, data, **dict.fromkeys(AWKWARD, "pos"))
    model.module.train()
    assert all(task.module.training for task in model.tasks)
    model.module.eval()
    assert not any(task.module.training for task in model.tasks)
    model.save(tmp_path, tokenizer=toy_encoder)
    names = {name.split(".")[1] for name in load_file(tmp_path / "model.safetensors") if name.startswith("tasks.")}
    assert names == set(AWKWARD)
    again = load_model(tmp_path)
    assert all(torch.equal(value, again.weights()[name]) for name, value in model.weights().items())


def test_a_strategys_parameters_inside_the_encoder_are_saved_once_and_counted_as_its_own(
    toy_encoder: Path, data: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = _model(toy_encoder, data, a="pos", b="ner")
    model = _model(toy_encoder, data, InsideOptions(type="hard"), a="pos", b="ner")
    nn.init.normal_(model.sharing.added.weight)  # type: ignore[attr-defined]
    width = model.encoder.width
    sizes, before = model.sizes(), plain.sizes()
    assert (sizes["sharing"], before["sharing"]) == (2 * width, 0)
    assert sizes["encoder"] == before["encoder"] - 2 * width
    assert sizes["total"] == sum(size for name, size in sizes.items() if name not in ("total", "trained"))
    names = [name for name in model.weights() if "encoder.layer.0.output.LayerNorm" in name or "sharing" in name]
    assert sorted(names) == ["sharing.norm.bias", "sharing.norm.weight"]
    model.save(tmp_path, tokenizer=toy_encoder)
    monkeypatch.setattr(Hard, "build", InsideOptions.build)
    again = load_model(tmp_path)
    assert again.sharing.own == model.sharing.own != {}  # type: ignore[attr-defined]
    model.module.eval()
    batch = collate(data.dev, torch.arange(4), data.specials)
    assert torch.equal(again.states(batch, 0).words, model.states(batch, 0).words)
    labels = [set(task.describe()["labels"]) for task in again.tasks]
    assert labels[0] == labels[1] == set(data.labels["pos"]) | set(data.labels["ner"])


def test_all_of_a_model_or_its_encoder_alone_can_be_started_from(
    toy_encoder: Path, data: Prepared, tmp_path: Path
) -> None:
    first = _model(toy_encoder, data, a="pos")
    nn.init.normal_(next(first.encoder.parameters()))
    first.save(tmp_path, tokenizer=toy_encoder)
    same, other = _model(toy_encoder, data, seed=1, a="pos"), _model(toy_encoder, data, seed=1, b="ner")
    start_from(same, tmp_path, "all")
    assert all(torch.equal(value, first.weights()[name]) for name, value in same.weights().items())
    fresh = {name: value.clone() for name, value in other.weights().items()}
    start_from(other, tmp_path, take="encoder")
    for name, value in other.weights().items():
        assert torch.equal(value, first.weights()[name] if name.startswith("encoder.") else fresh[name]), name
    with pytest.raises(EncoderError, match=r"E369: the model to start from does not fit.*`take: encoder`"):
        start_from(_model(toy_encoder, data, seed=1, b="ner"), tmp_path, "all")
    wide = _model(toy_encoder, data, seed=1, a="ner")
    with pytest.raises(EncoderError, match="E369"):
        start_from(wide, tmp_path, "all")
