"""The proof of the head seam: it passes where heads answer, and fails where they do not."""

from __future__ import annotations

import json

import pytest
import torch
from transformers.models.bert import modeling_bert

from mtlspec.cli.app import run
from mtlspec.errors import EncoderError
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.proof import prove_heads, require_sound_heads
from tests.unit.model.encoder import many, small


def failures(model) -> dict[str, str]:
    checks = list(prove_heads(model, model.config, *many.batch()))
    assert len(checks) == 9
    return {check.name: check.detail for check in checks if not check.holds}


@pytest.mark.parametrize("family", many.FAMILIES)
def test_the_proof_passes_on_every_family(family):
    model = many.build(family).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert failures(model) == {}
    assert model.training
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


@pytest.fixture(params=["called in vain", "not called"])
def deaf(monkeypatch, request):
    """A transformers whose output projection is computed past the module that the hook is on."""

    def forward(self, hidden_states, input_tensor):
        if request.param == "called in vain":
            self.dense(hidden_states)
        projected = torch.nn.functional.linear(hidden_states, self.dense.weight, self.dense.bias)
        return self.LayerNorm(self.dropout(projected) + input_tensor)

    monkeypatch.setattr(modeling_bert.BertSelfOutput, "forward", forward)


@pytest.fixture()
def permuted(monkeypatch):
    many.permute_heads(monkeypatch)


@pytest.mark.usefixtures("deaf")
def test_an_encoder_that_does_not_hear_its_gates_fails():
    found = failures(many.build("bert"))
    assert "12 of 12 heads change nothing" in found["every head is heard"] or "no gate" in found["every head is heard"]
    assert {"gate = removal", "gradients of gates"} <= found.keys()


@pytest.mark.usefixtures("permuted")
def test_an_encoder_whose_heads_are_permuted_fails():
    found = failures(many.build("bert"))
    assert {"gate = removal", "capture"} <= found.keys()
    assert "every head is heard" not in found


def test_sound_heads_are_let_through(tmp_path):
    encoder = Encoder.load(small.write(tmp_path))
    require_sound_heads(encoder)
    require_sound_heads(encoder, small.batch(9, 4))
    gates = torch.ones(encoder.heads.shape)
    gates[0] = 0
    gates[1, 2] = 0
    encoder.heads.remove(gates)
    require_sound_heads(encoder, small.batch(9, 4))


@pytest.mark.usefixtures("permuted")
def test_an_encoder_that_fails_is_refused(tmp_path):
    with pytest.raises(EncoderError, match=r"E355.*do not answer \(gate = removal"):
        require_sound_heads(Encoder.load(small.write(tmp_path)), small.batch(9, 4))


def test_the_doctor_examines_a_directory(tmp_path, capsys):
    assert run(["doctor", "--encoder", str(small.write(tmp_path)), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["sound"]
    assert all(check["holds"] for check in report["checks"])


@pytest.mark.usefixtures("deaf")
def test_the_doctor_ends_with_an_error_code_if_a_check_fails(tmp_path, capsys):
    assert run(["doctor", "--encoder", str(small.write(tmp_path))]) == 3
    shown = capsys.readouterr().out
    assert "FAIL" in shown
    assert "must not be trusted" in shown


def test_the_doctor_takes_a_random_encoder_of_the_shape_where_weights_are_not_learnt_yet(tmp_path, monkeypatch, capsys):
    (tmp_path / "registry" / "encoders").mkdir(parents=True)
    (tmp_path / "specs").mkdir()
    source = "{type: pretrain, layers: 2, heads: 2, width: 16, feed_forward: 16, vocabulary: 40}"
    card = f"card: encoder\nname: mini\nlicence: none\nsource: {source}\n"
    (tmp_path / "registry" / "encoders" / "mini.yaml").write_text(card)
    monkeypatch.chdir(tmp_path)
    assert run(["doctor", "--encoder", "mini", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["weights"].startswith("random weights of the shape of 'mini'")
