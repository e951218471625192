from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mtlspec.errors import MtlspecError
from mtlspec.io.project import Project
from mtlspec.spec.load import LoadedSpec, load_spec
from tests.unit.spec.small_project import make_project

Load = Callable[..., LoadedSpec]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@pytest.fixture
def load(project: Project) -> Load:
    """Write a text as specs/study.yaml and load it, with overrides."""

    def load_text(text: str, *overrides: str) -> LoadedSpec:
        path = project.root / "specs/study.yaml"
        path.write_text(text)
        return load_spec(path, project, overrides)

    return load_text


@pytest.fixture
def complaints(load: Load) -> Callable[..., list[str]]:
    """The lines that a wrong spec is answered with."""

    def lines(text: str, *overrides: str) -> list[str]:
        with pytest.raises(MtlspecError) as caught:
            load(text, *overrides)
        assert caught.value.exit_code == 2
        return str(caught.value).splitlines()

    return lines
