"""The fork server runs the planned code or none: what it reads must be what was fingerprinted."""

import json
import sys
from pathlib import Path

import pytest

from mtlspec.errors import IntegrityError
from mtlspec.execute import warmth
from mtlspec.io.digest import digest_file
from mtlspec.plan import code


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that stands in for ours, importable by its own name."""
    folder = tmp_path / f"planned_{tmp_path.name}"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(code, "PACKAGE", folder)
    monkeypatch.setattr(warmth, "_misread", [])
    monkeypatch.setattr(warmth, "_share_with_forks", lambda: None)  # a test process collects its garbage
    return folder


def _fingerprint(package: Path) -> Path:
    path = package.parent / "unit.json"
    path.write_text(json.dumps({"files": {file.name: digest_file(file) for file in sorted(package.glob("*.py"))}}))
    return path


def _loaded(package: Path, module: str) -> bool:
    return f"{package.name}.{module}" in sys.modules


def test_planned_sources_are_loaded_before_forking(package: Path) -> None:
    (package / "stage.py").write_text("VALUE = 1\n")
    warmth._import_sources(_fingerprint(package))
    assert _loaded(package, "stage")
    warmth.require_planned_sources()


def test_sources_that_already_differ_are_not_loaded(package: Path) -> None:
    (package / "stage.py").write_text("VALUE = 1\n")
    fingerprint = _fingerprint(package)
    (package / "stage.py").write_text("VALUE = 2\n")
    warmth._import_sources(fingerprint)
    assert not _loaded(package, "stage")
    warmth.require_planned_sources()  # the stage's own check names the file


def test_an_edit_while_sources_are_loaded_stops_every_later_stage(package: Path) -> None:
    (package / "stage.py").write_text("from pathlib import Path\nPath(__file__).write_text('VALUE = 2')\n")
    warmth._import_sources(_fingerprint(package))
    with pytest.raises(IntegrityError, match="while it was being loaded"):
        warmth.require_planned_sources()


def test_a_source_that_cannot_be_imported_is_left_to_its_stage(package: Path) -> None:
    (package / "broken.py").write_text("import no_such_package\n")
    (package / "whole.py").write_text("")
    warmth._import_sources(_fingerprint(package))
    assert _loaded(package, "whole") and not _loaded(package, "broken")
    warmth.require_planned_sources()
