"""Signatures of scores: one line that says how a score was made and of which data, for papers to print.

    las|metric:attachment|rule:unicode_p|subtypes:yes|layer:dep|data:english_mini/test@e7e38bd55985|reader:conllu@…|…

Two scores with the same signature may be compared.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from mtlspec.data.file_patterns import split_files
from mtlspec.io.digest import digest_value
from mtlspec.metrics.metric import Metric
from mtlspec.plan.code import OWN, PACKAGE, reached

Card = Mapping[str, Any]  # a data card, as records and parameters of stages have it
_FEW = 3  # labels that are named one by one


def signature(score: str, metric: Metric, card: Card, layer: str, split: str) -> str:
    """Of a score by its name, such as `las`, on a split of a corpus.

    The digest after a split is the sha256 of its file, or of the digests of its files where there are several. The one
    after the reader is of its options; that of the code is of the sources that compute the metric.
    """
    about = metric.describe()
    options = {name: value for name, value in about.items() if name not in ("type", "main")}  # `main`: which decides
    fields = {
        "metric": about["type"],
        **{name: value for name, value in options.items() if value is not None},
        "layer": layer,
        **dict(_data(card, layer, split)),
        "version": _version(),
        "code": _code(metric),
    }
    return "|".join([_plain(score), *(f"{name}:{_said(value)}" for name, value in fields.items())])


def mean_signature(signatures: Mapping[str, str]) -> str:
    """Of the mean of several scores: `task/score` -> its own."""
    return f"mean|of:{'+'.join(map(_plain, signatures))}|signatures:{digest_value(list(signatures.values()))[:8]}"


def _data(card: Card, layer: str, split: str) -> Iterator[tuple[str, str]]:
    """What was read, and by what; a split that is held out is read from the training files."""
    shares = card.get("hold_out") or {}
    held = shares.get(split) is not None
    groups = [group for group in card["files"] if layer in group["layers"]]
    files = split_files(groups, "train" if held else split, card["sha256"])
    found = [card["sha256"][name] for name in files]
    pinned = "unpinned" if not found else (found[0] if len(found) == 1 else digest_value(found))[:12]
    yield "data", f"{card['name']}/{split}@{pinned}"
    if held:
        yield "held_out", f"{shares[split]:g}@{shares['seed']}"
    for group in groups:
        reader = group["readers"].get(split, group["reader"])
        read = {"reader": reader, "column": group["layers"][layer], "on_invalid": card["on_invalid"]}
        yield "reader", f"{reader['type']}@{digest_value(read)[:8]}"


def _code(metric: Metric) -> str:
    files = reached(type(metric).__module__)
    return digest_value({path: sha for path, sha in files.items() if path.startswith(("metrics/", OWN))})[:8]


def _version() -> str:
    try:
        return importlib.metadata.version(PACKAGE.name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        few = len(value) <= _FEW
        return "+".join(map(_said, value)) if few else f"{len(value)}@{digest_value(list(value))[:8]}"
    return _plain(str(value))


def _plain(text: str) -> str:
    """No blank, bar or colon, and nothing that a terminal or a typesetter would take for something else."""
    return quote(text, safe="/@+.,-_")
