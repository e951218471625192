"""`mtlspec doctor --encoder`: a name that leads nowhere is told from one that is misspelt."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtlspec.cli.app import run as mtlspec
from tests.unit.model.encoder import small


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("registry/encoders", "specs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "registry/encoders/tiny.yaml").write_text("card: encoder\nname: tiny\nlicence: x\nsource: pretrain\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "hint"), [("tinny", "did you mean 'tiny'?"), ("models/My-BERT", "known: tiny"), ("../x", "known: tiny")]
)
def test_neither_a_folder_nor_a_card(name: str, hint: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert mtlspec(["doctor", "--encoder", name]) == 3
    expected = f"error E363: there is neither a folder '{name}' nor a card of that name in registry/encoders; {hint}"
    assert expected in " ".join(capfd.readouterr().err.split())


def test_a_folder_without_a_readable_tokenizer_is_one_line(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tokenizer = small.write(project / "mine") / "tokenizer.json"
    for damage, said in (
        (lambda: tokenizer.write_text("{"), "E381: the tokenizer is not readable"),
        (tokenizer.unlink, "E380: the encoder has no tokenizer.json"),
    ):
        damage()
        assert mtlspec(["doctor", "--encoder", "mine"]) == 3
        assert f"mine/tokenizer.json: error {said}" in capfd.readouterr().err


def test_a_folder_with_broken_settings_of_its_tokenizer_is_refused(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (small.write(project / "mine") / "tokenizer_config.json").write_text("{")
    assert mtlspec(["doctor", "--encoder", "mine"]) == 3
    assert "mine/tokenizer_config.json: error E311: not JSON" in capfd.readouterr().err
