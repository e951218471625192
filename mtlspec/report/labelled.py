"""How many examples carry each task's annotation, and what was cut off those that are too long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mtlspec.report.corpora import Corpus
from mtlspec.report.wording import noun
from mtlspec.results.tables import Cell, Table
from mtlspec.spec.cards import SPLITS


def labelled_table(tasks: Mapping[str, Mapping[str, Any]], names: Iterable[str], corpora: Sequence[Corpus]) -> Table:
    """One row a task, one column a split; `tasks` are the options of all, `names` those to show."""
    by_name = {corpus.name: corpus for corpus in corpora}
    found = {name: by_name[tasks[name].get("data") or corpora[0].name] for name in names}
    splits = list(dict.fromkeys([*SPLITS, *(split for c in found.values() for split in sorted(c.counts["sentences"]))]))
    rows = tuple(
        (
            Cell(name, name),
            Cell(corpus.name, corpus.name),
            Cell(str(tasks[name]["layer"]), str(tasks[name]["layer"])),
            *(_cell(corpus, str(tasks[name]["layer"]), split) for split in splits),
        )
        for name, corpus in found.items()
    )
    untold = {
        split: [name for name, corpus in found.items() if _labelled(corpus, str(tasks[name]["layer"]), split) == 0]
        for split in splits
        if split not in ("train", "dev")
    }
    caption = "Examples that carry a task's annotation, of all in its corpus: only these train, count and are compared."
    for split, without in untold.items():
        if without:
            where = "Test" if split == "test" else f"The split {split}"
            caption += f" {where} has no labels of {', '.join(without)}: predictions are written, nothing is scored."
    caption += "".join(f" {sentence}" for sentence in map(_cut, corpora) if sentence)
    columns = ("task", "corpus", "layer", *splits)
    return Table("labelled_examples", "Labelled examples", caption, columns, (("", rows),))


def _labelled(corpus: Corpus, layer: str, split: str) -> int | None:
    """None where the corpus has no such split or says nothing about the layer."""
    number = corpus.counts["labelled examples"].get(layer, {}).get(split)
    return None if number is None else int(number)


def _cell(corpus: Corpus, layer: str, split: str) -> Cell:
    whole, part = corpus.counts["sentences"].get(split), _labelled(corpus, layer, split)
    if whole is None or part is None:
        return Cell("–")
    text = f"{part:,}" if part == whole else f"{part:,} of {whole:,}" if part else f"none of {whole:,}"
    return Cell(text, part, source=f"prepared corpus {corpus.name}", data={"examples": int(whole)})


def _cut(corpus: Corpus) -> str:
    """What a length policy took away; nothing where nothing was cut."""
    examples = {split: int(n) for split, n in corpus.counts.get("examples cut", {}).items() if n}
    pieces = sum(int(n) for n in corpus.counts.get("sub-tokens cut", {}).values())
    if not examples:
        return ""
    splits = [split for split in dict.fromkeys([*SPLITS, *sorted(examples)]) if split in examples]
    told = ", ".join(f"{split} {examples[split]:,}" for split in splits)
    total = sum(examples.values())
    return (
        f"{corpus.name}: {total:,} {noun(total, 'example')} cut ({told}), {pieces:,} {noun(pieces, 'sub-token')} lost."
    )
