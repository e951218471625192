"""What the fork server does before it forks: import what stages need, so that no fork pays for it again.

Nothing here computes: a fork after a matrix product can hang.

Our own sources are imported too, those that the stage's code fingerprint lists. They must be the planned ones when they
are read: every stage compares the disk with the fingerprint, but a server that once read an edited file would go on
using it after the edit was taken back. So the files are compared before and after the import, and a server that read
something else says so in every later stage.
"""

from __future__ import annotations

import gc
import importlib
import json
from contextlib import suppress
from functools import cache
from pathlib import Path

from mtlspec import kinds
from mtlspec.errors import IntegrityError
from mtlspec.io.digest import digest_file
from mtlspec.plan.code import module_of, source_file
from mtlspec.spec.families import FOLDERS

_TABLES = ("numpy", "pyarrow.parquet", "scipy.stats", "jinja2", "matplotlib.figure", "matplotlib.backends.backend_agg",
           "matplotlib.backends.backend_svg")  # fmt: skip
_MODELS = ("torch", "torch.optim", "safetensors.torch", "tokenizers", "transformers.models.bert.modeling_bert",
           "transformers.models.auto.modeling_auto", "transformers.models.auto.tokenization_auto",
           "datasets")  # fmt: skip
_LIGHT: dict[str, tuple[str, ...]] = {"data": (), "select": (), "analyse": _TABLES, "report": _TABLES}
"""Few stages, which need not wait for torch; all other kinds have many."""

_misread: list[str] = []


def warm(kind: str, fingerprint: Path | None) -> None:
    """Prepare for stages of this kind and, if there are many of them, of this code fingerprint."""
    _import_packages(kind)
    if fingerprint is not None and kind not in _LIGHT:
        _import_sources(fingerprint)


def require_planned_sources() -> None:
    """In a fork: refuse to run code that was not the planned code when the server read it."""
    if _misread:
        raise IntegrityError(
            "E510", "the code changed while it was being loaded", source_file(_misread[0]), "run again"
        )


@cache
def _import_packages(kind: str) -> None:
    from mtlspec.track.environment import environment

    for name in _LIGHT.get(kind, (*_MODELS, *_TABLES)):
        importlib.import_module(name)
    importlib.import_module("mtlspec.execute.job")
    environment()
    if kind not in _LIGHT:
        _fill_registries()
    _share_with_forks()


@cache
def _import_sources(fingerprint: Path) -> None:
    """Import the files that a fingerprint lists; what cannot be imported is left to the stage, which will say why."""
    with suppress(FileNotFoundError, ValueError, KeyError):
        files: dict[str, str] = json.loads(fingerprint.read_bytes())["files"]
        if _first_difference(files) is None:
            for family in FOLDERS.values():
                kinds.names(family)  # its package looks into the folders that it is extended by
            for file in files:
                if file.endswith(".py"):
                    with suppress(Exception):
                        importlib.import_module(module_of(file))
            changed = _first_difference(files)
            _misread.extend([changed] if changed else [])
    _share_with_forks()


def _first_difference(files: dict[str, str]) -> str | None:
    """The first file that is not on disk as it was planned."""
    for file, recorded in files.items():
        path = source_file(file)
        if not path.is_file() or digest_file(path) != recorded:
            return file
    return None


def _fill_registries() -> None:
    """Tables that libraries build at their first use, which takes a second each and is the same for every stage."""
    import numba
    from transformers import conversion_mapping

    from mtlspec.track.environment import torch_facts

    numba.njit(lambda number: number)(0)
    conversion_mapping.get_checkpoint_conversion_mapping("bert")
    torch_facts()


def _share_with_forks() -> None:
    """Keep the collector away from what is loaded: marking an object would copy its page in every fork."""
    gc.collect()
    gc.freeze()
