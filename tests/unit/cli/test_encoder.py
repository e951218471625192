"""`mtlspec encoder`, as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtlspec.cli.app import run
from mtlspec.io.digest import digest_file
from mtlspec.io.project import Project
from mtlspec.spec.load import load_encoder_card
from tests import toy

Capture = pytest.CaptureFixture[str]
CARDS = {
    "block": "# mine\ncard: encoder\nname: block\nlicence: x  # why\n"
    "source:\n  type: directory\n  path: weights   # here\n\n# the end\n",
    "flow": "card: encoder\nname: flow\nlicence: x\nsource: {type: directory, path: weights}\ntitle: mine\n",
    "tiny": "card: encoder\nname: tiny\nlicence: x\nsource: pretrain\n",
    "wheel": "card: encoder\nname: wheel\nlicence: x\n"
    "source: {type: wheel, package: no-such-wheel, version: '1', path: a, install: make weights}\n",
    "hub": f"card: encoder\nname: hub\nlicence: x\nsource: {{type: hub, id: some/model, revision: {'a' * 40}}}\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    (tmp_path / "registry" / "encoders").mkdir(parents=True)
    (tmp_path / "specs").mkdir()
    for name, text in CARDS.items():
        (tmp_path / "registry" / "encoders" / f"{name}.yaml").write_text(text)
    toy.write_encoder(tmp_path / "weights", width=16, layers=1, heads=2)
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


def said(capsys: Capture, *arguments: str, code: int = 0) -> str:
    assert run(["encoder", *arguments]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


@pytest.mark.parametrize("name", ["block", "flow"])
def test_locking_writes_the_digests_and_nothing_else(name: str, project: Project, capsys: Capture) -> None:
    file = project.encoder_cards / f"{name}.yaml"
    names = sorted(path.name for path in (project.root / "weights").iterdir())
    digests = {each: digest_file(project.root / "weights" / each) for each in names}
    lines = said(capsys, "lock", name).splitlines()
    assert sorted(lines[:-1]) == [f"{each}: new -> {digest}" for each, digest in digests.items()]
    assert lines[-1] == f"registry/encoders/{name}.yaml: written"
    assert dict(load_encoder_card(name, project).source.pins()) == digests
    if name == "block":
        block = "".join(f"    {each}: {digest}\n" for each, digest in digests.items())
        before, after = CARDS["block"].split("   # here\n")
        assert file.read_text() == f"{before}   # here\n  sha256:\n{block}{after}"
    else:
        pairs = ", ".join(f"{each}: {digest}" for each, digest in digests.items())
        assert file.read_text() == CARDS["flow"].replace("weights}", f"weights, sha256: {{{pairs}}}}}")
    assert said(capsys, "lock", name) == f"registry/encoders/{name}.yaml: already up to date\n"
    (project.root / "weights" / "config.json").write_text("{}")
    shown = json.loads(said(capsys, "show", name, "--json"))
    assert shown["files"].pop("config.json") == f"changed; recorded {digests['config.json'][:16]}"
    assert set(shown["files"].values()) == {"as recorded"}
    assert said(capsys, "lock", name).splitlines()[0].startswith(f"config.json: {digests['config.json']} -> ")
    assert file.read_text().count("sha256") == 1


def test_the_list_says_what_is_locked_and_what_is_here(project: Project, capsys: Capture) -> None:
    said(capsys, "lock", "flow")
    rows = {row["name"]: row for row in json.loads(said(capsys, "list", "--json"))}
    assert {name: (row["source"], row["from"], row["locked"], row["here"]) for name, row in rows.items()} == {
        "block": ("directory", "weights", "no", "yes"),
        "flow": ("directory", "weights", "yes", "yes"),
        "hub": ("hub", "some/model at aaaaaaaaaaaa", "by its commit", "no: fetched by a run"),
        "tiny": ("pretrain", "learnt from the text of the spec's data", "by its data", "made by a run"),
        "wheel": (
            "wheel",
            "no-such-wheel 1",
            "no",
            "no: the package 'no-such-wheel' is not installed; install it with `make weights`",
        ),
    }
    text = said(capsys, "list")
    assert "by its commit" in text and "no-such-wheel" in text
    assert "not locked" in said(capsys, "show", "block")


def test_what_cannot_be_locked_is_one_line(project: Project, capsys: Capture) -> None:
    before = {path: path.read_bytes() for path in project.encoder_cards.iterdir()}
    assert said(capsys, "lock", "tiny", code=3).startswith(
        "registry/encoders/tiny.yaml: error E387: the encoder 'tiny'"
    )
    assert said(capsys, "lock", "hub", code=3) == (
        "registry/encoders/hub.yaml: error E388: the files of 'hub' are not on this machine yet; "
        "`mtlspec doctor --encoder hub` fetches and examines them\n"
    )
    assert "error E329: the package 'no-such-wheel' is not installed" in said(capsys, "lock", "wheel", code=3)
    for path in (project.root / "weights").iterdir():
        path.unlink()
    assert "error E389: there is no file of an encoder for 'flow'" in said(capsys, "lock", "flow", code=3)
    assert "E122: there is no card 'flo'" in said(capsys, "lock", "flo", code=2)
    assert {path: path.read_bytes() for path in project.encoder_cards.iterdir()} == before
