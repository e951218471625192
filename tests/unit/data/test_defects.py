"""Malformed files: each defect is one line with its number, its file and its exact line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtlspec import kinds
from mtlspec.errors import DataError
from mtlspec.spec.families import READERS


def row(number: object, head: object = 0, word: str = "w") -> str:
    return f"{number}\t{word}\t_\tX\tX\t_\t{head}\tdep\t_\t_\n"


def line12(number: int, *, parse: str = "*", sense: str = "-", entity: str = "*", roles: str = "") -> str:
    return f"doc 0 {number} w NN {parse} verb {sense} - - {entity} {roles} -\n"


GOOD = row(1) + "\n"
CASES = {
    "columns": ("conllu", {}, GOOD + "1\tw\t_\n", "E210", 3, "3 columns instead of 10"),
    "range": ("conllu", {}, row(1) + "1-2" + row("", 1), "E211", 2, "the range 1-2 does not fit after word 1"),
    "duplicate id": ("conllu", {}, row(1) + row(1, 1), "E212", 2, "word id '1' comes twice"),
    "gap in ids": ("conllu", {}, GOOD + row(1) + row(3, 1), "E212", 4, "word id '3' instead of 2"),
    "no form": ("conllu", {}, row(1, word=" "), "E213", 1, "word 1 has no form"),
    "only comments": ("conllu", {}, GOOD + "# sent_id = 2\n", "E214", 3, "a sentence without words"),
    "head no number": ("conllu", {}, row(1) + row(2, "x"), "E215", 2, "the head of word 2 is 'x', not a number"),
    "negative head": ("conllu", {}, row(1, -1), "E215", 1, "the head of word 1 is '-1', not a number"),
    "head out of range": ("conllu", {}, row(1) + row(2, 7), "E216", 2, "head of word 2 is 7, but there are 2 words"),
    "two roots": ("conllu", {}, row(1) + row(2, 1) + row(3, 0), "E217", 3, "the tree has a second root"),
    "cycle": ("conllu", {}, row(1) + row(2, 3) + row(3, 4) + row(4, 3), "E218", 3, "word 3 is its own ancestor"),
    "self loop": ("conllu", {}, row(1) + row(2, 2), "E218", 2, "word 2 is its own ancestor"),
    "two trees": ("brackets", {}, "(A (B c)) (A (B c))\n", "E220", 1, "a second tree follows the first"),
    "outside": ("brackets", {}, "(A (B c))\n(A (B c)))\n", "E221", 2, "')' stands outside of the tree"),
    "bare word": ("brackets", {}, "(A (B c) d)\n", "E222", 1, "the word 'd' has no tag of its own"),
    "empty bracket": ("brackets", {}, "(A (B c))\n(A (B c) (D))\n", "E223", 2, "a bracket without words"),
    "no label": ("brackets", {}, "(A ((B c) (B c)))\n", "E224", 1, "a phrase without a label"),
    "not closed": ("brackets", {}, "(A (B c)\n(A (B c))\n", "E225", 1, "a bracket is not closed"),
    "only a tag": ("brackets", {}, "(B c)\n", "E226", 1, "a tree without a phrase over words"),
    "bad bit": ("conll2012", {}, line12(0, parse="(TOP"), "E230", 1, "'(TOP' is not a bracket of the parse column"),
    "closes too often": (
        "conll2012", {}, line12(0, parse="(TOP*") + line12(1, parse="*))"), "E231", 2, "closes but was not opened"
    ),
    "parse not closed": ("conll2012", {}, line12(0, parse="(TOP(S*)"), "E232", 1, "'(TOP' of the parse column"),
    "uneven rows": ("conll2012", {}, line12(0) + "doc 0 1 w\n", "E233", 2, "4 columns instead of 12"),
    "wrong number": ("conll2012", {}, line12(0) + line12(2), "E234", 2, "word number '2' instead of 1"),
    "two tree tops": ("conll2012", {}, line12(0, parse="(A*)") + line12(1, parse="(B*)"), "E235", 1, "no root"),
    "nested entity": ("conll2012", {}, line12(0, parse="(A*)", entity="(X(Y*))"), "E236", 1, "an entity inside"),
    "no role column": ("conll2012", {}, line12(0, parse="(A*)", sense="01"), "E237", 1, "1 words have a frameset"),
    "verb unmarked": (
        "conll2012", {}, line12(0, parse="(A*)", sense="01", roles="(ARG0*)"), "E238", 1, "do not mark it as V"
    ),
    "uneven columns": ("columns", {"t": 1}, "a X\nb X Y\n", "E240", 2, "3 columns instead of 2"),
    "no such column": ("columns", {"t": 4}, "a X\n", "E242", 1, "no column 4 ('t') among 2"),
    "not iob": ("columns", {"t": 1}, "a O\nb PER\n", "E244", 2, "'PER' is not an IOB2 tag"),
    "bare dash": ("columns", {"t": 1}, "a -PER\n", "E244", 1, "'-PER' is not an IOB2 tag"),
    "i after o": ("columns", {"t": 1}, "a O\n\nb O\nc I-PER\n", "E245", 4, "'I-PER' continues no PER span"),
    "other label": ("columns", {"t": 1}, "a B-LOC\nb I-PER\n", "E245", 2, "'I-PER' continues no PER span"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_defect_is_named_with_its_line(case: str, tmp_path: Path) -> None:
    reader, column, text, code, line, message = CASES[case]
    file = tmp_path / "bad"
    file.write_text(text)
    more = {"column": column, "spans": dict.fromkeys(column, "iob2")} if reader == "columns" else {}
    with pytest.raises(DataError) as caught:
        list(_reader(reader).read(_reader(reader).Options(type=reader, **more), file))
    assert (caught.value.code, caught.value.place.line) == (code, line)
    assert caught.value.place.file == str(file)
    assert message in caught.value.message
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("tags", "code", "line"),
    [
        ("B-X I-X", "E247", 2),
        ("B-X O", "E246", 2),
        ("B-X E-X S-X", None, 0),
        ("E-X", "E245", 1),
        ("S-X I-X", "E245", 2),
    ],
)
def test_iobes_columns_are_checked(tags: str, code: str | None, line: int, tmp_path: Path) -> None:
    file = tmp_path / "iobes"
    file.write_text("".join(f"w {tag}\n" for tag in tags.split()))
    options = _reader("columns").Options(type="columns", column={"t": 1}, spans={"t": "iobes"})
    if code is None:
        (sentence,) = _reader("columns").read(options, file)
        assert sentence.layers["t"] == tuple(tags.split())
        return
    with pytest.raises(DataError) as caught:
        list(_reader("columns").read(options, file))
    assert (caught.value.code, caught.value.place.line) == (code, line)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    module = _reader("conllu")
    options = module.Options(type="conllu")
    (tmp_path / "latin").write_bytes(row(1).encode() + "é".encode("latin-1"))
    (tmp_path / "cut.gz").write_bytes(b"\x1f\x8b\x08\x00")
    (tmp_path / "text.gz").write_text("plain")
    (tmp_path / "folder").mkdir()
    expected = {"none": "E200", "latin": "E201", "cut.gz": "E202", "text.gz": "E202", "folder": "E203"}
    for name, code in expected.items():
        with pytest.raises(DataError) as caught:
            list(module.read(options, tmp_path / name))
        assert caught.value.code == code and name in str(caught.value)


def _reader(name: str):  # type: ignore[no-untyped-def]
    return kinds.load(READERS, name)
