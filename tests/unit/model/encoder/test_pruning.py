"""Physical removal of heads: equal to gates, recorded, saved, and loaded again in another process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch

import mtlspec
from mtlspec.data.batching import collate
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import EncoderError
from mtlspec.model.encoder.checked_removal import prune_model
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.heads import Heads
from mtlspec.model.encoder.loading import load_model, save_model
from mtlspec.model.multitask import MultiTaskModel, build_model
from mtlspec.model.predict import count_corpora, predict, predict_corpora, score
from mtlspec.sharing.hard import Options as Hard
from mtlspec.spec.models import BatchLimits
from tests.unit.model.encoder import many, small


def gates_with_empty_layer(empty: int) -> torch.Tensor:
    gates = 0.2 + torch.rand(many.LAYERS, many.HEADS, generator=torch.Generator().manual_seed(3))
    gates[0, [0, 2]] = 0
    gates[1, 1] = 0
    gates[empty] = 0
    return gates


@pytest.mark.parametrize("empty", [0, 1])
@pytest.mark.parametrize("family", many.FAMILIES)
def test_removal_equals_gates_and_survives_the_disk(family, empty, tmp_path):
    model = many.build(family)
    heads, gates = Heads(model, model.config), gates_with_empty_layer(empty)
    with torch.no_grad():
        with heads.gated(gates):
            expected = many.states(model)
        heads.remove(gates)
        found = many.states(model)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    assert heads.counts == tuple((gates != 0).sum(1).tolist())
    assert heads.kept == tuple(tuple(row.nonzero().flatten().tolist()) for row in gates)
    save_model(model, model.config, tmp_path / "a")
    again = load_model(tmp_path / "a")
    assert torch.equal(many.states(again), found)
    save_model(again, again.config, tmp_path / "b")
    for name in ("config.json", "model.safetensors"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    many.states(again.train()).sum().backward()  # a pruned encoder can be trained on
    with Heads(again, again.config).captured() as seen:
        many.states(again)
    assert [a.shape[1] for a in seen.attention] == [c.shape[2] for c in seen.contexts] == list(heads.counts)


def test_heads_are_removed_in_steps_and_keep_their_first_numbers():
    model = many.build("bert")
    heads = Heads(model, model.config)
    before = sum(p.numel() for p in model.parameters())
    heads.remove(torch.tensor([[0, 1, 1, 1], [1, 1, 1, 1], [1, 0, 0, 1.0]]))
    assert heads.shape == (3, 4)
    heads.remove(torch.tensor([[1, 0, 1, 7], [1, 1, 1, 1], [0, 1, 7, 7.0]]))
    assert heads.kept == ((1, 3), (0, 1, 2, 3), (3,))
    assert before - sum(p.numel() for p in model.parameters()) == 5 * (4 * 8 * 32 + 3 * 8)
    heads.remove(torch.zeros(3, 4))
    assert (heads.counts, heads.shape) == ((0, 0, 0), (3, 0))
    with heads.gated(torch.ones(3, 0)):
        assert many.states(model).isfinite().all()


def test_shared_layers_stay_shared_if_their_gates_agree_and_part_if_not():
    together, apart = (many.build("albert") for _ in range(2))
    gates = torch.tensor([0.5, 0, 1, 0]).expand(3, 4)
    Heads(together, together.config).remove(gates)
    assert together.config.num_hidden_groups == 1
    Heads(apart, apart.config).remove(gates_with_empty_layer(1))
    assert apart.config.num_hidden_groups == 3


def test_removal_inside_a_context_and_wrong_gates_are_errors():
    model = many.build("bert")
    heads = Heads(model, model.config)
    with heads.gated(torch.ones(3, 4)), pytest.raises(EncoderError, match="E349"):
        heads.remove(torch.ones(3, 4))
    with pytest.raises(EncoderError, match="E346"):
        heads.remove(torch.ones(2, 3, 4))


@pytest.mark.parametrize(
    ("record", "code"),
    [([[0], [1]], "E350"), ([[0], [1], [4]], "E350"), ([[0], [1, 1], [2]], "E350"), ([[0], [1], [2]], "E352")],
)
def test_a_damaged_record_is_an_error(record, code, tmp_path):
    model = many.build("bert")
    Heads(model, model.config).remove(gates_with_empty_layer(1))
    save_model(model, model.config, tmp_path)
    config = json.loads((tmp_path / "config.json").read_bytes())
    (tmp_path / "config.json").write_text(json.dumps({**config, "mtlspec_heads": record}))
    with pytest.raises(EncoderError, match=code):
        load_model(tmp_path)


def test_pruning_reports_its_proof_and_refuses_a_model_that_fails_it(tmp_path, monkeypatch):
    encoder = Encoder.load(small.write(tmp_path), max_pieces=12).train()
    gates = torch.tensor([[0, 0.5, 1, 0], [0, 0, 0, 0.25]])
    report = prune_model(encoder, gates, small.batch(30, 5))
    assert encoder.training
    assert report.max_difference < 1e-5
    assert (report.heads_before, report.heads_after, report.kept) == (8, 3, ((1, 2), (3,)))
    assert report.parameters_before - report.parameters_after == 5 * (4 * 8 * 32 + 3 * 8)
    assert json.loads(json.dumps(report.facts()))["heads"] == {"before": 8, "after": 3}
    monkeypatch.setattr("mtlspec.model.encoder.removal.fold", lambda site, gates: None)
    with pytest.raises(EncoderError, match="E353"):
        prune_model(encoder, torch.tensor([[0.5, 0], [1, 1]]), small.batch(30, 5))


CHILD = """
import json, sys
from pathlib import Path
import mtlspec
assert "torch" not in sys.modules
from mtlspec.data.prepared import Prepared
from mtlspec.model.predict import predict
from mtlspec.spec.models import BatchLimits
model = mtlspec.load(sys.argv[1])
found = predict(model, Prepared.load(Path(sys.argv[2])).test, BatchLimits())
print(json.dumps(found))
"""


def test_a_pruned_model_predicts_the_same_in_another_process(toy_encoder, toy_prepared, tmp_path):
    data = Prepared.load(toy_prepared)
    torch.manual_seed(1)
    model = build_model(
        Encoder.load(toy_encoder), Hard(type="hard"), toy_tasks(), Corpora.single(data).labels(toy_tasks())
    )
    gates = torch.ones(model.encoder.heads.shape)
    gates[0] = 0
    gates[1, 0] = 0
    gates[1, 1] = 0.3
    batch = collate(data.dev, torch.arange(4), model.encoder.specials)
    assert prune_model(model, gates, batch).max_difference < 1e-5
    (tmp_path / "model").mkdir()
    model.save(tmp_path / "model", tokenizer=toy_encoder)
    expected = predict(model, data.test, BatchLimits())
    again = mtlspec.load(tmp_path / "model")
    assert isinstance(again, MultiTaskModel)
    assert again.encoder.heads.kept == model.encoder.heads.kept
    corpora = Corpora.single(data)
    found = [predict_corpora(m, corpora, "test", BatchLimits()) for m in (model, again)]
    scores = [score(model, count_corpora(model, corpora, "test", predictions)) for predictions in found]
    assert scores[0] == scores[1]
    child = [sys.executable, "-c", CHILD, str(tmp_path / "model"), str(toy_prepared)]
    done = subprocess.run(child, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == json.loads(json.dumps(expected))


def toy_tasks():
    from mtlspec.model.tasks.tagging import Options

    return {layer: Options.model_validate({"type": "tagging", "layer": layer}) for layer in ("pos", "ner")}


def test_a_pruned_encoder_is_a_directory_like_any_other(tmp_path):
    whole = small.write(tmp_path / "whole")
    encoder = Encoder.load(whole)
    gates = torch.ones(encoder.heads.shape)
    gates[1] = 0
    encoder.heads.remove(gates)
    encoder.save(tmp_path / "pruned", tokenizer=whole)
    again = mtlspec.load(tmp_path / "pruned")
    assert isinstance(again, Encoder)
    assert again.specials == encoder.specials
    batch = small.batch(6, 4)
    assert torch.equal(again(batch).words, encoder(batch).words)
    with pytest.raises(EncoderError, match="E354"):
        mtlspec.load(tmp_path)
