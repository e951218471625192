"""Whatever the bytes of a file: a reader gives sentences or one clear error, never a traceback."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec import kinds
from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError
from mtlspec.spec.families import READERS
from tests.unit.data.malformed import line12, row

EXAMPLE: dict[str, Any] = {"text": ["s"], "label": {"l": "l"}, "value": {"v": "v"}, "classes": {"l": ["x", "y"]}}
WORDS: dict[str, Any] = {"words": "w", "tags": {"t": "t"}}
QUOTED: dict[str, Any] = {"delimiter": "comma", "quotes": "csv"}
OBJECTS = [{"s": 'Él "o"', "l": "x", "v": 1.5}, {"s": "b", "l": None, "v": 2, "n": {"m": [1]}}]


def _arrow() -> bytes:
    table = pa.table({"s": ["a", "b"], "l": ["x", None], "v": [1.5, 2.0]})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def _stream() -> bytes:
    table = pa.table({"s": ["a", "b"], "l": ["x", None], "v": [1.5, 2.0]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


SOUND: dict[str, tuple[str, dict[str, Any], bytes]] = {
    "table": ("table", EXAMPLE, '\ufeffs\tl\tv\r\nÉl "o"\tx\t1.5\r\nb\t\t2\r\n'.encode()),
    "csv": ("table", EXAMPLE | QUOTED, b's,l,v\n"a ""b"",\nc",x,1.5\nd,y,\n'),
    "words": ("table", WORDS, b"w\tt\na b\tX Y\nc\t\n"),
    "numbers": (
        "table",
        {"header": False, "delimiter": "space", "cuts": 1, "text": [1], "label": {"l": 0}},
        b"1 a b\n0 c\n",
    ),
    "jsonl": ("jsonl", EXAMPLE, "\n".join(map(json.dumps, OBJECTS)).encode()),
    "json": ("json", EXAMPLE, json.dumps(OBJECTS, indent=1).encode()),
    "json under": ("json", EXAMPLE | {"under": "d"}, json.dumps({"v": 1, "d": OBJECTS}).encode()),
    "parquet": ("arrow", EXAMPLE, _arrow()),
    "stream": ("arrow", EXAMPLE, _stream()),
    "conllu": ("conllu", {}, ("# c\n" + row(1) + row(2, 1) + "\n" + row(1)).encode()),
    "brackets": ("brackets", {}, b"(S (A a) (B (C b)))\n(())\n"),
    "conll2012": ("conll2012", {}, (line12(0, parse="(A*)", sense="01", roles="(V*)") * 1).encode()),
    "columns": ("columns", {"column": {"t": 1}, "spans": {"t": "iob2"}}, b"a B-X\nb I-X\n\nc O\n"),
}


def read(case: str, content: bytes) -> list[Sentence] | DataError:
    name, options, _ = SOUND[case]
    reader = kinds.load(READERS, name).Options.model_validate({"type": name, **options})
    assert reader.problem() is None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x"
        file.write_bytes(content)
        try:
            return list(reader.read(file))
        except DataError as error:
            assert "\n" not in str(error) and error.place is not None and error.place.file == str(file)
            return error


def flipped(content: bytes, at: int, bit: int) -> bytes:
    at %= len(content)
    return content[:at] + bytes([content[at] ^ (1 << bit)]) + content[at + 1 :]


Damage = Callable[[bytes], bytes]
DAMAGE: st.SearchStrategy[Damage] = st.one_of(
    st.builds(lambda at, bit: lambda content: flipped(content, at, bit), st.integers(0, 9999), st.integers(0, 7)),
    st.builds(lambda at: lambda content: content[: at % len(content)], st.integers(0, 9999)),
    st.builds(
        lambda at, new: lambda content: content[: at % len(content)] + new + content[at % len(content) :],
        st.integers(0, 9999),
        st.binary(max_size=8),
    ),
)


@pytest.mark.parametrize("case", SOUND)
def test_the_sound_files_are_sound(case: str) -> None:
    assert isinstance(read(case, SOUND[case][2]), list)


@pytest.mark.parametrize("case", SOUND)
@settings(max_examples=60)
@given(damage=st.lists(DAMAGE, min_size=1, max_size=3))
def test_damaged_files_give_sentences_or_one_clear_error(case: str, damage: list[Damage]) -> None:
    content = SOUND[case][2]
    for change in damage:
        content = change(content) or b"\n"
    read(case, content)


@pytest.mark.parametrize("case", SOUND)
@settings(max_examples=60)
@given(content=st.binary(max_size=200))
def test_any_bytes_give_sentences_or_one_clear_error(case: str, content: bytes) -> None:
    read(case, content)


@pytest.mark.parametrize("case", SOUND)
@settings(max_examples=60)
@given(text=st.text(st.sampled_from('\t\n\r ,;"\\{}[]()*_-:.01aé\ufeff\u2028swltv'), max_size=120))
def test_any_signs_of_the_formats_give_sentences_or_one_clear_error(case: str, text: str) -> None:
    header = SOUND[case][2].splitlines(keepends=True)[0] if SOUND[case][0] == "table" else b""
    read(case, header + text.encode())
