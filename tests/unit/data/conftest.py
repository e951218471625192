"""The embedded corpus, generated once, and its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtlspec.data.generators.english_mini import Options, corpus
from mtlspec.data.sentence import Sentence


@pytest.fixture(scope="session")
def mini() -> dict[str, list[Sentence]]:
    """The splits of english_mini with the default options."""
    return dict(corpus(Options(type="english_mini")))


@pytest.fixture(scope="session")
def mini_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of english_mini with the default options."""
    out = tmp_path_factory.mktemp("english_mini")
    Options(type="english_mini").generate(out)
    return out
