"""The libraries that benchmarks compare with; they live in an environment of their own (`make bench` makes it).

Each importer gives None where the library is not installed, and the benchmark then goes without it. SuPar is built for
older versions of its dependencies, so only its algorithms are loaded, without the parsers around them.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from types import ModuleType

PACKAGES = {"pytorch-crf": "torchcrf", "torch-struct": "torch_struct", "supar": "supar"}


def pytorch_crf() -> ModuleType | None:
    """`torchcrf`, with its class CRF."""
    return _module("torchcrf")


def torch_struct() -> ModuleType | None:
    """`torch_struct`; DependencyCRF and its kind want scores that are not leaves of a graph."""
    return _module("torch_struct")


def supar_structs() -> ModuleType | None:
    """`supar.structs`, with LinearChainCRF, ConstituencyCRF and DependencyCRF."""
    return _supar("supar.structs")


def supar_mst() -> ModuleType | None:
    """`supar.structs.fn`, with `mst`, which overwrites its scores."""
    return _supar("supar.structs.fn")


def missing(*names: str) -> str:
    """A line for the output of a benchmark that compares with these peers."""
    absent = [name for name in names if importlib.util.find_spec(PACKAGES[name]) is None]
    return f"not installed, so not compared: {', '.join(absent)} (`make bench` has them)" if absent else ""


def quiet() -> None:
    """No warnings from code that was written for older versions of torch: we measure it, we do not mend it."""
    for package in PACKAGES.values():
        warnings.filterwarnings("ignore", module=rf"{package}(\..*)?$")


def _module(name: str) -> ModuleType | None:
    quiet()
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def _supar(name: str) -> ModuleType | None:
    """A module of SuPar, without running the `__init__` of its upper packages, which import all of its parsers."""
    quiet()
    for package in ("supar", "supar.utils"):
        if package in sys.modules:
            continue
        found = importlib.util.find_spec(package)
        if found is None or found.submodule_search_locations is None:
            return None
        shell = ModuleType(package)
        shell.__spec__, shell.__path__ = found, list(found.submodule_search_locations)
        sys.modules[package] = shell
    return importlib.import_module(name)
