"""Compiled functions: numba with a cache of machine code inside the project, or none at all.

The cache lies in `.mtlspec/numba` of the project around the current folder; `NUMBA_CACHE_DIR` overrules it. Outside a
project, or where that folder cannot be written, functions are compiled anew in each process. Files are sealed and
renamed into place when they are finished, so processes may share the folder; other users may not.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar

import numba
import torch
from torch import Tensor

from mtlspec.errors import SetupError
from mtlspec.io.locks import in_turn
from mtlspec.io.project import Project
from mtlspec.structs._sealed_cache import seal_cache

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile on first use, without the interpreter lock."""
    result: F = numba.njit(cache=_cache_ready(), nogil=True, error_model="numpy")(function)
    seal_cache(result)
    return result


def one_at_a_time(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Workers that start together compile it once: the others wait and load what the first one cached."""

    @wraps(kernel)
    def call(*arguments: Any) -> Any:
        if getattr(kernel, "overloads", True) or not _cache_ready():  # there are none where numba is switched off
            return kernel(*arguments)
        with in_turn(Path(numba.config.CACHE_DIR) / "lock"):
            return kernel(*arguments)

    return call


def on_tensors(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled function of arrays as a function of CPU tensors; memory is shared, so it may also work in place."""
    first = one_at_a_time(kernel)

    @wraps(kernel)
    def call(*tensors: Tensor) -> Any:
        result = first(*[tensor.contiguous().numpy() for tensor in tensors])
        return tuple(map(torch.from_numpy, result)) if isinstance(result, tuple) else _tensor(result)

    return call


def _tensor(result: Any) -> Tensor | None:
    return None if result is None else torch.from_numpy(result)


@cache
def _cache_ready() -> bool:
    """Point numba to its cache; False if there is no place for one."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return True
    folder = cache_folder()
    if folder is None:
        return False
    numba.config.CACHE_DIR = str(folder)
    return True


def cache_folder() -> Path | None:
    """The project's folder for machine code, made if need be; None where that cannot be."""
    try:
        folder = Project.find().state / "numba"
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
    except (SetupError, OSError):
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None
