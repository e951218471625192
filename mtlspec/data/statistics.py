"""What a corpus holds, in numbers: the same for `mtlspec data stats`, the prepared data and the report."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mtlspec.data.layer_kinds import layer_kind, shown_kinds
from mtlspec.data.sentence import Layer, Sentence
from mtlspec.errors import DataError
from mtlspec.spec.families import LayerKind

if TYPE_CHECKING:
    from mtlspec.data.prepare import TextCounts
    from mtlspec.data.tokenizer import WordTokenizer

_BARS = (5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 10**9)  # longest sentence of each bar
OVERVIEW = (
    "sentences",
    "dropped sentences",
    "dropped lines",
    "tokens",
    "word types",
    "shortest sentence",
    "longest sentence",
    "mean length",
    "unseen words %",
    "sub-tokens per word",
    "words of several sub-tokens %",
    "sub-tokens of the longest sentence",
    "repeated sentences",
    "examples cut",
    "sub-tokens cut",
)
"""Figures of one number a split, in the order they are read."""


class Statistics:
    """Collects while sentences stream by; `result` is JSON. `kinds` are the kinds of all layers."""

    def __init__(self, kinds: Mapping[str, LayerKind]) -> None:
        self._kinds = {name: layer_kind(kind) for name, kind in kinds.items()}
        self._words: dict[str, Counter[str]] = {}  # of raw texts: what blanks separate
        self._raw: set[str] = set()  # splits of raw texts
        self._lengths: dict[str, Counter[int]] = {}
        self._sentences: dict[str, Counter[tuple[str, ...]]] = {}
        self._labels: dict[str, dict[str, Counter[str]]] = {}  # layer -> split -> label
        self._labelled: dict[str, Counter[str]] = {name: Counter() for name in kinds}  # layer -> split -> examples
        self._figures: dict[str, dict[str, Counter[str]]] = {}  # what is counted -> layer -> split

    def watch(self, split: str, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Hand the sentences on and count them as a split's."""
        self._words[split], self._lengths[split], self._sentences[split] = Counter(), Counter(), Counter()
        for sentence in sentences:
            words = sentence.words or tuple(word for text in sentence.texts for word in text.split())
            if sentence.texts:
                self._raw.add(split)
            self._words[split].update(words)
            self._lengths[split][len(words)] += 1
            self._sentences[split][sentence.texts or words] += 1
            for name, layer in sentence.layers.items():
                self._add_layer(split, name, layer)
            yield sentence

    def _add_layer(self, split: str, name: str, layer: Layer) -> None:
        kind = self._kinds[name]
        self._labels.setdefault(name, {}).setdefault(split, Counter()).update(kind.labels(layer))
        self._labelled[name][split] += kind.labelled(layer)
        for figure, number in kind.figures(layer).items():
            self._figures.setdefault(figure, {}).setdefault(name, Counter())[split] += number

    def result(
        self,
        tokenizer: WordTokenizer | None = None,
        dropped: Mapping[str, Sequence[DataError]] | None = None,
        texts: Mapping[str, TextCounts] | None = None,
    ) -> dict[str, Any]:
        """With a tokenizer, its sub-tokens are counted too; `dropped` are the defects of sentences left out.

        `texts` are the sub-tokens of splits of raw text, which are not made of words.
        """
        lengths = {split: self._lengths[split] for split in self._lengths}
        counted = _counted(dropped) if dropped is not None else {}
        return {
            **counted,
            **(self._pieces(tokenizer, texts or {}) if tokenizer is not None else {}),
            "sentences": {split: count.total() for split, count in lengths.items()},
            "tokens": {split: count.total() for split, count in self._words.items()},
            "word types": {split: len(count) for split, count in self._words.items()},
            "shortest sentence": {split: min(count, default=0) for split, count in lengths.items()},
            "longest sentence": {split: max(count, default=0) for split, count in lengths.items()},
            "mean length": {split: _mean_length(count) for split, count in lengths.items()},
            "unseen words %": self._unseen_words(),
            "repeated sentences": {split: _repeated(count) for split, count in self._sentences.items()},
            "shared sentences": self._shared(),
            "labelled examples": {name: self._by_split(count) for name, count in sorted(self._labelled.items())},
            "figures of layers": {
                figure: {name: self._by_split(count) for name, count in sorted(by_layer.items())}
                for figure, by_layer in sorted(self._figures.items())
            },
            "lengths": {split: _histogram(count) for split, count in lengths.items()},
            "labels": {name: _label_counts(by_split) for name, by_split in sorted(self._labels.items())},
            "labels only in dev or test": {name: self._new_labels(name) for name in sorted(self._labels)},
        }

    def _pieces(self, tokenizer: WordTokenizer, texts: Mapping[str, TextCounts]) -> dict[str, dict[str, float]]:
        """What an encoder makes of words, and has made of raw texts."""
        words = {split: counts for split, counts in self._words.items() if split not in self._raw}
        table = tokenizer.pieces(word for counts in words.values() for word in counts)
        size = {word: len(table[word]) for counts in words.values() for word in counts}
        found: dict[str, dict[str, float]] = {name: {} for name in OVERVIEW if "sub-token" in name or " cut" in name}
        per_word, several, longest, examples_cut, pieces_cut = found.values()
        for split, counts in words.items():
            per_word[split] = round(sum(n * size[w] for w, n in counts.items()) / max(counts.total(), 1), 3)
            several[split] = _percent(sum(n for w, n in counts.items() if size[w] > 1), counts.total())
            longest[split] = max((sum(map(size.__getitem__, words)) for words in self._sentences[split]), default=0)
        for split, made in texts.items():
            per_word[split] = round(made.pieces / max(self._words[split].total(), 1), 3)
            longest[split] = made.longest
            examples_cut[split], pieces_cut[split] = made.examples_cut, made.pieces_cut
        return {name: by_split for name, by_split in found.items() if by_split}

    def _by_split(self, counts: Counter[str]) -> dict[str, int]:
        return {split: counts[split] for split in self._lengths}

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


