"""Encoder folders as they come: damaged, odd or hostile ones are one clear line each, in bounded time."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import save
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from mtlspec.data import tokenizer as words
from mtlspec.data.tokenizer import WordTokenizer, bounded
from mtlspec.errors import EncoderError
from mtlspec.model.encoder import tokenizer_trial
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.known_as import known_as
from mtlspec.model.encoder.sources import directory
from mtlspec.stages import encoder
from mtlspec.stages.context import StageContext, silent
from tests.unit.model.encoder import small


def refusal(folder: Path, **changes: str) -> str:
    """What is said of a folder when it is fetched and loaded, with each named file replaced."""
    small.write(folder)
    for name, text in changes.items():
        (folder / name.replace("_json", ".json")).write_text(text)
    return fetched(folder)


def fetched(folder: Path) -> str:
    out = folder.parent / "out"
    options = directory.Options(type="directory", path=str(folder), sha256=small.pins(folder))
    with pytest.raises(EncoderError) as error:
        options.fetch(small.request(out, folder.parent))
        Encoder.load(out)
    line = str(error.value)
    assert "\n" not in line and len(line) < 600
    return line


def config(**changes: Any) -> str:
    return json.dumps(small.SIZES | {"model_type": "bert", "architectures": ["BertForMaskedLM"]} | changes)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"hidden_size": "x"}, "E313: 'hidden_size' must be a whole number, not the text 'x'"),
        ({"hidden_size": 1.5}, "E313: 'hidden_size' must be a whole number, not 1.5"),
        ({"num_attention_heads": 0}, "E314: 'num_attention_heads' is 0: expected 1 to 1,024"),
        ({"num_attention_heads": -4}, "E314"),
        ({"num_attention_heads": [4, 4]}, "E313"),
        ({"num_attention_heads": 5}, "E316: transformers cannot build this encoder: The hidden size (32)"),
        ({"num_hidden_layers": 100_000}, "E314: 'num_hidden_layers' is 100,000: expected 1 to 1,000"),
        ({"hidden_size": 2**16}, "E315: it speaks of about"),
        ({"vocab_size": 5 * 10**6}, "E315"),
        ({"vocab_size": 10**12}, "E314"),
        ({"max_position_embeddings": True}, "E313"),
        ({"hidden_act": "no such function"}, "E316"),
        ({"model_type": ["bert"]}, "E304"),
    ],
)
def test_impossible_configs_are_refused_before_anything_is_built(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    line = refusal(tmp_path / "source", config_json=config(**change))
    assert said in line and "config.json" in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "E311: not JSON"),
        ("[" * 100_000, "E311: not JSON: nested too deeply"),
        ("[]", "E312: a JSON object is expected, not a list"),
        ('{"cls_token": 5}', "E395: 'cls_token' must be a text or have one as `content`, not 5"),
        ('{"pad_token": {"text": "[PAD]"}}', "E395"),
    ],
)
def test_odd_settings_of_the_tokenizer_are_named(tmp_path: Path, text: str, said: str) -> None:
    line = refusal(tmp_path / "source", tokenizer_config_json=text)
    assert said in line and "tokenizer_config.json" in line


@pytest.mark.parametrize("weights", [True, False])
def test_a_run_names_the_folder_of_the_user_and_not_its_copy(tmp_path: Path, weights: bool) -> None:
    """Even where an encoder of another kind never looks at the tokenizer's settings."""
    folder = small.write(tmp_path / "mine")
    (folder / "tokenizer_config.json").write_text("{")
    source = {"type": "directory", "path": str(folder), "sha256": small.pins(folder)}
    out = tmp_path / "artifacts/.import-mine.tmp"
    with pytest.raises(EncoderError) as error, known_as(out, lambda: folder):
        request = small.request(out, tmp_path)
        directory.Options.model_validate(source).fetch(replace(request, weights=weights))
    assert str(error.value).startswith(f"{folder}/tokenizer_config.json: error E311: not JSON")
    card = {"card": "encoder", "name": "mine", "licence": "x", "source": source}
    params = {"card": card, "encoder": {"type": "transformer", "card": "mine"}, "run": {}}
    (tmp_path / "out").mkdir()
    with pytest.raises(EncoderError) as error:
        encoder.run(StageContext("import-mine", params, {}, tmp_path / "out", tmp_path, "x", tmp_path, silent))
    assert str(error.value).startswith(f"{folder}/tokenizer_config.json: error E311: not JSON")


