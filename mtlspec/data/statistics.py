"""What a corpus holds, in numbers: the same for `mtlspec data stats`, the prepared data and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mtlspec.data.labels import crossing_arcs, labels
from mtlspec.data.sentence import DepTree, Layer, Sentence

_WIDTH = 5  # words per bar of the length histogram


class Statistics:
    """Collects while sentences stream by; `result` is JSON."""

    def __init__(self) -> None:
        self._words: dict[str, Counter[str]] = {}
        self._lengths: dict[str, Counter[int]] = {}
        self._sentences: dict[str, Counter[tuple[str, ...]]] = {}
        self._labels: dict[str, dict[str, Counter[str]]] = {}  # layer -> split -> label
        self._crossing: dict[str, Counter[str]] = {}  # layer -> split

    def watch(self, split: str, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Hand the sentences on and count them as a split's."""
        self._words[split], self._lengths[split], self._sentences[split] = Counter(), Counter(), Counter()
        for sentence in sentences:
            self._words[split].update(sentence.words)
            self._lengths[split][len(sentence.words)] += 1
            self._sentences[split][sentence.words] += 1
            for name, layer in sentence.layers.items():
                self._add_layer(split, name, layer)
            yield sentence

    def _add_layer(self, split: str, name: str, layer: Layer) -> None:
        self._labels.setdefault(name, {}).setdefault(split, Counter()).update(labels(layer))
        if isinstance(layer, DepTree):
            self._crossing.setdefault(name, Counter())[split] += sum(1 for _ in crossing_arcs(layer))

    def result(self) -> dict[str, Any]:
        lengths = {split: self._lengths[split] for split in self._lengths}
        return {
            "sentences": {split: count.total() for split, count in lengths.items()},
            "tokens": {split: count.total() for split, count in self._words.items()},
            "word types": {split: len(count) for split, count in self._words.items()},
            "shortest sentence": {split: min(count, default=0) for split, count in lengths.items()},
            "longest sentence": {split: max(count, default=0) for split, count in lengths.items()},
            "mean length": {split: _mean_length(count) for split, count in lengths.items()},
            "unseen words %": self._unseen_words(),
            "repeated sentences": {split: _repeated(count) for split, count in self._sentences.items()},
            "shared sentences": self._shared(),
            "non-projective arcs": {name: dict(count) for name, count in sorted(self._crossing.items())},
            "lengths": {split: _histogram(count) for split, count in lengths.items()},
            "labels": {name: _label_counts(by_split) for name, by_split in sorted(self._labels.items())},
            "labels only in dev or test": {name: self._new_labels(name) for name in sorted(self._labels)},
        }

    def _unseen_words(self) -> dict[str, float]:
        known = self._words.get("train", Counter())
        others = {split: count for split, count in self._words.items() if split != "train"}
        return {
            split: _percent(sum(n for w, n in c.items() if w not in known), c.total()) for split, c in others.items()
        }

    def _shared(self) -> dict[str, int]:
        splits = list(self._sentences)
        pairs = [(one, other) for i, one in enumerate(splits) for other in splits[i + 1 :]]
        return {f"{a} and {b}": len(self._sentences[a].keys() & self._sentences[b].keys()) for a, b in pairs}

    def _new_labels(self, name: str) -> list[str]:
        by_split = self._labels[name]
        known = by_split.get("train", Counter())
        return sorted({label for counts in by_split.values() for label in counts} - known.keys())


def corpus_statistics(splits: Mapping[str, Iterable[Sentence]]) -> dict[str, Any]:
    """The numbers of a whole corpus."""
    statistics = Statistics()
    for split, sentences in splits.items():
        for _ in statistics.watch(split, sentences):
            pass
    return statistics.result()


def _mean_length(lengths: Counter[int]) -> float:
    return round(sum(length * n for length, n in lengths.items()) / max(lengths.total(), 1), 2)


def _repeated(sentences: Counter[tuple[str, ...]]) -> int:
    return sentences.total() - len(sentences)


def _histogram(lengths: Counter[int]) -> dict[str, int]:
    """`1–5`, `6–10` ... up to the longest sentence."""
    bars: Counter[int] = Counter()
    for length, n in lengths.items():
        bars[(length - 1) // _WIDTH] += n
    return {f"{_WIDTH * bar + 1:02d}–{_WIDTH * (bar + 1):02d}": bars[bar] for bar in range(max(bars, default=-1) + 1)}


def _label_counts(by_split: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    """Label -> split -> count, frequent ones of the first split first."""
    order = sorted({label for count in by_split.values() for label in count})
    first = next(iter(by_split.values()), Counter())
    order.sort(key=lambda label: -first[label])
    return {label: {split: count[label] for split, count in by_split.items()} for label in order}


def _percent(part: int, whole: int) -> float:
    return round(100 * part / max(whole, 1), 2)


def statistics_rows(statistics: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """The numbers as tables: title, columns, rows of text."""
    splits = tuple(statistics["sentences"])
    overview = [key for key, value in statistics.items() if set(value) <= set(splits) and key != "lengths"]
    yield "Size", ("", *splits), [(key, *_cells(statistics[key], splits)) for key in overview]
    yield (
        "Sentences in two splits",
        ("splits", "sentences"),
        [(k, str(v)) for k, v in statistics["shared sentences"].items()],
    )
    bars = list(dict.fromkeys(bar for split in splits for bar in statistics["lengths"][split]))
    rows = [(bar, *(str(statistics["lengths"][split].get(bar, 0)) for split in splits)) for bar in bars]
    yield "Words per sentence", ("words", *splits), rows
    for layer, arcs in statistics["non-projective arcs"].items():
        yield f"Non-projective arcs of {layer}", splits, [tuple(_cells(arcs, splits))]
    for layer, counts in statistics["labels"].items():
        new = statistics["labels only in dev or test"][layer]
        title = f"Labels of {layer}" + (f" (not in train: {', '.join(new)})" if new else "")
        yield title, ("label", *splits), [(label, *_cells(by, splits)) for label, by in counts.items()]


def _cells(values: Mapping[str, Any], splits: Iterable[str]) -> list[str]:
    return [str(values.get(split, "")) for split in splits]
