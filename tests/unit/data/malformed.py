"""Malformed files, one defect each: the format, the file, and the number, line, column and words of its error."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Bad:
    reader: str
    text: str | bytes
    code: str
    line: int
    message: str
    column: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    ending: str = ""


def row(number: object, head: object = 0, word: str = "w", rel: str = "dep", lemma: str = "_", deps: str = "_") -> str:
    return f"{number}\t{word}\t{lemma}\tX\tX\t_\t{head}\t{rel}\t{deps}\t_\n"


def other(number: str) -> str:
    """A multi-word token or an empty node."""
    return f"{number}\tw" + "\t_" * 8 + "\n"


def line12(
    number: int,
    *,
    word: str = "w",
    parse: str = "*",
    sense: str = "-",
    entity: str = "*",
    roles: str = "",
    document: str = "doc 0",
) -> str:
    return f"{document} {number} {word} NN {parse} verb {sense} - - {entity} {roles} -\n"


def tags(text: str, scheme: str = "iob2") -> dict[str, Any]:
    lines = "".join(f"w {tag}\n" for tag in text.split())
    return {"text": lines, "options": {"column": {"t": 1}, "spans": {"t": scheme}}}


ONE = row(1) + "\n"
BEGIN = "#begin document (doc); part 000\n"
END = "#end document\n"
TAG = {"column": {"t": 1}}
TABS = {"column": {"t": 1}, "delimiter": "tab"}

CONLLU = {
    "too few columns": Bad("conllu", ONE + "1\tw\t_\n", "E210", 3, "3 columns instead of 10"),
    "blanks for tabs": Bad("conllu", row(1).replace("\t", " "), "E210", 1, "1 column instead of 10"),
    "range out of place": Bad("conllu", row(1) + other("1-2") + row(2, 1), "E211", 2, "the range 1-2 does not fit"),
    "range backwards": Bad("conllu", row(1) + other("2-1") + row(2, 1), "E211", 2, "the range 2-1 does not fit"),
    "ranges overlap": Bad(
        "conllu", other("1-3") + row(1) + other("2-3") + row(2, 1) + row(3, 1), "E204", 3, "the range 2-3 overlaps"
    ),
    "range too long": Bad("conllu", row(1) + other("2-4") + row(2, 1), "E205", 2, "ends at word 4, but there are 2"),
    "empty node out of place": Bad("conllu", row(1) + other("5.1"), "E219", 2, "'5.1' stands where '1.1' would"),
    "empty node comes twice": Bad("conllu", row(1) + other("1.1") * 2, "E219", 3, "'1.1' stands where '1.2' would"),
    "empty node within a multi-word token": Bad(
        "conllu",
        row(1) + other("2-3") + other("1.1") + row(2, 1) + row(3, 1),
        "E743",
        3,
        "'1.1' stands between a multi-word token and its words",
    ),
    "multi-word token with a tag": Bad(
        "conllu",
        "1-2\tw\t_\tX" + "\t_" * 6 + "\n" + row(1) + row(2, 1),
        "E744",
        1,
        "column 'upos' of the multi-word token 1-2 is filled: 'X'",
    ),
    "multi-word token with a typo and a number": Bad(
        "conllu",
        "1-2\tw"
        + "\t_" * 3
        + "\tTypo=Yes\t_\t_\t_\t_\n"
        + row(1)
        + row(2, 1)
        + "3-4"
        + "\t_" * 4
        + "\tNumber=Sing\t_\t_\t_\t_\n"
        + row(3, 1)
        + row(4, 1),
        "E744",
        4,
        "column 'feats' of the multi-word token 3-4 is filled: 'Number=Sing'",
    ),
    "empty node with a head": Bad(
        "conllu",
        row(1) + "1.1\tw\t_\tX\tX\t_\t1\t_\t_\t_\n",
        "E744",
        2,
        "column 'head' of the empty node 1.1 is filled",
    ),
    "enhanced arc from itself": Bad(
        "conllu", row(1, deps="0:root") + row(2, 1, deps="1:x|2:conj"), "E745", 2, "'2:conj' of 2 comes from itself"
    ),
    "id comes twice": Bad("conllu", row(1) + row(1, 1), "E212", 2, "word id '1' comes twice"),
    "gap in the ids": Bad("conllu", ONE + row(1) + row(3, 1), "E212", 4, "word id '3' instead of 2"),
    "id is no number": Bad("conllu", row(1) + row("x", 1), "E212", 2, "word id 'x' instead of 2"),
    "blank form": Bad("conllu", row(1, word=" "), "E213", 1, "word 1 has no form"),
    "empty column": Bad("conllu", row(1, lemma=""), "E249", 1, "column 'lemma' of word 1 is empty"),
    "only comments": Bad("conllu", ONE + "# sent_id = 2\n", "E214", 3, "a sentence without words"),
    "comment between words": Bad("conllu", row(1) + "# why\n" + row(2, 1), "E275", 2, "a comment stands between"),
    "head is no number": Bad("conllu", row(1) + row(2, "x"), "E215", 2, "the head of word 2 is 'x', not a number"),
    "negative head": Bad("conllu", row(1, -1), "E215", 1, "the head of word 1 is '-1', not a number"),
    "head of one word missing": Bad("conllu", row(1) + row(2, "_"), "E215", 2, "the head of word 2 is '_'"),
    "head out of range": Bad("conllu", row(1) + row(2, 7), "E216", 2, "head of word 2 is 7, but there are 2 words"),
    "endless head": Bad("conllu", row(1) + row(2, "9" * 5000), "E216", 2, "but there are 2 words"),
    "two roots": Bad("conllu", row(1) + row(2, 1) + row(3, 0), "E217", 3, "the tree has a second root"),
    "no root": Bad("conllu", ONE + row(1, 2) + row(2, 1), "E208", 3, "the tree has no root"),
    "cycle": Bad("conllu", row(1) + row(2, 3) + row(3, 4) + row(4, 3), "E218", 3, "word 3 is its own ancestor"),
    "own head": Bad("conllu", row(1) + row(2, 2), "E218", 2, "word 2 is its own ancestor"),
    "no relation": Bad("conllu", row(1) + row(2, 1, rel="_"), "E209", 2, "word 2 has a head but no relation"),
    "bad enhanced arc": Bad("conllu", row(1, deps="root"), "E206", 1, "'root' is not an enhanced arc"),
    "enhanced arc from nowhere": Bad("conllu", row(1, deps="0:r|1.1:x"), "E207", 1, "'1.1:x' comes from no node"),
}
BRACKETS = {
    "two trees a line": Bad("brackets", "(A (B c)) (A (B c))\n", "E220", 1, "a second tree follows", 11),
    "one bracket too many": Bad("brackets", "(A (B c))\n(A (B c)))\n", "E221", 2, "')' stands outside", 10),
    "text before the tree": Bad("brackets", "x (A (B c))\n", "E221", 1, "'x' stands outside", 1),
    "word without a tag": Bad("brackets", "(A (B c) d)\n", "E222", 1, "the word 'd' has no tag", 10),
    "two words of one tag": Bad("brackets", "(A (B c d))\n", "E222", 1, "the word 'd' has no tag", 9),
    "empty bracket": Bad("brackets", "(A (B c))\n(A (B c) (D))\n", "E223", 2, "a bracket without words", 10),
    "phrase without a label": Bad("brackets", "(A ((B c) (B c)))\n", "E224", 1, "a phrase without a label", 4),
    "bracket not closed": Bad("brackets", "(A (B c)\n(A (B c))\n", "E225", 1, "a bracket is not closed", 1),
    "only a tag": Bad("brackets", "(B c)\n", "E226", 1, "a tree without a phrase over words"),
    "only traces": Bad("brackets", "(A (B c))\n(S (-NONE- *))\n", "E226", 2, "a tree without a phrase over words"),
}
CONLL2012 = {
    "not a bit": Bad("conll2012", line12(0, parse="(TOP"), "E230", 1, "'(TOP' is not a bracket of the parse column"),
    "closes too often": Bad(
        "conll2012", line12(0, parse="(TOP*") + line12(1, parse="*))"), "E231", 2, "closes but was not opened"
    ),
    "parse not closed": Bad("conll2012", line12(0, parse="(TOP(S*)"), "E232", 1, "'(TOP' of the parse column"),
    "entity not closed": Bad(
        "conll2012", line12(0, parse="(A*") + line12(1, parse="*)", entity="(X*"), "E232", 2, "'(X' of the entity"
    ),
    "uneven rows": Bad("conll2012", line12(0, parse="(A*)") + "doc 0 1 w\n", "E233", 2, "4 columns instead of 12"),
    "too few columns of 2012": Bad("conll2012", "doc 0 0 w\n", "E233", 1, "4 columns instead of at least 12"),
    "wrong word number": Bad("conll2012", line12(0) + line12(2), "E234", 2, "word number '2' instead of 1"),
    "words not filled in": Bad("conll2012", line12(0, word="[WORD]"), "E276", 1, "not filled in"),
    "two tree tops": Bad("conll2012", line12(0, parse="(A*)") + line12(1, parse="(B*)"), "E235", 1, "no root"),
    "nested entity": Bad("conll2012", line12(0, parse="(A*)", entity="(X(Y*))"), "E236", 1, "an entity inside"),
    "no role column": Bad("conll2012", line12(0, parse="(A*)", sense="01"), "E237", 1, "1 frameset, but 0 role"),
    "verb unmarked": Bad(
        "conll2012", line12(0, parse="(A*)", sense="01", roles="(ARG0*)"), "E238", 1, "do not mark it as V"
    ),
    "overlapping roles": Bad(
        "conll2012",
        line12(0, sense="01", roles="(V*)") + line12(1, roles="(ARG1*") + line12(2, roles="(ARG2*))"),
        "E239",
        3,
        "the roles ARG1 and ARG2 of 'verb' overlap",
    ),
    "document in a document": Bad(
        "conll2012", BEGIN + line12(0, parse="(A*)") + "\n" + BEGIN, "E227", 4, "a document begins inside another"
    ),
    "document ends twice": Bad(
        "conll2012", BEGIN + line12(0, parse="(A*)") + END + "\n" + END, "E227", 5, "ends, but none was begun"
    ),
    "sentence of another document": Bad(
        "conll2012",
        BEGIN + line12(0, parse="(A*)", document="dog 0") + END,
        "E228",
        2,
        "is not of the document 'doc 0'",
    ),
    "document cut off": Bad(
        "conll2012", "\n" + BEGIN + line12(0, parse="(A*)"), "E229", 2, "'doc 0' has no end: the file is cut off"
    ),
}
COLUMNS = {
    "uneven columns": Bad("columns", "a X\nb X Y\n", "E240", 2, "3 columns instead of 2", options=TAG),
    "missing tag": Bad("columns", "a X\n\nb Y\nc\n", "E240", 4, "1 column instead of 2", options=TAG),
    "no such column": Bad("columns", "a X\n", "E242", 1, "no column 4 ('t') among 2", options={"column": {"t": 4}}),
    "empty word": Bad("columns", "a\tX\n\tX\n", "E243", 2, "a line without a word", options=TABS),
    "not an IOB tag": Bad("columns", **tags("O PER"), code="E244", line=2, message="'PER' is not an IOB2 tag"),
    "tag without a prefix": Bad("columns", **tags("-PER"), code="E244", line=1, message="'-PER' is not an IOB2 tag"),
    "tag without a label": Bad("columns", **tags("B-"), code="E244", line=1, message="'B-' is not an IOB2 tag"),
    "tag of another scheme": Bad("columns", **tags("S-X"), code="E244", line=1, message="'S-X' is not an IOB2 tag"),
    "I without B": Bad("columns", **tags("O I-PER"), code="E245", line=2, message="'I-PER' continues no PER span"),
    "I of another label": Bad("columns", **tags("B-LOC I-PER"), code="E245", line=2, message="'I-PER' continues no"),
    "E without B": Bad("columns", **tags("E-X", "iobes"), code="E245", line=1, message="'E-X' continues no X span"),
    "I after S": Bad("columns", **tags("S-X I-X", "iobes"), code="E245", line=2, message="'I-X' continues no X span"),
    "B without E": Bad("columns", **tags("B-X O", "iobes"), code="E246", line=2, message="'O' leaves a X span"),
    "end without E": Bad("columns", **tags("B-X I-X", "iobes"), code="E247", line=2, message="X span is not ended"),
}
PACKED = gzip.compress(ONE.encode() * 5000, mtime=0)
UNREADABLE = {
    "not UTF-8": Bad("conllu", ONE.encode() + "é".encode("latin-1"), "E201", 3, "not UTF-8"),
    "UTF-16": Bad("columns", "a X\n".encode("utf-16"), "E201", 1, "not UTF-8", options=TAG),
    "gzip cut off at once": Bad("conllu", b"\x1f\x8b\x08\x00", "E202", 0, "not a complete gzip file", ending=".gz"),
    "gzip cut off later": Bad("conllu", PACKED[:-9], "E202", 10000, "not a complete gzip file", ending=".gz"),
    "gzip with a wrong sum": Bad(
        "conllu", PACKED[:-8] + b"\0" * 8, "E202", 10000, "not a complete gzip file", ending=".gz"
    ),
    "text called gzip": Bad("brackets", "(A (B c))\n", "E202", 0, "not a complete gzip file", ending=".gz"),
}
MALFORMED: dict[str, Bad] = {**CONLLU, **BRACKETS, **CONLL2012, **COLUMNS, **UNREADABLE}
