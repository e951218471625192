"""The guarded YAML reader: YAML 1.2 scalars, places, limits, and one clear line for hostile bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.errors import MtlspecError, Place
from mtlspec.spec.yaml import MAX_BYTES, MAX_DEPTH, MAX_VALUES, parse_yaml, read_yaml

SCALARS: list[tuple[str, Any]] = [
    ("2e-5", 2e-5),
    ("2E+5", 2e5),
    ("1.", 1.0),
    (".5", 0.5),
    ("-.5e1", -5.0),
    ("0", 0),
    ("-0", 0),
    ("+12", 12),
    ("007", 7),
    ("0o17", 15),
    ("0x1F", 31),
    ("0b11", "0b11"),
    ("017x", "017x"),
    ("1_000", "1_000"),
    ("1:30", "1:30"),
    ("2001-01-01", "2001-01-01"),
    ("yes", "yes"),
    ("no", "no"),
    ("on", "on"),
    ("off", "off"),
    ("y", "y"),
    ("true", True),
    ("True", True),
    ("FALSE", False),
    ("tRUE", "tRUE"),
    ("null", None),
    ("~", None),
    ("", None),
    ("Null", None),
    ("none", "none"),
    (".", "."),
    ("e5", "e5"),
    ("1e", "1e"),
    ("=", "="),
    ("9223372036854775807", 2**63 - 1),
    ("-9223372036854775807", -(2**63) + 1),
    ("'1'", "1"),
    ('"no"', "no"),
    ("'.nan'", ".nan"),
    ("a\n  b", "a b"),
    ("|\n  a\n  b\n", "a\nb\n"),
    ('"\\u00e9\\t"', "é\t"),
]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_scalars_are_those_of_yaml_1_2(text: str, value: Any) -> None:
    read = parse_yaml(f"key: {text}".encode(), "f").plain()["key"]
    assert read == value
    assert type(read) is type(value)


BAD: list[tuple[bytes, str]] = [
    (b"a: .nan", "f:1:4: error E112: .nan is not a finite number"),
    (b"a: -.inf", "f:1:4: error E112: -.inf is not a finite number"),
    (b"a: 1e999", "f:1:4: error E112: 1e999 is too large"),
    (b"a: 9223372036854775808", "f:1:4: error E112: a whole number must fit in 64 bits"),
    (b"a: 0x" + b"F" * 5000, "f:1:4: error E112: a number of 5000 characters is too long"),
    (b"a: " + b"9" * 9999, "f:1:4: error E112: a number of 9999 characters is too long"),
    (b"a: !!str 1", "f:1:4: error E111: tags (`tag:yaml.org,2002:str`) are not allowed"),
    (b"a: !!python/object/apply:os.system [x]", "tags (`tag:yaml.org,2002:python/object/apply:os.system`) are not"),
    (b"a: &x 1", "f:1:4: error E110: anchors (`&x`) are not allowed; use `extends`, or say it twice"),
    (b"a: *x", "f:1:4: error E109: aliases (`*x`) are not allowed; use `extends`, or say it twice"),
    (b"<<: {a: 1}", "f:1:1: error E115: merge keys (`<<`) are not allowed; use `extends`"),
    (b"a: 1\nb: 2\na: 3", "f:3:1: error E116: the key 'a' stands twice; it stands first in line 1"),
    (b"a: 1\n---\nb: 2", "f:2:1: error E107: a file holds one document; delete `---`"),
    (b"%YAML 1.1\n---\na: 1", "f:1:1: error E106: YAML directives (`%`) are not allowed"),
    (b"? [a]\n: 1", "f:1:3: error E119: a key must be a text"),
    (b"? {a: 1}\n: 1", "f:1:3: error E119: a key must be a text"),
    (b"'': 1", "f:1:1: error E114: a key is empty"),
    (b"~: 1", "f:1:1: error E114: a key is empty"),
    (b"a: [1, 2\n", "f:1:4: error E121: not valid YAML: what begins here is not closed"),
    (b'a: "x', "f:1:4: error E121: not valid YAML: what begins here is not closed"),
    (b"\ta: 1", "f:1:1: error E121: not valid YAML: found character that cannot start any token; indent with spaces"),
    (b"a:\n\tb: 1", "f:2:1: error E121: not valid YAML: found character that cannot start any token; indent with"),
    (b"a: b: c", "f:1:5: error E121: not valid YAML: mapping values are not allowed in this context"),
    (b"a: 1\n\xc3\xa9: \x00", "f:2:4: error E105: the character U+0000 is not allowed; delete it"),
    (b"a: \x1b[31m", "f:1:4: error E105: the character U+001B is not allowed; delete it"),
    ("a: 1\u2028b: 2".encode(), "f:1:5: error E105: the character U+2028 is not allowed; delete it"),
    ("a: \ufeffb".encode(), "f:1:4: error E105: the character U+FEFF is not allowed; delete it"),
    (b'a: "\\0"', "f:1:4: error E113: the character U+0000 is not allowed"),
    (b'"a\\a": 1', "f:1:1: error E117: the character U+0007 is not allowed in a key"),
    (b'a: "\\ud800"', "f:1:7: error E121: not valid YAML: found invalid Unicode character escape code"),
    (b"a: 1\nb: \xff\xfe", "f:2:4: error E104: not UTF-8; save the file as UTF-8"),
    ("a: 1".encode("utf-16"), "f:1:1: error E104: not UTF-8; save the file as UTF-8"),
    (b"%FOO\n" + b"%YAML 1." + b"9" * 5000, "error E121: not valid YAML"),
]


@pytest.mark.parametrize(("data", "message"), BAD, ids=[str(data[:24]) for data, _ in BAD])
def test_bad_yaml_is_one_line_with_a_place(data: bytes, message: str) -> None:
    with pytest.raises(MtlspecError) as caught:
        parse_yaml(data, "f")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_several_problems_come_together() -> None:
    with pytest.raises(MtlspecError) as caught:
        parse_yaml(b"a: &x 1\na: *x\nb: .nan\nc: [", "f")
    assert [problem.code for problem in caught.value.problems] == ["E110", "E116", "E109", "E112", "E121"]


def test_an_alias_bomb_is_refused_at_once() -> None:
    bomb = b"a: &a [x, x]\n" + b"".join(b"%c: &%c [*%c, *%c]\n" % (98 + i, 98 + i, 97 + i, 97 + i) for i in range(20))
    with pytest.raises(MtlspecError) as caught:
        parse_yaml(bomb, "f")
    assert 2 <= len(caught.value.problems) <= 20


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "{a: " * 50_000, "? " * 10_000])
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(MtlspecError) as caught:
        parse_yaml(text.encode(), "f")
    assert caught.value.code in ("E118", "E119")


def test_limits_are_exact() -> None:
    parse_yaml(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, "f")
    with pytest.raises(MtlspecError, match="nested deeper"):
        parse_yaml(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "f")
    parse_yaml(b"[" + b"1," * (MAX_VALUES - 1) + b"]", "f")
    with pytest.raises(MtlspecError, match="more than"):
        parse_yaml(b"[" + b"1," * MAX_VALUES + b"]", "f")
    parse_yaml(b"#" * MAX_BYTES, "f")
    with pytest.raises(MtlspecError, match="larger than 1 MiB"):
        parse_yaml(b"#" * (MAX_BYTES + 1), "f")


def test_a_byte_order_mark_at_the_start_is_skipped() -> None:
    node = parse_yaml(b"\xef\xbb\xbfa: 1", "f")
    assert node.plain() == {"a": 1}
    assert node.value["a"].key == Place("f", 1, 1)  # type: ignore[index,call-overload]


def test_places_count_characters_from_one() -> None:
    node = parse_yaml("é: [ü, {b: 1}]\r\nc:\r\n  d: x\r\n".encode(), "f")
    inner = node.get("é", 1, "b")
    assert inner is not None
    assert (inner.key, inner.place) == (Place("f", 1, 9), Place("f", 1, 12))
    last = node.get("c", "d")
    assert last is not None
    assert (last.key, last.place) == (Place("f", 3, 3), Place("f", 3, 6))


def test_an_empty_file_is_null() -> None:
    assert parse_yaml(b"", "f").plain() is None
    assert parse_yaml(b"# only a comment\n", "f").plain() is None


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(MtlspecError, match="f: error E101: the file does not exist"):
        read_yaml(tmp_path / "missing.yaml", "f")
    with pytest.raises(MtlspecError, match="f: error E102: the file cannot be read: Is a directory"):
        read_yaml(tmp_path, "f")


@given(st.binary(max_size=200))
def test_any_bytes_give_a_tree_or_our_error(data: bytes) -> None:
    try:
        parse_yaml(data, "f").plain()
    except MtlspecError as error:
        assert all(problem.place is not None for problem in error.problems)


@given(st.text(alphabet="ab:-[]{}&*!|>'\"%@`?,# \n\t\\01.~<é", max_size=60))
def test_any_markup_gives_a_tree_or_our_error(text: str) -> None:
    try:
        parse_yaml(text.encode(), "f").plain()
    except MtlspecError as error:
        assert all(problem.place is not None for problem in error.problems)