def test_what_only_the_copy_has_is_told_of_the_folder(tmp_path: Path) -> None:
    copy, folder = tmp_path / "copy", tmp_path / "mine"
    with pytest.raises(EncoderError) as error, known_as(copy, lambda: folder):
        raise EncoderError("E390", f"{copy} is odd", copy / "tokenizer.json", "a hint")
    assert str(error.value) == f"{folder}: error E390: {folder} is odd; a hint"
    for place, source in ((copy, None), (tmp_path / "elsewhere", folder)):
        with pytest.raises(EncoderError, match=f"{place}: error"), known_as(copy, lambda source=source: source):  # type: ignore[misc]
            raise EncoderError("E390", "odd", place)


def sharded(folder: Path) -> Path:
    small.write(folder, max_shard_size="20KB")
    assert (folder / "model.safetensors.index.json").is_file()
    return folder


def test_a_damaged_part_of_the_weights_is_named(tmp_path: Path) -> None:
    folder = sharded(tmp_path / "source")
    part = sorted(folder.glob("model-*.safetensors"))[1]
    part.write_bytes(part.read_bytes()[:100])
    line = fetched(folder)
    assert "E317: this part of the weights cannot be read" in line and part.name in line


def test_weights_that_no_part_has_are_named(tmp_path: Path) -> None:
    folder = sharded(tmp_path / "source")
    part = sorted(folder.glob("model-*.safetensors"))[1]
    part.write_bytes(save({}))
    line = fetched(folder)
    assert "weights of the index are in none of its files, for instance" in line and "E318" in line


@pytest.mark.parametrize("index", ['{"weight_map": {"a": 5}}', '{"weight_map": []}', "{}", '{"weight_map": null}'])
def test_an_odd_index_is_named(tmp_path: Path, index: str) -> None:
    folder = sharded(tmp_path / "source")
    (folder / "model.safetensors.index.json").write_text(index)
    assert "E325: the index of weights has no `weight_map`" in fetched(folder)


def exploding() -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "[PAD]": 3}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"(a+)+$"), "isolated")
    return tokenizer


def test_a_pattern_that_explodes_is_found_when_the_encoder_is_fetched(tmp_path: Path) -> None:
    line = refusal(tmp_path / "source", tokenizer_json=exploding().to_str())
    assert "E390: the tokenizer cannot read short texts" in line or "E391" in line


def test_a_tokenizer_that_takes_for_ever_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer_trial, "_SCRIPT", "while True: pass")
    monkeypatch.setattr(tokenizer_trial, "_WALL_SECONDS", 0.2)
    assert "E391: the tokenizer needs over 20 s or 6 GB" in refusal(tmp_path / "source")


def test_a_pattern_that_explodes_on_the_data_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = WordTokenizer(exploding(), small.SPECIALS)
    with pytest.raises(EncoderError, match="E394: the tokenizer gives up"):
        tokenizer.pieces(["a" * 30 + "b"])
    monkeypatch.setattr(words, "_LEAST_SECONDS", 0.05)
    monkeypatch.setattr(words, "_SLOWEST", 10**9)
    from threading import Event

    with pytest.raises(EncoderError, match="E393: the tokenizer has not read 30 characters after 0 s"):
        bounded(Event().wait, 30)
    with pytest.raises(KeyError):
        bounded(lambda: {}["x"], 0)


@pytest.mark.parametrize(
    "name", ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors", "special_tokens_map.json"]
)
def test_random_bytes_give_one_line(tmp_path: Path, name: str) -> None:
    dice = random.Random(name)
    whole = small.write(tmp_path)
    kept = (whole / name).read_bytes() if (whole / name).is_file() else b'{"pad_token": "[PAD]"}'
    for _ in range(12):
        damaged = bytearray(kept)
        for _ in range(dice.randrange(1, 6)):
            at = dice.randrange(len(damaged))
            damaged[at : at + dice.randrange(1, 4)] = dice.randbytes(dice.randrange(4))
        (whole / name).write_bytes(damaged)
        try:
            Encoder.load(whole)
        except EncoderError as error:
            assert "\n" not in str(error)  # a damaged byte may also mean nothing
