"""From words to sub-tokens, with the tokenizer that an encoder brings along."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from threading import Thread
from typing import TypeVar

from tokenizers import Tokenizer, pre_tokenizers

from mtlspec.data.batching import Specials
from mtlspec.data.escapes import unescape
from mtlspec.data.special_tokens import ROLES, named_specials
from mtlspec.errors import EncoderError
from mtlspec.spec.words import shorten

_LEAST_SECONDS = 60.0  # for any text, on a busy machine
_SLOWEST = 5_000  # characters a second, a hundredth of what the slowest tokenizers read
_Found = TypeVar("_Found")


class WordTokenizer:
    """Sub-tokens of single words, each distinct word encoded once."""

    def __init__(self, tokenizer: Tokenizer, specials: Specials, directory: Path | None = None) -> None:
        tokenizer.no_truncation()  # a stored limit of the original model would cut words silently
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # "[MASK]" in a text is text
        stage = tokenizer.pre_tokenizer
        if isinstance(stage, pre_tokenizers.ByteLevel):
            stage.add_prefix_space = True  # a word is a word, not the tail of another one
        self.specials = specials
        self.directory = directory  # where it comes from
        self._tokenizer = tokenizer
        self._pieces: dict[str, tuple[int, ...]] = {}

    @classmethod
    def load(cls, directory: Path) -> WordTokenizer:
        """The tokenizer of an encoder's directory (`tokenizer.json` and its configuration)."""
        tokenizer = read_tokenizer(directory)
        return cls(tokenizer, _specials(tokenizer, directory), directory)

    @cached_property
    def vocabulary_size(self) -> int:
        return int(self._tokenizer.get_vocab_size())

    def pieces(self, words: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """A table that has the sub-tokens of all these words (and of those asked for earlier); never empty ones."""
        new = sorted(set(words) - self._pieces.keys())
        if new:
            texts = [unescape(word) for word in new]
            encodings = bounded(
                lambda: self._tokenizer.encode_batch_fast(texts, add_special_tokens=False), sum(map(len, texts))
            )
            unknown = (self.specials.unk,)
            self._pieces.update((word, tuple(enc.ids) or unknown) for word, enc in zip(new, encodings, strict=True))
        return self._pieces


def read_specials(directory: Path) -> Specials:
    """Ids of the special tokens of an encoder's directory."""
    return _specials(read_tokenizer(directory), directory)


def read_tokenizer(directory: Path) -> Tokenizer:
    """The tokenizer of an encoder's directory, as it stands there."""
    path = directory / "tokenizer.json"
    if not path.is_file():
        raise EncoderError("E380", "the encoder has no tokenizer.json", path, "only fast tokenizers are supported")
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise EncoderError("E381", f"the tokenizer is not readable: {shorten(str(error))}", path) from None


def bounded(encode: Callable[[], _Found], characters: int) -> _Found:
    """What the library makes of so many characters; an error if it takes far longer than any text does.

    A pattern of a tokenizer can take time that grows exponentially with a text, or give up with a panic, which is no
    `Exception`. A thread that hangs is left behind; it ends with the process.
    """
    found: list[_Found] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            found.append(encode())
        except BaseException as error:  # handed on below
            failed.append(error)

    seconds = _LEAST_SECONDS + characters / _SLOWEST
    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        message = f"the tokenizer has not read {characters:,} characters after {seconds:.0f} s"
        raise EncoderError("E393", message, hint="one of its patterns explodes on this text")
    if failed and not isinstance(failed[0], Exception):
        message = f"the tokenizer gives up: {shorten(str(failed[0]))}"
        raise EncoderError("E394", message, hint="one of its patterns explodes on this text") from None
    if failed:
        raise failed[0]
    return found[0]


def _specials(tokenizer: Tokenizer, directory: Path) -> Specials:
    ids: dict[str, int] = {}
    for role, texts in named_specials(directory).items():
        found = next((i for text in texts if (i := tokenizer.token_to_id(text)) is not None), None)
        if found is None and role == "mask":
            found = ids["unk"]  # encoders without a mask token
        if found is None and role == "pad" and ids["cls"] == ids["sep"]:
            found = ids["sep"]  # GPT-2 has one special token for everything; padding is masked anyway
        if found is None:
            keys = ROLES[role][0]
            raise EncoderError(
                "E382",
                f"the tokenizer has no {keys[0]}",
                directory / "tokenizer_config.json",
                f"name a token of its vocabulary there as {' or '.join(keys)}",
            )
        ids[role] = found
    return Specials(**ids)
