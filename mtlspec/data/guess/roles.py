"""What the columns of rows are for: texts, a label, a number, a name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from mtlspec.spec.check_card import TAKEN

Column: TypeAlias = str | int
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_NAMES_OF_LABELS = (
    "gold_label",
    "label",
    "labels",
    "class",
    "category",
    "target",
    "verdict",
    "sentiment",
    "polarity",
    "topic",
    "intent",
    "is_duplicate",
    "quality",
    "entailment_judgment",
    "judgment",
    "judgement",
    "answer",
    "gold",
)
_NAMES_OF_NUMBERS = ("score", "similarity", "relatedness_score", "relatedness", "similarity_score", "value", "rating")
_NAMES_OF_IDS = ("id", "idx", "index", "uid", "guid", "pairid", "pair_id", "uuid", "example_id", "key")
_PAIRS = (
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("sentence_a", "sentence_b"),
    ("text_a", "text_b"),
    ("text1", "text2"),
    ("#1 string", "#2 string"),
    ("question", "sentence"),
    ("question", "passage"),
    ("question", "context"),
    ("query", "passage"),
)
_NAMES_OF_TEXTS = ("text", "sentence", "review", "content", "body", "question", "document", "utterance", "tweet")
_NO_LABEL = ("-", "?", "NA", "N/A", "None", "none", "null")
_MOST_CLASSES = 60
_GUESSED = "a guess: "
KNOWN = frozenset((*_NAMES_OF_LABELS, *_NAMES_OF_NUMBERS, *_NAMES_OF_IDS, *_NAMES_OF_TEXTS)) | {
    name for pair in _PAIRS for name in pair
}


@dataclass(frozen=True)
class Profile:
    """What the cells of one column look like."""

    name: str  # in small letters
    cells: tuple[str, ...]  # those that are filled
    rows: int
    lists: bool = False  # lists of texts instead of texts
    blanked: bool = False  # some cells are `_`, which readers take as: nothing here

    @property
    def distinct(self) -> int:
        return len(set(self.cells))

    @property
    def words(self) -> float:
        return sum(len(cell.split()) for cell in self.cells) / max(len(self.cells), 1)

    @property
    def numeric(self) -> bool:
        return bool(self.cells) and all(NUMBER.fullmatch(cell) for cell in self.cells)

    @property
    def is_number(self) -> bool:
        """A column of numbers to learn, some of which may be damaged."""
        numbers = {cell for cell in self.cells if NUMBER.fullmatch(cell)}
        most = sum(cell in numbers for cell in self.cells) > len(self.cells) / 2
        return self.name in _NAMES_OF_NUMBERS and most and len(numbers) > 2

    @property
    def fractions(self) -> bool:
        return self.numeric and any("." in cell.rstrip("0").rstrip(".") for cell in self.cells)

    @property
    def is_tree(self) -> bool:
        return bool(self.cells) and all(cell.startswith("(") and cell.endswith(")") for cell in self.cells)

    @property
    def is_text(self) -> bool:
        known = self.name in _NAMES_OF_TEXTS or any(self.name in pair for pair in _PAIRS)
        varied = known or self.distinct > 0.2 * len(self.cells) or self.distinct > _MOST_CLASSES
        return self.is_wording and varied and self.words >= (1.5 if known else 3)

    @property
    def is_wording(self) -> bool:
        """Some words, whether many different ones or the same again and again."""
        return not self.numeric and not self.is_tree and self.words >= 1.5

    @property
    def is_name(self) -> bool:
        return self.name in _NAMES_OF_IDS and self.distinct == self.rows == len(self.cells)

    @property
    def is_class(self) -> bool:
        if self.name in _NAMES_OF_LABELS:
            return bool(self.cells) and self.words < 5 and (self.distinct < self.rows or self.rows < 10)
        few = 1 < self.distinct <= _MOST_CLASSES and self.distinct <= max(2, 0.2 * len(self.cells))
        return few and self.words < 5 and not self.fractions


@dataclass(frozen=True)
class Roles:
    """Options of a reader of examples, layers, and what should be looked at."""

    options: dict[str, Any]
    layers: dict[str, str]
    seen: dict[str, str]
    doubts: tuple[str, ...]
    told: bool  # names of columns tell what they are for


def profiles(columns: Mapping[Column, Sequence[Any]]) -> dict[Column, Profile]:
    """Of columns of cells as they stand in a file: texts, numbers, truth values, nulls, lists of texts."""
    found = {}
    for name, cells in columns.items():
        filled = [cell for cell in cells if _is_filled(cell)]
        lists = bool(filled) and all(isinstance(cell, list) for cell in filled)
        if lists and not all(isinstance(word, str | int) for cell in filled for word in cell):
            continue
        if not lists and any(isinstance(cell, list | dict) for cell in filled):
            continue
        shown = tuple(" ".join(map(str, cell)) if lists else _shown(cell) for cell in filled)
        found[name] = Profile(str(name).lower(), shown, len(cells), lists, "_" in cells)
    return found


def _is_filled(cell: Any) -> bool:
    return cell is not None and cell not in ("", "_", [])


def _shown(cell: Any) -> str:
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


def find_roles(columns: Mapping[Column, Sequence[Any]], places: Sequence[str]) -> Roles | None:
    """What each column is for; None if nothing can be read, or nothing learnt. `places`: of the rows, in words."""
    known = profiles(columns)
    doubts: list[str] = []
    options = _input(known, doubts)
    if options is None:
        return None
    used = {*options.get("text", ()), options.get("words")}
    rest = {name: profile for name, profile in known.items() if name not in used and not profile.lists}
    layers: dict[str, str] = {}
    inputs = ("text", options["text"]) if "text" in options else ("words", [options["words"]])
    seen = {inputs[0]: " and ".join(map(_called, inputs[1]))}
    if "words" in options:
        _add_tags(known, options, layers, seen)
    numbers = {name: _no_numbers(columns[name], places) for name, profile in rest.items() if profile.is_number}
    _add_number([name for name in numbers if not numbers[name]], options, layers, seen)
    others = {name: profile for name, profile in rest.items() if name not in numbers or not numbers[name]}
    _add_class(others, options, layers, seen, doubts)
    if not layers:  # then rows whose cell is no number are malformed, and told as such
        _add_number(list(numbers), options, layers, seen)
    if not layers:
        return None
    damaged = {
        name: wrong for name, wrong in numbers.items() if wrong and name not in options.get("value", {}).values()
    }
    doubts += [_damage(name, wrong, len(rest[name].cells)) for name, wrong in damaged.items()]
    name = next((name for name, profile in rest.items() if profile.is_name), None)
    if name is not None:
        options["id"] = name
        seen["name"] = _called(name)
    read = {*used, name, *(column for kind in ("label", "value", "tags") for column in options.get(kind, {}).values())}
    if left := [_called(column) for column in columns if column not in read]:
        seen["not read"] = ", ".join(left)
    guessed = any(doubt.startswith(_GUESSED) for doubt in doubts)
    return Roles(options, layers, seen, tuple(doubts), not guessed)


def _input(known: Mapping[Column, Profile], doubts: list[str]) -> dict[str, Any] | None:
    """Words as lists, a pair of texts, or one text."""
    lists = [name for name, profile in known.items() if profile.lists and profile.words >= 2]
    words = next((name for name in lists if known[name].name in ("words", "tokens", "token", "form")), None)
    if words is not None:
        return {"words": words}
    texts = [name for name, profile in known.items() if profile.is_text and not profile.lists]
    for pair in _PAIRS:
        both = [name for part in pair for name in known if known[name].name == part and name in texts]
        if len(both) == 2:
            _mention(doubts, texts, both)
            return {"text": both}
    named = [name for name in texts if known[name].name in _NAMES_OF_TEXTS]
    chosen = named[:1] or texts[:2] or _repeated(known, doubts)
    if not chosen:
        return None
    _mention(doubts, texts, chosen)
    if not named and len(texts) > 1:
        doubts.append(f"{_GUESSED}which columns are the texts: nothing but their cells tells")
    return {"text": chosen}


def _repeated(known: Mapping[Column, Profile], doubts: list[str]) -> list[Column]:
    """Where no column has different texts: the one with the longest, if they are longer than those of any other."""
    wordings = [name for name, profile in known.items() if profile.is_wording and not profile.lists]
    longest = max(wordings, key=lambda name: known[name].words, default=None)
    if longest is None or any(known[name].words == known[longest].words for name in wordings if name != longest):
        return []
    doubts.append(
        f"{_GUESSED}{_quoted(longest)} is the text, although it has only {known[longest].distinct} different ones"
    )
    return [longest]


def _mention(doubts: list[str], texts: Sequence[Column], chosen: Sequence[Column]) -> None:
    if left := [_called(name) for name in texts if name not in chosen]:
        doubts.append(f"further texts are not read: {', '.join(left)}")


def _add_tags(known: Mapping[Column, Profile], options: dict[str, Any], layers: dict[str, str], seen: Any) -> None:
    """Lists as long as the words."""
    lengths = [len(cell.split()) for cell in known[options["words"]].cells]
    for name, profile in known.items():
        alike = profile.lists and [len(cell.split()) for cell in profile.cells] == lengths
        if name != options["words"] and alike:
            layer = layer_name(name, "tags")
            options.setdefault("tags", {})[layer] = name
            layers[layer] = layer
            seen[layer] = f"{name}, a tag for every word"


def _no_numbers(cells: Sequence[Any], places: Sequence[str]) -> list[str]:
    """The places of the cells that hold something else."""
    filled = [(place, _shown(cell)) for place, cell in zip(places, cells, strict=True) if _is_filled(cell)]
    return [place for place, cell in filled if not NUMBER.fullmatch(cell)]


def _damage(name: Column, wrong: Sequence[str], cells: int) -> str:
    what = f"is no number ({wrong[0]})" if len(wrong) == 1 else f"are no numbers (the first: {wrong[0]})"
    return f"{_called(name)} is not read: {len(wrong):,} of {cells:,} cells {what}"


def _add_number(names: Sequence[Column], options: dict[str, Any], layers: dict[str, str], seen: Any) -> None:
    for name in names[:1]:
        layer = layer_name(name, "score")
        options["value"] = {layer: name}
        layers[layer] = layer
        seen[layer] = f"{_called(name)}, numbers"


def _add_class(
    rest: Mapping[Column, Profile], options: dict[str, Any], layers: dict[str, str], seen: Any, doubts: list[str]
) -> None:
    taken = options.get("value", {}).values()
    classes = [name for name, profile in rest.items() if profile.is_class and name not in taken and not profile.is_name]
    by_name = [name for known in _NAMES_OF_LABELS for name in classes if rest[name].name == known]
    likely = [name for name in classes if len(rest[name].cells) > 0.9 * rest[name].rows and not layers]
    chosen = by_name[0] if by_name else min(reversed(likely), key=lambda name: rest[name].distinct, default=None)
    if chosen is None:
        return
    layer = layer_name(chosen, "label")
    options["label"] = {layer: chosen}
    layers[layer] = layer
    seen[layer] = f"{_called(chosen)}, classes"
    if not by_name:
        doubts.append(f"{_GUESSED}{_quoted(chosen)} is the label: it has few different cells")
    others = [_called(name) for name in classes if name != chosen]
    if others:
        doubts.append(f"could be labels, too, and are not read: {', '.join(others)}")
    absent = [cell for cell in _NO_LABEL if cell in rest[chosen].cells]
    numbers = {cell for cell in rest[chosen].cells if NUMBER.fullmatch(cell)}
    if "-1" in numbers and not any(cell.startswith("-") for cell in numbers - {"-1"}):
        absent.append("-1")
    if absent:
        options["missing"] = ["", "_", *absent]
    if absent or rest[chosen].blanked:
        told = ["_", *absent] if rest[chosen].blanked else absent
        doubts.append(f"{', '.join(told)} in {_quoted(chosen)} is taken as: no label")


def _called(column: Column) -> str:
    return f"column {column}" if isinstance(column, int) else column or "''"


def _quoted(column: Column) -> str:
    return _called(column) if isinstance(column, int) else f"'{column}'"


def layer_name(column: Column, otherwise: str) -> str:
    """A name that a layer may have."""
    slug = re.sub(r"[^a-z0-9]+", "_", str(column).lower()).strip("_")[:40]
    return slug if slug[:1].isalpha() and slug not in TAKEN else otherwise
