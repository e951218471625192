"""A WordPiece tokenizer learnt from words; the same words give the same bytes.

The merges are learnt here, because the trainer of the `tokenizers` library breaks ties by the order of a hash table,
which is another one in every process. The result is an ordinary `tokenizers` file.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from mtlspec.io.write import write_json, write_text

SPECIAL_TOKENS = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
CONTINUES = "##"
_LETTERS = 1000  # rarer characters become [UNK]
_LONGEST = 100  # characters of a word that are learnt from; the library reads longer words as [UNK]

Pair = tuple[str, str]


def learn_pieces(counts: Mapping[str, int], size: int, min_frequency: int) -> list[str]:
    """At most `size` pieces of words: every letter in both its forms, then merges of the most frequent neighbours.

    Of equally frequent pairs the alphabetically first is merged. A merge needs `min_frequency` occurrences.
    """
    letters = Counter[str]()
    for word, count in counts.items():
        for letter in word:
            letters[letter] += count
    kept = sorted(sorted(letters), key=lambda letter: -letters[letter])[:_LETTERS]
    pieces = [form for letter in sorted(kept) for form in (letter, CONTINUES + letter)]
    if len(pieces) >= size:
        return pieces[:size]
    merges = _Merges(
        {word: count for word, count in counts.items() if len(word) <= _LONGEST and set(word) <= set(kept)}
    )
    known = set(pieces)
    while len(pieces) < size and (pair := merges.best(min_frequency)):
        merged = merges.apply(pair)
        if merged not in known:
            known.add(merged)
            pieces.append(merged)
    return pieces


class _Merges:
    """Words as sequences of pieces, with the counts of neighbours kept up to date."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._words = [[word[0], *(CONTINUES + letter for letter in word[1:])] for word in sorted(counts)]
        self._weights = [counts[word] for word in sorted(counts)]
        self._counts: Counter[Pair] = Counter()
        self._places: defaultdict[Pair, set[int]] = defaultdict(set)  # pair -> words that have or had it
        for number in range(len(self._words)):
            self._count(number, 1)
        self._queue = [(-count, pair) for pair, count in self._counts.items()]
        heapq.heapify(self._queue)

    def best(self, min_frequency: int) -> Pair | None:
        """The most frequent pair; entries whose count has changed since they were queued are thrown away."""
        while self._queue:
            negative, pair = self._queue[0]
            if -negative < min_frequency:
                return None
            if self._counts[pair] == -negative:
                return pair
            heapq.heappop(self._queue)
        return None

    def apply(self, pair: Pair) -> str:
        """Merge a pair everywhere; returns the new piece."""
        merged = pair[0] + pair[1].removeprefix(CONTINUES)
        touched: set[Pair] = set()
        for number in sorted(self._places.pop(pair)):
            touched |= self._count(number, -1)
            self._words[number] = _merge(self._words[number], pair, merged)
            touched |= self._count(number, 1)
        for changed in touched:
            if self._counts[changed] > 0:
                heapq.heappush(self._queue, (-self._counts[changed], changed))
        return merged

    def _count(self, number: int, sign: int) -> set[Pair]:
        pairs = set()
        for pair in pairwise(self._words[number]):
            self._counts[pair] += sign * self._weights[number]
            self._places[pair].add(number)
            pairs.add(pair)
        return pairs


def _merge(word: list[str], pair: Pair, merged: str) -> list[str]:
    result: list[str] = []
    i = 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            result.append(merged)
            i += 2
        else:
            result.append(word[i])
            i += 1
    return result


def train_wordpiece(words: Iterable[str], vocabulary: int, min_frequency: int, lowercase: bool) -> Tokenizer:
    """A tokenizer with at most `vocabulary` entries, the special tokens first."""
    normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    splitter = pre_tokenizers.BertPreTokenizer()
    parts: Counter[str] = Counter()
    for word, count in Counter(words).items():
        for part, _ in splitter.pre_tokenize_str(normalizer.normalize_str(word)):
            parts[part] += count
    special = list(SPECIAL_TOKENS.values())
    pieces = special + learn_pieces(parts, vocabulary - len(special), min_frequency)
    vocab = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token=SPECIAL_TOKENS["unk_token"]))
    tokenizer.add_special_tokens(special)
    tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder = normalizer, splitter, decoders.WordPiece()
    tokenizer.post_processor = framed(vocab)
    return tokenizer


def framed(vocab: Mapping[str, int]) -> processors.TemplateProcessing:
    """What puts BERT's special tokens around one text or two."""
    cls, sep = SPECIAL_TOKENS["cls_token"], SPECIAL_TOKENS["sep_token"]
    return processors.TemplateProcessing(
        single=f"{cls} $A {sep}",
        pair=f"{cls} $A {sep} $B:1 {sep}:1",
        special_tokens=[(cls, vocab[cls]), (sep, vocab[sep])],
    )


def save_tokenizer(tokenizer: Tokenizer, directory: Path, max_length: int, lowercase: bool) -> None:
    """`tokenizer.json` with its vocabulary in the order of ids, and the configuration that transformers reads."""
    values = json.loads(tokenizer.to_str())
    values["model"]["vocab"] = dict(sorted(values["model"]["vocab"].items(), key=lambda item: item[1]))
    write_text(directory / "tokenizer.json", json.dumps(values, ensure_ascii=False, indent=1) + "\n")
    settings = {
        **SPECIAL_TOKENS,
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": max_length,
        "do_lower_case": lowercase,
    }
    write_json(directory / "tokenizer_config.json", settings)
