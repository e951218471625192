"""Edit a YAML file of people: one mapping is replaced or added, every other character stays."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import yaml

_PLAIN = re.compile(r"[A-Za-z][\w./-]*")


def with_mapping(text: str, path: Sequence[str], values: Mapping[str, str]) -> str:
    """A sound document with `values`, sorted, as the mapping at `path`; all but the last key must be there."""
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    for part in path[:-1]:
        node = next(value for key, value in node.value if key.value == part)
    assert isinstance(node, yaml.MappingNode) and node.value
    found = next((pair for pair in node.value if pair[0].value == path[-1]), None)
    items = [f"{plain_key(key)}: {value}" for key, value in sorted(values.items())]
    if node.flow_style:
        written = f"{path[-1]}: {{{', '.join(items)}}}"
        start, end = (node.end_mark.index - 1,) * 2 if found is None else (_start(found[0]), _end(found[1]))
        return text[:start] + (", " if found is None else "") + written + text[end:]
    indent = " " * node.value[0][0].start_mark.column
    written = "\n".join([f"{path[-1]}:", *(f"{indent}  {item}" for item in items)])
    if found is not None:
        return text[: _start(found[0])] + written + text[_end(found[1]) :]
    line_end = text.find("\n", _end(node))  # what stands behind the last value, such as a comment, is its own
    last = len(text) if line_end < 0 else line_end
    return f"{text[:last]}\n{indent}{written}{text[last:] or chr(10)}"


def plain_key(key: str) -> str:
    """A key as people write it: quoted only where it must be."""
    return key if _PLAIN.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _start(node: yaml.Node) -> int:
    return int(node.start_mark.index)


def _end(node: yaml.Node) -> int:
    """Behind a node's last character; a block's own mark stands behind the comments and blank lines below it, too."""
    if isinstance(node, yaml.MappingNode | yaml.SequenceNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)
