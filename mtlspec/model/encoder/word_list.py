"""The words of corpora as a tokenizer: every word is an entry, and letters stand by for words that come later."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import Tensor

from mtlspec.data.corpus import read_split
from mtlspec.data.defects import own_folder
from mtlspec.data.escapes import unescape
from mtlspec.errors import EncoderError
from mtlspec.io.project import Project
from mtlspec.model.encoder.request import Request
from mtlspec.model.encoder.word_table import UNKNOWN
from mtlspec.model.encoder.wordpiece import CONTINUES, SPECIAL_TOKENS, framed, save_tokenizer

_LONGEST = 1_000_000  # characters of a word: none is too long
_SPECIAL = tuple(SPECIAL_TOKENS.values())


class Words(NamedTuple):
    """The words of the training splits, and of all splits, as they stand in the text."""

    train: frozenset[str]
    all: frozenset[str]


def collect_words(request: Request) -> Words:
    """Of all corpora that the source was given."""
    if not request.data_cards:
        raise EncoderError("E320", f"encoder '{request.name}' learns from data, but was given none")
    found: dict[bool, set[str]] = {True: set(), False: set()}
    for number, (corpus, card) in enumerate(request.data_cards.items()):
        request.progress(number, len(request.data_cards), f"words of {corpus}")
        shown = own_folder(card, Project(request.project_root))
        for split in card.splits:
            for sentence in read_split(card, request.inputs[f"data-{corpus}"], split, [], shown):
                found[split == "train"].update(sentence.words or " ".join(sentence.texts).split())
    train, other = (frozenset(map(unescape, found[trained])) for trained in (True, False))
    return Words(train, train | other)


def save_words(words: Words, directory: Path) -> tuple[str, ...]:
    """Write the tokenizer; returns the entries of its vocabulary in the order of their numbers."""
    entries = tuple(dict.fromkeys([*_SPECIAL, *sorted(words.all), *_letters(words.all)]))
    vocabulary = {entry: number for number, entry in enumerate(entries)}
    unknown = SPECIAL_TOKENS["unk_token"]
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=unknown, max_input_chars_per_word=_LONGEST))
    tokenizer.add_special_tokens(list(_SPECIAL))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = framed(vocabulary)
    save_tokenizer(tokenizer, directory, _LONGEST, lowercase=False)
    return entries


def rows_of(entries: Sequence[str], row: Mapping[str, int], key: Callable[[str], str]) -> Tensor:
    """int64 [V]: the row of each entry's word vector; special tokens and words without one have `UNKNOWN`."""
    return torch.tensor([UNKNOWN if entry in _SPECIAL else row.get(key(entry), UNKNOWN) for entry in entries])


def _letters(words: frozenset[str]) -> Iterator[str]:
    """Every letter in both its forms, for words that are no entries."""
    for letter in sorted({letter for word in words for letter in word}):
        yield letter
        yield CONTINUES + letter
