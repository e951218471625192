"""Whole documents as sentences, read piece by piece: each knows where in its document it stands.

A blank line ends a sentence. Between blank lines `rules` looks for ends (`sentences.py` says how) and line ends are
blanks; with `lines` every line end ends a sentence, too; with `paragraphs` nothing but a blank line does.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError, Place
from mtlspec.use.sentences import sentences_of

Sentences = Literal["rules", "lines", "paragraphs"]
"""What ends a sentence of a document."""

_END = r"[^\S\r\n]*+(?:\r\n|\r|\n)"
_BREAKS = {
    how: re.compile(rf"(?<![^\S\r\n])(?:{_END}){{{2 - (how == 'lines')},}}+")
    for how in ("rules", "lines", "paragraphs")
}
_LINE_END, _BLANK = re.compile(r"\r\n|\r|\n"), re.compile(r"\s")
_PIECE = 2**16  # bytes, or characters, that are read or held at least
_LONGEST = 2**20  # characters of a sentence: more is a file of another sort
_AHEAD = 64  # characters behind an end that are looked at


@dataclass(frozen=True, slots=True)
class Extract(Sentence):
    """A sentence of a document."""

    document: str = ""
    paragraph: int = 0  # from 1
    start: int = 0  # characters of the document before it; its text has blanks for the line ends in it


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """Characters of a document that cannot be read, and why."""

    error: DataError
    characters: int


def sentences_in(file: BinaryIO, name: str, how: Sentences) -> Iterator[Extract | DataError]:
    """Of a file of UTF-8; what is not stands where it was as its error."""
    return _cut(_pieces(file, name), name, how)


def sentences_of_text(text: str, name: str, how: Sentences) -> Iterator[Extract | DataError]:
    return _cut([text], name, how)


def _pieces(file: BinaryIO, name: str) -> Iterator[str | _Unreadable]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, first = 1, True
    for read in iter(lambda: file.readline(_PIECE), b""):
        raw = read.removeprefix(codecs.BOM_UTF8) if first else read
        ended, first = raw.endswith(b"\n"), False
        try:
            text = decoder.decode(raw, ended)
        except UnicodeDecodeError as error:
            decoder.reset()
            unreadable = DataError("E531", f"not UTF-8: {error.reason}", Place(name, line), "save the file as UTF-8")
            yield _Unreadable(unreadable, len(raw.decode(errors="replace")))
        else:
            if "\0" in text:
                unreadable = DataError("E533", "a line with a NUL byte", Place(name, line), "is this a text file?")
                yield _Unreadable(unreadable, len(text))
            else:
                yield text
        line += ended
    try:
        decoder.decode(b"", True)
    except UnicodeDecodeError as error:
        yield _Unreadable(DataError("E531", f"not UTF-8: {error.reason}", Place(name, line), "is the file whole?"), 0)


def _cut(pieces: Iterable[str | _Unreadable], name: str, how: Sentences) -> Iterator[Extract | DataError]:
    document, enough = _Document(name, how), _PIECE
    for piece in pieces:
        if isinstance(piece, _Unreadable):
            yield from document.sentences(final=True)
            yield piece.error
            document.skip(piece.characters)
            continue
        document.held += piece
        if len(document.held) >= enough:
            yield from document.sentences(final=False)
            if len(document.held) > _LONGEST:
                message = f"no sentence ends within {_LONGEST:,} characters"
                yield DataError("E577", message, Place(name, document.line), "is this a text?")
                document.skip_held()
            enough = max(_PIECE, 2 * len(document.held))  # or a text without ends would be read again for every line
    yield from document.sentences(final=True)


class _Document:
    """The text that is not cut yet, and where in the document it begins."""

    def __init__(self, name: str, how: Sentences) -> None:
        self.held, self.line = "", 1
        self._name, self._how = name, how
        self._offset, self._paragraph, self._number, self._in_paragraph = 0, 1, 0, False

    def sentences(self, final: bool) -> Iterator[Extract]:
        """Those whose ends are certain: enough is held behind them, or the text ends there (`final`)."""
        text, at, counted = self.held, 0, 0
        limit = len(text) if final else len(text) - _AHEAD
        while at < len(text):
            found = _BREAKS[self._how].search(text, at)
            whole = found is not None and (final or found.end() <= limit)
            end = found.start() if found is not None and whole else len(text)
            for start, stop, following in self._places(text, at, end):
                if not whole and not final and (following is None or following > limit):
                    at = start
                    break
                self.line += len(_LINE_END.findall(text, counted, start))
                counted = start
                self._number, self._in_paragraph = self._number + 1, True
                yield self._extract(text[start:stop], start)
            else:
                at = found.end() if found is not None and whole else len(text)
                if whole or final:
                    self._paragraph, self._in_paragraph = self._paragraph + self._in_paragraph, False
                continue
            break
        self.line += len(_LINE_END.findall(text, counted, at))
        self._offset += at
        self.held = text[at:]

    def skip(self, characters: int) -> None:
        """A line that cannot be read."""
        self.line, self._offset = self.line + 1, self._offset + characters

    def skip_held(self) -> None:
        self.line += len(_LINE_END.findall(self.held))
        self._offset, self.held = self._offset + len(self.held), ""

    def _places(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, int | None]]:
        """Sentences between two places, each with the beginning of the next one."""
        part = text[start:end]
        if self._how == "paragraphs":
            stripped = part.strip()
            found = iter([(at := part.index(stripped), at + len(stripped))] if stripped else [])
        else:
            found = sentences_of(part)
        before = next(found, None)
        while before is not None:
            following = next(found, None)
            yield start + before[0], start + before[1], None if following is None else start + following[0]
            before = following

    def _extract(self, text: str, start: int) -> Extract:
        return Extract(
            str(self._number),
            (),
            {},
            (self._name, self.line),
            texts=(_BLANK.sub(" ", text),),
            document=self._name,
            paragraph=self._paragraph,
            start=self._offset + start,
        )
