"""Malformed files: each defect is one line with its number, its file and its exact line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mtlspec import kinds
from mtlspec.errors import DataError
from mtlspec.spec.families import READERS
from tests.unit.data.broken_examples import BROKEN
from tests.unit.data.malformed import MALFORMED, Bad


def write(case: Bad, folder: Path) -> Path:
    file = folder / f"bad{case.ending}"
    file.write_bytes(case.text if isinstance(case.text, bytes) else case.text.encode())
    return file


def read(case: Bad, file: Path) -> list[Any]:
    module = kinds.load(READERS, case.reader)
    return list(module.Options(type=case.reader, **case.options).read(file))


@pytest.mark.parametrize("name", MALFORMED)
def test_a_defect_is_named_with_its_line(name: str, tmp_path: Path) -> None:
    case = MALFORMED[name]
    file = write(case, tmp_path)
    with pytest.raises(DataError) as caught:
        read(case, file)
    place = caught.value.place
    assert place is not None
    assert (caught.value.code, place.file, place.line, place.column) == (case.code, str(file), case.line, case.column)
    assert case.message in caught.value.message
    assert len(caught.value.problems) == 1, "one defect, told in several ways"
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300 + len(str(file))


def test_every_number_of_the_readers_is_among_the_malformed_files() -> None:
    folder = Path(kinds.load(READERS, "conllu").__file__).parent
    shared = [folder.parent / name for name in ("blocks.py", "bracket_columns.py")]
    sources = "".join(path.read_text() for path in (*folder.glob("*.py"), *shared))
    raised = set(re.findall(r'"(E\d\d\d)"', sources))
    told = {case.code for case in MALFORMED.values()} | {case.error.split()[2][:-1] for case in BROKEN.values()}
    arrow = {"E730", "E731", "E737"}  # see test_arrow.py
    huge = {"E741", "E742"}  # see test_all_defects.py
    questions = {"E562", "E569", "E924", "E925", "E926"}  # see test_superglue.py, test_choices.py and test_contexts.py
    assert raised - told - arrow - huge - questions == {"E200", "E203"}  # no file at all: see below


def test_files_that_are_missing_or_folders_are_named(tmp_path: Path) -> None:
    module = kinds.load(READERS, "conllu")
    (tmp_path / "folder").mkdir()
    for name, code in {"none": "E200", "folder": "E203"}.items():
        with pytest.raises(DataError) as caught:
            list(module.Options(type="conllu").read(tmp_path / name))
        assert caught.value.code == code and name in str(caught.value)
