"""numba's cache of machine code, sealed.

numba unpickles whatever lies in its cache and jumps into it. A flipped bit would fail every run, or worse, compute
something else; a file that somebody else wrote would run as us. So a file is read only if it is ours, nobody else can
write it and it begins with the digest of the rest; anything else counts as not there, and is compiled and written anew.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.serialize import dumps

from mtlspec.io.write import write_bytes

_SEAL = hashlib.sha256().digest_size
_OTHERS = 0o022  # may write: the group, everybody


class SealedCacheFile(IndexDataCacheFile):  # type: ignore[misc]  # numba is not typed
    """An index of compiled signatures and their machine code, for one function."""

    def save(self, key: Any, data: Any) -> None:
        with suppress(OSError):  # what cannot be kept is compiled again
            super().save(key, data)

    def _load_index(self) -> dict[Any, str]:
        content = _open_sealed(Path(self._index_path))
        if content is None:
            return {}
        stamp, overloads = pickle.loads(content)  # noqa: S301  # our own, unchanged
        return dict(overloads) if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        _seal(Path(self._index_path), dumps((self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        content = _open_sealed(Path(self._data_path(name)))
        if content is None:
            raise FileNotFoundError(name)  # to numba: not cached
        return pickle.loads(content)  # noqa: S301  # our own, unchanged

    def _save_data(self, name: str, data: Any) -> None:
        _seal(Path(self._data_path(name)), dumps(data))


def seal_cache(function: Any) -> None:
    """Let a function that numba compiles and caches use sealed files."""
    cache: Any = getattr(function, "_cache", None)
    if isinstance(cache, FunctionCache):
        plain = cache._cache_file
        cache._cache_file = SealedCacheFile(plain._cache_path, cache._impl.filename_base, plain._source_stamp)


def _seal(path: Path, content: bytes) -> None:
    write_bytes(path, _digest(content) + content, mode=0o600)


def _open_sealed(path: Path) -> bytes | None:
    """What was sealed, or None if there is nothing that can be trusted."""
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            if about.st_uid != os.geteuid() or about.st_mode & _OTHERS:
                return None
            seal, content = file.read(_SEAL), file.read()
    except OSError:
        return None
    return content if seal == _digest(content) else None


def _digest(content: bytes) -> bytes:
    """Files of another version of numba do not hold either: it might not be able to read them."""
    return hashlib.sha256(numba.__version__.encode() + b"\0" + content).digest()
