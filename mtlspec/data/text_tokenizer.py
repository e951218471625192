"""From raw text, in one segment or two, to sub-tokens: as the encoder's own tokenizer means it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from tokenizers import Encoding, Tokenizer, models, processors

from mtlspec.data.batching import Specials
from mtlspec.data.length_limit import LOCAL, asked, limit_of
from mtlspec.data.sentence import Sentence
from mtlspec.data.tokenizer import bounded, read_specials, read_tokenizer
from mtlspec.errors import DataError, Place

LongText = Literal["error", "window", "longest_first", "only_second"]
"""What happens to a text that is longer than the encoder reads at once."""

_CUTTING = ("longest_first", "only_second")


class EncodedText(NamedTuple):
    """Sub-tokens of an example with the specials of its encoder, S of them, and how many were cut off."""

    pieces: list[int]  # S
    types: list[int]  # S: token types
    segments: list[int]  # S: 0 or 1, -1 on specials
    cut: int
    starts: Sequence[int] = ()  # S: the first character of each, in its own text, where that was asked for
    ends: Sequence[int] = ()  # S: behind the last


class TextTokenizer:
    """Encodes examples with the post-processor of the encoder's tokenizer: specials, separators, token types.

    `limit` is the number of sub-tokens, specials included, that the encoder reads at once (None: any), and `long_text`
    what happens to longer examples.
    """

    def __init__(
        self, tokenizer: Tokenizer, specials: Specials, limit: int | None = None, long_text: LongText = "error"
    ) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # "[MASK]" in a text is text
        self._tokenizer = tokenizer
        # The vocabulary of a unigram model holds its specials as if they were words; in a text they are unknown ones.
        held = {specials.cls, specials.sep, specials.pad, specials.mask} - {specials.unk}
        self._hidden = dict.fromkeys(held, specials.unk) if isinstance(tokenizer.model, models.Unigram) else {}
        self._limit = limit
        self._long_text = long_text

    @classmethod
    def load(cls, directory: Path, max_pieces: int | None = None, long_text: LongText = "error") -> TextTokenizer:
        """The tokenizer of an encoder's directory; the limit is `max_pieces`, or else the encoder's own."""
        tokenizer = read_tokenizer(directory)
        if tokenizer.post_processor is None:
            tokenizer.post_processor = _post_processor(directory)
        limit = max_pieces if max_pieces is not None else limit_of(directory)
        return cls(tokenizer, read_specials(directory), limit, long_text)

    def encode(self, sentences: Sequence[Sentence], whole: bool = False, located: bool = False) -> list[EncodedText]:
        """Every example's sub-tokens; one that is too long is an error, whole or cut, as `long_text` says.

        `whole`: nothing is cut, whatever it says; of a pair, the encoder reads the first text with every part of the
        second one, which it must leave room for. `located`: with the characters that the sub-tokens stand for.
        """
        inputs = [_input(sentence) for sentence in sentences]
        characters = sum(len(text) for sentence in sentences for text in sentence.texts)
        encodings = bounded(lambda: self._tokenizer.encode_batch(inputs), characters)
        found = []
        for sentence, encoding in zip(sentences, encodings, strict=True):
            length = len(encoding.ids)
            fits = self._limit is None or length <= self._limit or whole or self._long_text == "window"
            kept = encoding if fits else self._shortened(sentence, length, self._limit or 0)
            segments = [-1 if segment is None else segment for segment in kept.sequence_ids]
            if whole:
                self._require_room(sentence, segments)
            pieces = self._as_text(kept.ids, segments)
            starts, ends = zip(*kept.offsets, strict=True) if located else ((), ())
            found.append(EncodedText(pieces, kept.type_ids, segments, length - len(pieces), starts, ends))
        return found

    def _require_room(self, sentence: Sentence, segments: Sequence[int]) -> None:
        first = segments.index(1) if 1 in segments else 0
        if self._limit is not None and len(segments) > self._limit and first > self._limit // 2:
            message = f"the first text has {first} sub-tokens, over half of the {self._limit} that are read at once"
            hint = "shorten it, or raise `max_pieces` under `encoder`: it is read with every part of the second text"
            raise DataError("E920", message, Place(*sentence.place), hint)

    def _as_text(self, pieces: list[int], segments: list[int]) -> list[int]:
        """Sub-tokens, none of which is a special in the middle of a text."""
        if not self._hidden:
            return pieces
        pairs = zip(pieces, segments, strict=True)
        return [self._hidden.get(piece, piece) if segment >= 0 else piece for piece, segment in pairs]

    def _shortened(self, sentence: Sentence, length: int, limit: int) -> Encoding:
        place = Place(*sentence.place)
        if self._long_text not in _CUTTING:
            message = f"the example has {length} sub-tokens, but the encoder reads {limit} at once"
            others = ", ".join(policy for policy in get_args(LongText) if policy != "error")
            raise DataError("E279", message, place, f"say what to do with `long_text` under `encoder`: {others}")
        strategy = self._long_text if len(sentence.texts) == 2 else "longest_first"
        self._tokenizer.enable_truncation(limit, strategy=strategy)
        try:
            first, *second = sentence.texts
            return self._tokenizer.encode(first, second[0] if second else None)
        except Exception as error:  # the library raises plain Exception
            hint = "use `long_text: longest_first`, which cuts both"
            message = f"the example cannot be cut to {limit} sub-tokens: {error}"
            raise DataError("E280", message, place, hint) from None
        finally:
            self._tokenizer.no_truncation()


def _input(sentence: Sentence) -> str | tuple[str, str]:
    first, *more = sentence.texts
    if len(more) > 1:
        raise DataError("E282", f"{len(more) + 1} texts in one example", Place(*sentence.place), "give one or two")
    return (first, more[0]) if more else first


def _post_processor(directory: Path) -> Any:
    """What a tokenizer without a post-processor gets: that of its family's class, or [CLS] a [SEP] b [SEP]."""
    if not (directory / "config.json").is_file():
        return _bert_like(read_specials(directory), read_tokenizer(directory))
    from transformers import AutoTokenizer

    known = asked(lambda: AutoTokenizer.from_pretrained(directory, **LOCAL), directory)
    return known.backend_tokenizer.post_processor


def _bert_like(specials: Specials, tokenizer: Tokenizer) -> Any:
    cls, sep = (tokenizer.id_to_token(number) for number in (specials.cls, specials.sep))
    return processors.TemplateProcessing(
        single=f"{cls} $A {sep}",
        pair=f"{cls} $A {sep} $B:1 {sep}:1",
        special_tokens=[(cls, specials.cls), (sep, specials.sep)],
    )
