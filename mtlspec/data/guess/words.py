"""Files of words: CoNLL-U, CoNLL-2012, bracketed trees, and columns of tags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mtlspec.data.blocks import cells
from mtlspec.data.defects import NAMED
from mtlspec.data.guess.reading import Reading, defects, fits, shown
from mtlspec.errors import DataError, Place, Problems

_WORD_ID = re.compile(r"\d+(-\d+|\.\d+)?")
_HEAD = re.compile(r"\d+|_")
_SPAN = re.compile(r"O|[BIESLUM]-\S+")
_CHUNKS = {"NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP"}
_ENTITIES = {"per", "person", "loc", "location", "org", "organization", "organisation", "gpe", "misc", "product"}
_UPOS = {"ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT"}
_UPOS |= {"SCONJ", "SYM", "VERB", "X"}
_XPOS = {"NN", "NNP", "NNS", "IN", "DT", "JJ", "VBD", "VB", "VBZ"}
_NOTHING = {"_", "", "-"}
_ALIKE = 0.97  # share of lines that must have the same number of cells
_LONGEST_SENTENCE = 300  # words, on average: longer blocks are no sentences


def guess_words(path: Path, lines: Sequence[str], name: str) -> Reading | None:
    """What a file of words is, if it is one; `name`: of a layer that nothing else names."""
    filled = [line for line in lines if line.strip(" \t")]
    if not filled:
        return None
    rows = [line for line in filled if not line.startswith("#")]
    if rows and filled[0].startswith(("#begin document", "#end document")):
        return _fixed("conll2012", "CoNLL-2012, as OntoNotes has it", path, unmistakable=True)
    words = [line for line in rows[:50] if line.count("\t") == 9 and _WORD_ID.match(line)]
    sure = words if ".conllu" in path.suffixes else list(filter(_is_conllu, words))
    unmistakable = len(sure) > len(rows[:50]) / 2
    if unmistakable or (rows and len(words) == len(rows[:50])):
        return _fixed("conllu", "CoNLL-U", path, unmistakable)
    if filled[0].lstrip().startswith("("):
        return _fixed("brackets", "bracketed trees", path)
    if len(rows[:1]) and len(cells(rows[0])) > 11 and all(cells(line)[2:3] == ["0"] for line in rows[:1]):
        found = _fixed("conll2012", "CoNLL-2012 without document lines", path)
        if found is not None:
            return found
    return _columns(path, lines, name)


def _is_conllu(line: str) -> bool:
    """Of a line with a number and nine more cells: a word of CoNLL-U, and no row of a table that has texts."""
    parts = line.split("\t")
    return " " not in line and _WORD_ID.fullmatch(parts[0]) is not None and _HEAD.fullmatch(parts[6]) is not None


def _fixed(type_: str, what: str, path: Path, unmistakable: bool = False) -> Reading | None:
    """A format whose columns have a meaning of their own; layers are those that its sentences carry.

    Where it can be nothing else, a file of defects is not tried as something else: they are told.
    """
    options: dict[str, Any] = {"type": type_}
    good, bad = fits(options, path)
    if not good or bad > good:
        if unmistakable and bad:
            message = f"this looks like {what}, but {bad:,} of {good + bad:,} sentences are malformed"
            hint = "mend the file, and try again" + (f"; the first {NAMED} are named" if bad > NAMED else "")
            raise Problems([DataError("E752", message, Place(shown(path)), hint), *defects(options, path)[:NAMED]])
        return None
    from itertools import islice

    from mtlspec import kinds
    from mtlspec.spec.families import READERS

    reader = kinds.load(READERS, type_).Options(type=type_)
    kept: Counter[str] = Counter()
    for block in islice(reader.blocks(path), 500):
        try:
            kept.update(name for name, layer in reader.parse(block).layers.items() if layer and _tells(layer))
        except DataError:
            continue
    useful = [name for name in reader.column_names() if kept[name] and name not in ("lemma", "feats", "deps", "misc")]
    if not useful:
        return None
    return Reading(what, options, {name: name for name in useful}, distinctive=True, told=True)


def _tells(layer: object) -> bool:
    """Whether there is more in a column than the signs for nothing."""
    return not isinstance(layer, tuple) or any(tag not in ("O", None, *_NOTHING) for tag in layer)


def _columns(path: Path, lines: Sequence[str], name: str) -> Reading | None:
    """A word a line, blank lines between sentences."""
    rows, sentences = [], 0
    inside = False
    for line in lines:
        blank = not line.strip(" \t") or line.startswith("-DOCSTART-")
        sentences += inside and blank
        inside = not blank
        if inside:
            rows.append(line)
    if sentences < 1 or len(rows) > sentences * _LONGEST_SENTENCE:
        return None
    tabs = sum("\t" in line for line in rows) >= _ALIKE * len(rows)
    split = [line.split("\t") if tabs else cells(line) for line in rows]
    width, count = Counter(map(len, split)).most_common(1)[0]
    marked = [row for row, line in zip(split, rows, strict=True) if line.startswith("#") and len(row) != width]
    if width < 2 or count < _ALIKE * (len(rows) - len(marked)):
        return None
    table = [row for row in split if len(row) == width]
    columns = [[row[at] for row in table] for at in range(width)]
    word = max(range(min(width, 3)), key=lambda at: 0 if _numbers(columns[at]) else len(set(columns[at])))
    options: dict[str, Any] = {"type": "columns", "column": {}}
    if word:
        options["word"] = word
    if tabs:
        options["delimiter"] = "tab"
    if marked:
        options["comment"] = "#" if tabs else "# "
    return _with_tags(path, options, columns, word, name)


def _numbers(column: Sequence[str]) -> bool:
    return all(cell.isdigit() or cell in _NOTHING for cell in column)


def _with_tags(
    path: Path, options: dict[str, Any], columns: Sequence[Sequence[str]], word: int, name: str
) -> Reading | None:
    """The columns that hold tags, and how they spell spans."""
    kinds = len(set(columns[word]))
    seen, doubts = {}, []
    spans: dict[str, str] = {}
    wanted = [at for at in range(len(columns)) if at != word and _are_tags(columns[at], kinds)]
    for at in wanted:
        tags = set(columns[at]) - _NOTHING
        called = _name(tags, name if len(wanted) == 1 else "tags")
        called = called if called not in options["column"] else f"{called}_{at}"
        options["column"][called] = at
        if sum(_SPAN.fullmatch(tag) is not None for tag in tags) > 0.9 * len(tags) and len(tags) > 1:
            scheme, doubt = _scheme(path, options, called, columns[at])
            spans |= {called: scheme} if scheme else {}
            doubts += [doubt] if doubt else []
        seen[called] = f"column {at}" + (f", spans in {spans[called]}" if called in spans else "")
    if not options["column"]:
        return None
    if spans:
        options["spans"] = spans
    if "comment" in options:
        doubts.append(f"lines that start with '{options['comment']}' are taken as comments")
    left = [str(at) for at in range(len(columns)) if at not in (word, *wanted) and set(columns[at]) - _NOTHING]
    if left:
        doubts.append(f"not read, because no tags stand there: column{'s' * (len(left) > 1)} {', '.join(left)}")
    what = f"columns of tags, a word a line; words in column {word}"
    return Reading(what, options, {tag: tag for tag in options["column"]}, False, True, seen, tuple(doubts))


def _are_tags(column: Sequence[str], words: int) -> bool:
    tags = set(column) - _NOTHING
    return len(tags) > 1 and not _numbers(column) and (len(tags) <= 60 or len(tags) < words / 3)


def _name(tags: set[str], otherwise: str) -> str:
    if tags <= _UPOS:
        return "upos"
    if len(tags & _XPOS) > 2:
        return "xpos"
    types = {tag[2:] for tag in tags if tag[1:2] == "-"}
    if types and types <= _CHUNKS:
        return "chunk"
    entities = {type_.lower() for type_ in types} & _ENTITIES
    return "ner" if entities and len(entities) > len(types) / 3 else otherwise


def _scheme(path: Path, options: dict[str, Any], column: str, tags: Sequence[str]) -> tuple[str | None, str | None]:
    """The scheme that all spans follow, or None and why. IOB1 fits nearly everything, but has few B."""
    found = {}
    begun, inside = (sum(tag.startswith(prefix) for tag in tags) for prefix in ("B-", "I-"))
    for scheme in ("iob2", "iobes", *(["iob1"] if begun < inside / 10 else [])):
        bad = fits({**options, "spans": {column: scheme}}, path)[1]
        if not bad:
            return scheme, None
        found[scheme] = bad
    best = min(found, key=lambda scheme: found[scheme])
    doubt = f"the spans of '{column}' follow no scheme everywhere ({best} misses {found[best]}), so none is checked"
    return None, doubt
