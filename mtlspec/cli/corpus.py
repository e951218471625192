"""A corpus on the terminal: what `mtlspec data stats` shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mtlspec.cli import console
from mtlspec.io.words import counted

if TYPE_CHECKING:
    from mtlspec.data.tokenizer import WordTokenizer
    from mtlspec.errors import DataError
    from mtlspec.io.project import Project
    from mtlspec.spec.cards import DataCard

_TOP = 6  # labels of a layer in the overview
_BAR = 30  # characters of the longest bar
_DEFECTS = 10  # dropped sentences that are shown


def say_corpus(card: DataCard, statistics: Mapping[str, Any], dropped: Mapping[str, Sequence[DataError]]) -> None:
    """One page: sizes, lengths, layers, and what was left out."""
    from mtlspec.data.statistics import statistics_rows

    sentences, words = (sum(statistics[key].values()) for key in ("sentences", "tokens"))
    console.say(f"{card.name}: {card.title or card.source}", style="bold")
    console.say(f"{counted(words, 'word')} in {counted(sentences, 'sentence')}; licence {card.licence}\n")
    tables = {title: (columns, rows) for title, columns, rows in statistics_rows(statistics)}
    columns, size = tables["Size"]
    console.say_table(columns, [[_grouped(cell) for cell in row] for row in size])
    console.say()
    _say_numbers("Sentences in two splits", *tables["Sentences in two splits"])
    console.say()
    _say_lengths(*tables["Words per sentence"])
    console.say()
    _say_numbers("Labelled examples", *tables["Labelled examples"])
    console.say()
    _say_layers(card, statistics)
    _say_dropped(dropped)


def say_labels(statistics: Mapping[str, Any], layer: str) -> None:
    """Every label of one layer with its share of train."""
    counts = statistics["labels"].get(layer, {})
    splits = tuple(statistics["sentences"])
    if not counts:  # numbers, or nothing at all
        carried = sum(statistics["labelled examples"][layer].values())
        console.say(f"{layer} has no labels to count; {carried:,} examples carry it")
        return
    whole = max(sum(by.get("train", 0) for by in counts.values()), 1)
    longest = max((by.get("train", 0) for by in counts.values()), default=0)
    rows = []
    for label, by in counts.items():
        train = by.get("train", 0)
        numbers = (f"{by.get(split, 0):,}" for split in splits)
        rows.append((label, *numbers, f"{100 * train / whole:.1f} %", _bar(train, longest)))
    console.say_table(("label", *splits, "of train", ""), rows, f"{counted(len(counts), 'label')} of {layer}")


def tokenizer_of(name: str, project: Project) -> WordTokenizer:
    """The tokenizer of an encoder card, fetched into a folder that goes away."""
    import tempfile
    from pathlib import Path

    from mtlspec.data.tokenizer import WordTokenizer
    from mtlspec.errors import DataError
    from mtlspec.model.encoder.request import Request
    from mtlspec.spec.load import load_encoder_card
    from mtlspec.stages.context import silent

    card = load_encoder_card(name, project)
    if card.source.learns_from_data:
        message = f"the encoder '{name}' learns its sub-tokens from an experiment's data"
        raise DataError("E291", message, hint="the report of a run that uses it counts them")
    with tempfile.TemporaryDirectory(prefix="mtlspec-") as folder:
        request = Request(name, Path(folder), project.root, {}, None, "cpu", silent)
        card.source.fetch(request)
        return WordTokenizer.load(Path(folder))


def _say_numbers(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    console.say_table(columns, [[_grouped(cell) for cell in row] for row in rows], title)


def _say_lengths(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    longest = max((int(row[1]) for row in rows), default=0)
    cells = [(*map(_grouped, row), _bar(int(row[1]), longest)) for row in rows]
    console.say_table((*columns, ""), cells, "Words per sentence")


def _say_layers(card: DataCard, statistics: Mapping[str, Any]) -> None:
    rows = []
    for layer, kind in card.layer_kinds.items():
        counts = statistics["labels"].get(layer, {})
        train = {label: number for label, by in counts.items() if (number := by.get("train", 0))}
        whole = max(sum(train.values()), 1)
        new = statistics["labels only in dev or test"].get(layer, [])
        top = ", ".join(f"{label} {100 * n / whole:.0f} %" for label, n in list(train.items())[:_TOP])
        more = f", {len(train) - _TOP} more" if len(train) > _TOP else ""
        known = (f"{len(counts)}", ", ".join(new) or "none", top + more) if counts else ("–", "–", "–")
        rows.append((layer, kind, *known))
    columns = ("layer", "kind", "labels", "not in train", "most frequent in train")
    console.say_table(columns, rows, f"Layers (all labels of one: `mtlspec data stats {card.name} --layer NAME`)")


def _say_dropped(dropped: Mapping[str, Sequence[DataError]]) -> None:
    found = [defect for defects in dropped.values() for defect in defects]
    defects = [str(defect) for defect in found]
    if not defects:
        return
    lines = sum(defect.lines for defect in found)
    swallowed = f", which are {lines:,} lines" if lines > len(found) else ""
    console.say(f"\nLeft out because the card says `on_invalid: drop`: {counted(len(found), 'sentence')}{swallowed}")
    for line in defects[:_DEFECTS]:
        console.say(f"  {line}")
    if len(defects) > _DEFECTS:
        console.say(f"  and {len(defects) - _DEFECTS:,} more")


def _bar(number: int, longest: int) -> str:
    """At least a sliver where there is anything at all."""
    return ("█" * round(_BAR * number / longest) or "▏") if number else ""


def _grouped(cell: str) -> str:
    return f"{int(cell):,}" if cell.isdigit() else cell or "–"
