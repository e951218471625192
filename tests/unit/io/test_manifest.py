"""A manifest names the file that is not what it was."""

from pathlib import Path

import pytest

from mtlspec.errors import IntegrityError
from mtlspec.io.manifest import verify_manifest, write_manifest


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "model.safetensors").write_bytes(bytes(range(256)))
    (tmp_path / "sub" / "b.json").write_text("{}")
    write_manifest(tmp_path)
    return tmp_path


def test_an_untouched_artifact_verifies_to_the_digest_it_was_sealed_with(artifact: Path) -> None:
    assert verify_manifest(artifact) == write_manifest(artifact)


def test_one_flipped_bit_is_caught_and_named(artifact: Path) -> None:
    path = artifact / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(IntegrityError, match=r"E505: the file changed") as caught:
        verify_manifest(artifact)
    assert "model.safetensors" in str(caught.value)


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda d: (d / "sub" / "b.json").unlink(), "E503"),
        (lambda d: (d / "extra").write_text(""), "E504"),
        (lambda d: (d / "manifest.json").unlink(), "E501"),
        (lambda d: (d / "manifest.json").write_text("{"), "E502"),
        (lambda d: (d / "manifest.json").write_text("[]"), "E502"),
    ],
)
def test_every_other_defect_has_its_number(artifact: Path, spoil, code: str) -> None:
    spoil(artifact)
    with pytest.raises(IntegrityError) as caught:
        verify_manifest(artifact)
    assert caught.value.code == code
