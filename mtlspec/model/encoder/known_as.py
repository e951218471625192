"""Errors about a copy of an encoder, told of the folder that its user knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mtlspec.errors import EncoderError, Place


@contextmanager
def known_as(copy: Path, source: Callable[[], Path | None]) -> Iterator[None]:
    """While this is open, errors that name a file of `copy` name that of the folder which it comes from instead.

    A file that only the copy has, because it was made there, is told of as the folder. None: there is no such folder.
    """
    try:
        yield
    except EncoderError as error:
        place = error.place
        if place is None or not Path(place.file).is_relative_to(copy):
            raise
        folder = source()
        if folder is None:
            raise
        own = folder / Path(place.file).relative_to(copy)
        named = Place(str(own if own.exists() else folder), place.line, place.column)
        message = error.message.replace(str(copy), str(folder))
        raise EncoderError(error.code, message, named, error.hint) from None