def corpus_statistics(
    splits: Mapping[str, Iterable[Sentence]], tokenizer: WordTokenizer | None = None
) -> dict[str, Any]:
    """The numbers of a whole corpus, whose layers have the kinds that they show."""
    whole = {split: list(sentences) for split, sentences in splits.items()}
    statistics = Statistics(shown_kinds(sentence for sentences in whole.values() for sentence in sentences))
    for split, sentences in whole.items():
        for _ in statistics.watch(split, sentences):
            pass
    return statistics.result(tokenizer)


def _counted(dropped: Mapping[str, Sequence[DataError]]) -> dict[str, dict[str, int]]:
    """What was left out; lines are told where they are more than rows, because a quote swallowed some."""
    sentences = {split: len(found) for split, found in dropped.items()}
    lines = {split: sum(defect.lines for defect in found) for split, found in dropped.items()}
    return {"dropped sentences": sentences, **({"dropped lines": lines} if lines != sentences else {})}


def _mean_length(lengths: Counter[int]) -> float:
    return round(sum(length * n for length, n in lengths.items()) / max(lengths.total(), 1), 2)


def _repeated(sentences: Counter[tuple[str, ...]]) -> int:
    return sentences.total() - len(sentences)


def _histogram(lengths: Counter[int]) -> dict[str, int]:
    """`01–05`, `06–10` ... up to the longest sentence; longer ones have wider bars."""
    bars: Counter[int] = Counter()
    for length, n in lengths.items():
        bars[bisect_left(_BARS, length)] += n
    return {_bar(bar): bars[bar] for bar in range(max(bars, default=-1) + 1)}


def _bar(number: int) -> str:
    low = _BARS[number - 1] + 1 if number else 1
    return f"{low:02d}–{_BARS[number]:02d}" if number < len(_BARS) - 1 else f"{low}–"


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
    rows = [(key, *_cells(statistics[key], splits)) for key in OVERVIEW if key in statistics]
    for figure, by_layer in statistics["figures of layers"].items():
        rows += [(f"{figure} of {layer}", *_cells(by, splits)) for layer, by in by_layer.items()]
    yield "Size", ("", *splits), rows
    yield (
        "Sentences in two splits",
        ("splits", "sentences"),
        [(k, str(v)) for k, v in statistics["shared sentences"].items()],
    )
    bars = sorted({bar for split in splits for bar in statistics["lengths"][split]}, key=_first_of_bar)
    rows = [(bar, *(str(statistics["lengths"][split].get(bar, 0)) for split in splits)) for bar in bars]
    yield "Words per sentence", ("words", *splits), rows
    rows = [(layer, *_cells(by, splits)) for layer, by in statistics["labelled examples"].items()]
    yield "Labelled examples", ("layer", *splits), rows
    for layer, counts in statistics["labels"].items():
        new = statistics["labels only in dev or test"][layer]
        title = f"Labels of {layer}" + (f" (not in train: {', '.join(new)})" if new else "")
        yield title, ("label", *splits), [(label, *_cells(by, splits)) for label, by in counts.items()]


def _first_of_bar(bar: str) -> int:
    return int(bar.partition("–")[0])


def _cells(values: Mapping[str, Any], splits: Iterable[str]) -> list[str]:
    return [str(values.get(split, "")) for split in splits]
