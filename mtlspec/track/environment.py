"""Facts about the machine and the software that can change bits; no times, no host names, no paths."""

from __future__ import annotations

import platform
import re
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("torch", "numpy", "numba", "transformers", "tokenizers", "datasets", "pyarrow", "safetensors", "scipy")
"""The packages whose versions can change a result."""

_FEATURES = ("sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16",
             "amx_bf16", "amx_tile", "asimd", "sve", "bf16")  # fmt: skip


@cache
def cpu_facts() -> dict[str, Any]:
    """Model name and the instruction sets that choose a kernel; empty where the system does not tell."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {"model": platform.processor(), "features": []}
    model = re.search(r"^(?:model name|CPU implementer)\s*:\s*(.+)$", text, re.MULTILINE)
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", text, re.MULTILINE)
    present = set(flags.group(1).split()) if flags else set()
    return {
        "model": model.group(1).strip() if model else platform.processor(),
        "features": [feature for feature in _FEATURES if feature in present],
    }


@cache
def package_versions() -> dict[str, str]:
    """Installed versions, read from metadata: nothing is imported."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return versions


@cache
def torch_facts() -> dict[str, Any]:
    """The torch build; imports torch, so only stages that compute ask for it."""
    import torch

    config = torch.__config__.show()
    libraries = re.findall(
        r"^\s*-\s*((?:Intel\(R\) )?(?:oneAPI Math|MKL-DNN|OpenMP|LAPACK|CUDA Runtime).*)$", config, re.MULTILINE
    )
    blas = re.search(r"BLAS_INFO=(\w+)", config)
    return {
        "version": torch.__version__,
        "capability": torch.backends.cpu.get_cpu_capability(),
        "blas": blas.group(1) if blas else "unknown",
        "mkl": torch.backends.mkl.is_available(),  # type: ignore[no-untyped-call]
        "openmp": torch.backends.openmp.is_available(),  # type: ignore[no-untyped-call]
        "cuda": torch.version.cuda or "none",
        "libraries": sorted(" ".join(library.split()) for library in libraries),
    }


@cache
def gpu_facts(device: str) -> dict[str, Any]:
    """The GPU that a stage computed on; asks the GPU, so only for stages that did."""
    import torch

    properties = torch.cuda.get_device_properties(device)
    return {
        "name": properties.name,
        "capability": f"{properties.major}.{properties.minor}",
        "memory": properties.total_memory,
        "driver": driver_version(),
        "cuda": torch.version.cuda or "none",
        "cudnn": torch.backends.cudnn.version(),  # type: ignore[no-untyped-call]
    }


def driver_version(path: Path = Path("/proc/driver/nvidia/version")) -> str:
    """The version of NVIDIA's kernel module, where the system tells."""
    try:
        found = re.search(r"Kernel Module.*?\s(\d+(?:\.\d+)+)\s", path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return "unknown"
    return found.group(1) if found else "unknown"


@cache
def _c_library() -> str:
    """Found by searching the interpreter's own file, which takes a while."""
    return "-".join(part for part in platform.libc_ver() if part) or "unknown"


def environment(threads: int | None = None) -> dict[str, Any]:
    """Everything but the torch build; imports nothing heavy.

    The C library matters because numba and torch take their transcendental functions from it.
    """
    facts: dict[str, Any] = {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": sys.platform,
        "machine": platform.machine(),
        "libc": _c_library(),
        "cpu": cpu_facts(),
        "packages": package_versions(),
    }
    if threads is not None:
        facts["threads"] = threads
    return facts
