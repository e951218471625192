"""Broken tables and JSON files, one defect each: the format, its options, the file, and the error's place and words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mtlspec.data.blocks import LONGEST_LINE


@dataclass(frozen=True)
class Broken:
    reader: str
    options: Mapping[str, Any]
    text: str | bytes
    error: str  # what comes after the file's name: `:2: error E701: ...`


def table(content: str | bytes, error: str, **options: Any) -> Broken:
    """A table with a header, the text in column `s` and a label in column `l`, unless said otherwise."""
    return Broken("table", {"text": ["s"], "label": {"l": "l"}, **options}, content, error)


def bare(content: str | bytes, error: str, **options: Any) -> Broken:
    """A table without a header: text, label."""
    return table(content, error, **{"header": False, "text": [0], "label": {"l": 1}, **options})


def quoted(content: str | bytes, error: str, **options: Any) -> Broken:
    """CSV with its usual quoting."""
    return table(content, error, **{"delimiter": "comma", "quotes": "csv", **options})


def jsonl(content: str | bytes, error: str, **options: Any) -> Broken:
    return Broken("jsonl", {"text": ["s"], "label": {"l": "l"}, **options}, content, error)


def listed(content: str, error: str, **options: Any) -> Broken:
    return Broken("json", {"text": ["s"], "label": {"l": "l"}, **options}, content, error)


H = "s\tl\n"
DROP = "; `on_invalid: drop` leaves such rows out"
DROP_IT = "; `on_invalid: drop` leaves such examples out"
FILE = "; is this a text file, and a whole one?"
DAMAGED = "; such a file is damaged"
LINE = "; one JSON object a line; is the line cut off?"
CLOSE = "; close it, or say `quotes: text` if quotes are characters like any other"
MISSING = "; list it in `missing` if it means that there is none"
NUMBERS: dict[str, Any] = {"label": {}, "value": {"v": "v"}}
AB: dict[str, Any] = {"classes": {"l": ["a", "b"]}}
WORDS: dict[str, Any] = {"text": [], "words": "w", "label": {}, "tags": {"t": "t"}}

ROWS = {
    "too few cells": table(H + "a\tx\nb\n", ":3: error E701: 1 cell instead of 2" + DROP),
    "too many cells": table(H + "a\tx\nb\ty\tz\n", ":3: error E701: 3 cells instead of 2" + DROP),
    "a row of blanks": table(H + "  \n", ":2: error E701: 1 cell instead of 2" + DROP),
    "blank lines count": table(H + "\n\na\n", ":4: error E701: 1 cell instead of 2" + DROP),
    "no delimiter to cut at": bare(
        "a b c\nx\n", ":2: error E701: 1 cell instead of 2" + DROP, delimiter="space", cuts=1
    ),
    "ragged without a header": bare("a\tx\nb\ty\tz\n", ":2: error E701: 3 cells instead of 2" + DROP),
    "comma in a cell without quotes": quoted(
        "s,l\na,b,x\n", ":2: error E701: 3 cells instead of 2; a cell with a delimiter in it must stand in quotes"
    ),
    "line of a later cell": quoted(
        's,l\n"a\nb",x\nc\n', ":4: error E701: 1 cell instead of 2; a cell with a delimiter in it must stand in quotes"
    ),
}
HEADERS = {
    "no such column": table("s\tlab\na\tx\n", ":1: error E702: the header has no column 'l'; known: lab, s"),
    "misspelt column": table(
        "sentence\tlabel\na\tx\n",
        ":1: error E702: the header has no column 'sentense'; did you mean 'sentence'?",
        text=["sentense"],
    ),
    "another case": table("S\tl\na\tx\n", ":1: error E702: the header has no column 's'; known: S, l"),
    "another delimiter": table("s,l\na,x\n", ":1: error E702: the header has no column 's'; is the delimiter right?"),
    "a column twice": table(
        "s\tl\ts\na\tx\tb\n", ":1: error E703: the header names 's' twice; give its number instead, from 0"
    ),
    "header after skipped lines": table(
        "# a\n# b\ns\tx\n", ":3: error E702: the header has no column 'l'; known: s, x", skip=2
    ),
    "number out of range": bare(
        "a\tx\n", ":1: error E706: no column 7 among 2; columns are counted from 0; is the delimiter right?", text=[7]
    ),
    "number before the first": bare(
        "a\tx\n", ":1: error E706: no column -3 among 2; columns are counted from 0; is the delimiter right?", text=[-3]
    ),
    "number in a header": table(
        H + "a\tx\n",
        ":1: error E706: no column 2 among 2; columns are counted from 0; is the delimiter right?",
        text=[2],
    ),
    "empty table": table("", ": error E705: the table is empty; its first row names the columns"),
    "blank table": table("\n\n", ": error E705: the table is empty; its first row names the columns"),
    "nothing but a byte-order mark": table(
        "\ufeff", ": error E705: the table is empty; its first row names the columns"
    ),
    "empty table without a header": bare("", ": error E705: the table is empty"),
    "everything skipped": bare("a\tx\n", ": error E705: the table is empty", skip=1),
    "quote in the header not closed": quoted(
        's,"l\na,x\n', ":1: error E704: a quote of this row is not closed" + CLOSE
    ),
}
QUOTES = {
    "quote not closed": quoted(
        's,l\na,x\n"b,y\nc,z\n', ":3: error E704: a quote of this row is not closed (a row of 2 lines)" + CLOSE
    ),
    "quote closed much later": quoted(
        's,l\n"b,y\n' + "c,z\n" * 1500 + '",x\n',
        ":2: error E704: a quote of this row is not closed (a row of 1000 lines)" + CLOSE,
    ),
    "cell without an end": quoted(
        's,l\n"' + "b" * 140000 + '",x\n', ":2: error E704: a quote of this row is not closed" + CLOSE
    ),
    "quote closed by that of another row": quoted(
        's,l\n"b,y\nc,z\n"d",y\n',
        ":2: error E707: text follows the closing quote of a cell (a row of 3 lines); "
        'write a quote inside of a cell as `""`',
    ),
    "text after a quote": quoted(
        's,l\na,x\n"b"c,y\n',
        ':3: error E707: text follows the closing quote of a cell; write a quote inside of a cell as `""`',
    ),
    "backslash before a quote": quoted(
        's,l\n"a \\" b",x\n',
        ':2: error E707: text follows the closing quote of a cell; write a quote inside of a cell as `""`',
    ),
    "carriage return in a cell": quoted(
        "s,l\na\rb,x\n",
        ":2: error E707: a carriage return in a cell without quotes; such a cell must stand in quotes",
    ),
}
LABELS = {
    "unknown class": table(H + "a\tx\n", ":2: error E711: 'x' is no class of 'l'; known: a, b", **AB),
    "near class": table(
        H + "a\tentailmnt\n",
        ":2: error E711: 'entailmnt' is no class of 'l'; did you mean 'entailment'?",
        classes={"l": ["entailment", "neutral"]},
    ),
    "class with a blank inside": table(H + "a\ta b\n", ":2: error E711: 'a b' is no class of 'l'; known: a, b", **AB),
    "not in the mapping": table(
        H + "a\t2\n", ":2: error E711: '2' is no class of 'l'; known: 0, 1", classes={"l": {"0": "no", "1": "yes"}}
    ),
    "a class's name for its sign": table(
        H + "a\tyes\n", ":2: error E711: 'yes' is no class of 'l'; known: 0, 1", classes={"l": {"0": "no", "1": "yes"}}
    ),
    "one of many classes": table(
        H + "a\t99\n",
        ":2: error E711: '99' is no class of 'l'; `classes` of the reader knows 20",
        classes={"l": [f"class {number}" for number in range(20)]},
    ),
    "columns in the wrong order": bare(
        "x\tThe sun.\n", ":1: error E711: 'The sun.' is no class of 'l'; known: a, b", **AB
    ),
    "not a number": table(
        "s\tv\na\t1.5\nb\thigh\n", ":3: error E712: 'high' is not a number, but 'v' holds numbers" + MISSING, **NUMBERS
    ),
    "decimal comma": table(
        "s\tv\na\t1,5\n", ":2: error E712: '1,5' is not a number, but 'v' holds numbers" + MISSING, **NUMBERS
    ),
    "digits with underscores": table(
        "s\tv\na\t1_5\n", ":2: error E712: '1_5' is not a number, but 'v' holds numbers" + MISSING, **NUMBERS
    ),
    "nan": table("s\tv\na\tnan\n", ":2: error E712: 'nan' is not a number, but 'v' holds numbers" + MISSING, **NUMBERS),
    "too large": table(
        "s\tv\na\t1e999\n", ":2: error E712: '1e999' is not a number, but 'v' holds numbers" + MISSING, **NUMBERS
    ),
    "empty text": table(H + "\tx\n", ":2: error E713: the text 's' is empty" + DROP_IT),
    "blank text": table(H + "a\tx\n \tx\n", ":3: error E713: the text 's' is empty" + DROP_IT),
    "empty second text": bare(
        "a\t\tx\n", ":1: error E713: the text '1' is empty" + DROP_IT, text=[0, 1], label={"l": 2}
    ),
    "no words": table("w\tt\n \tX\n", ":2: error E716: 'w' must be words, not the text ' '", **WORDS),
    "fewer tags than words": table("w\tt\na b\tX\n", ":2: error E718: 1 tag in 't', but 2 words", **WORDS),
}
BYTES = {
    "Latin-1": table(
        H.encode() + "café\tx\n".encode("latin-1"), ":2: error E201: not UTF-8: invalid continuation byte"
    ),
    "UTF-16": table(H.encode("utf-16"), ":1: error E201: not UTF-8: invalid start byte"),
    "UTF-16 without a mark": table(H.encode("utf-16-le"), ":1: error E268: a line with a NUL byte" + FILE),
    "NUL in a table": table(H + "a\0b\tx\n", ":2: error E268: a line with a NUL byte" + FILE),
    "NUL in JSON": jsonl(b'{"s": "a"}\n\0\n', ":2: error E268: a line with a NUL byte" + FILE),
    "endless line": table(
        H + "a" * (LONGEST_LINE + 1), f":2: error E268: a line of more than {LONGEST_LINE:,} bytes" + FILE
    ),
    "JSON in UTF-16": jsonl('{"s": "a"}'.encode("utf-16"), ":1: error E201: not UTF-8: invalid start byte"),
}
OBJECTS = {
    "not JSON": jsonl("premise: a\n", ":1:1: error E720: not JSON: Expecting value" + LINE),
    "line cut off": jsonl(
        '{"s": "a", "l": "x"}\n{"s": "b\n', ":2:7: error E720: not JSON: Unterminated string starting at" + LINE
    ),
    "single quotes": jsonl(
        "{'s': 'a'}\n", ":1:2: error E720: not JSON: Expecting property name enclosed in double quotes" + LINE
    ),
    "two objects a line": jsonl('{"s": "a"} {"s": "b"}\n', ":1:12: error E720: not JSON: Extra data" + LINE),
    "spread over lines": jsonl('[\n{"s": "a"}\n]\n', ":1:2: error E720: not JSON: Expecting value" + LINE),
    "line break in a text": jsonl('{"s": "a\tb"}\n', ":1:9: error E720: not JSON: Invalid control character at" + LINE),
    "a list": jsonl('["a", "x"]\n', ":1: error E722: an example must be a JSON object, not a list"),
    "a text": jsonl('"a"\n', ":1: error E722: an example must be a JSON object, not the text 'a'"),
    "a number": jsonl('{"s": "a"}\n7\n', ":2: error E722: an example must be a JSON object, not 7"),
    "a null": jsonl("null\n", ":1: error E722: an example must be a JSON object, not null"),
    "a field twice": jsonl(
        '{"s": "a", "s": "b"}\n', ":1: error E721: JSON that cannot be used: the field 's' stands twice"
    ),
    "NaN": jsonl('{"s": "a", "l": NaN}\n', ":1: error E721: JSON that cannot be used: NaN is not JSON"),
    "Infinity": jsonl(
        '{"s": "a", "l": -Infinity}\n', ":1: error E721: JSON that cannot be used: -Infinity is not JSON"
    ),
    "nested without end": jsonl("[" * 200000 + "\n", ":1: error E721: JSON that cannot be used: nested too deeply"),
    "a text that is a list": jsonl('{"s": ["a", "b"]}\n', ":1: error E715: 's' must be a text, not a list"),
    "a text that is an object": jsonl('{"s": {"t": "a"}}\n', ":1: error E715: 's' must be a text, not a mapping"),
    "a text that is a number": jsonl('{"s": 7}\n', ":1: error E715: 's' must be a text, not 7"),
    "no text": jsonl('{"l": "x"}\n', ": error E738: the file has no field 's'; known: l"),
    "null text": jsonl('{"s": null}\n', ":1: error E713: the text 's' is empty" + DROP_IT),
    "a path that ends early": jsonl(
        '{"s": "a"}\n', ": error E738: the file has no field 's.t'; known: s", text=["s.t"]
    ),
    "a label that is a list": jsonl(
        '{"s": "a", "l": []}\n', ":1: error E714: 'l' must be one label or number, not an empty list"
    ),
    "a label that is an object": jsonl(
        '{"s": "a", "l": {"x": 1}}\n', ":1: error E714: 'l' must be one label or number, not a mapping"
    ),
    "a boolean that is no class": jsonl(
        '{"s": "a", "l": true}\n', ":1: error E711: 'true' is no class of 'l'; known: a, b", **AB
    ),
    "a boolean for a number": jsonl(
        '{"s": "a", "v": true}\n', ":1: error E712: 'true' is not a number, but 'v' holds numbers" + MISSING, **NUMBERS
    ),
    "half a character": jsonl('{"s": "a\\ud83d"}\n', ":1: error E717: 's' holds half of a surrogate pair" + DAMAGED),
    "an escaped NUL": jsonl('{"s": "a\\u0000"}\n', ":1: error E710: 's' holds a NUL character" + DAMAGED),
    "words that are none": jsonl(
        '{"w": ["a", ""]}\n', ":1: error E990: word 2 of 'w' must be a text, not an empty text", **WORDS
    ),
    "words that are a number": jsonl('{"w": 3}\n', ":1: error E716: 'w' must be words, not 3", **WORDS),
    "tags that are a number": jsonl(
        '{"w": ["a"], "t": 3}\n', ":1: error E719: 't' must be a list of tags, not 3", **WORDS
    ),
    "more tags than words": jsonl(
        '{"w": ["a"], "t": ["X", "Y"]}\n', ":1: error E718: 2 tags in 't', but 1 word", **WORDS
    ),
    "number of a line after skipped ones": jsonl(
        '{"header": 1}\n\n3\n', ":3: error E722: an example must be a JSON object, not 3", skip=1
    ),
}
LISTS = {
    "a list that is cut off": listed(
        '[\n{"s": "a"},\n', ":2:12: error E770: not JSON: Expecting value; is the file cut off?"
    ),
    "no comma": listed(
        '[{"s": "a"}\n{"s": "b"}]', ":2:1: error E770: not JSON: Expecting ',' delimiter; is the file cut off?"
    ),
    "a list of deep lists": listed("[" * 200000, ": error E771: JSON that cannot be used: nested too deeply"),
    "no list": listed(
        '\n{"s": "a"}',
        ":2: error E772: the file is not a JSON list; name the field that holds the list with `under`; objects line by "
        "line have the reader `jsonl`",
    ),
    "no list in the field": listed(
        '{"v": 1,\n"d": {}}',
        ":2: error E772: the field 'd' is not a JSON list; name the field that holds the list with `under`; objects "
        "line by line have the reader `jsonl`",
        under="d",
    ),
    "no such field": listed(
        '{"v": []}', ": error E773: the file has no field 'd'; correct `under` of the reader", under="d"
    ),
    "an element without its text": listed(
        '[{"s": "a"},\n {"s": null}]', ":2: error E713: the text 's' is empty" + DROP_IT
    ),
    "an element that is a text": listed('["a"]', ":1: error E722: an example must be a JSON object, not the text 'a'"),
}

BROKEN: dict[str, Broken] = {**ROWS, **HEADERS, **QUOTES, **LABELS, **BYTES, **OBJECTS, **LISTS}
