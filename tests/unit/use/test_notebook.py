"""The notebooks of docs/ run, and show what they give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.notebook import run, texts

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("file", sorted(DOCS.glob("*.ipynb")), ids=lambda file: file.name)
def test_a_notebook_runs_and_shows_what_it_gives(file: Path) -> None:
    stored = json.loads(file.read_bytes())
    again = run(file)
    assert texts(again) == texts(stored), f"`python -m tests.notebook docs/{file.name}` writes it anew"
    figures = [out["data"] for cell in again["cells"] for out in cell.get("outputs", ()) if "data" in out]
    assert sum("image/png" in data for data in figures) >= 1
    assert sum("image/png" in out.get("data", {}) for cell in stored["cells"] for out in cell.get("outputs", ())) >= 1


def test_notebooks_are_small_and_know_nothing_of_a_machine() -> None:
    files = sorted(DOCS.glob("*.ipynb"))
    assert files
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert len(text) < 100_000
        assert not any(path in text for path in ("/home/", "/root/", "/tmp/", "/Users/", str(DOCS.parent)))
