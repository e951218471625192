"""Everything outside a run's data and options that could change its bits, set once at the start of a stage."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext

import torch

from mtlspec.errors import SetupError
from mtlspec.spec.models import RunOptions

_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def make_deterministic(seed: int, run: RunOptions) -> torch.device:
    """Seed torch, fix its threads, allow only deterministic kernels; returns the device to work on."""
    device = _device(run)
    torch.set_num_threads(run.threads)
    torch.use_deterministic_algorithms(True)
    # The flag also fills every fresh tensor with NaN, which only helps to find bugs and costs time.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    # Moments of rows without gradient decay into denormal numbers, on which CPUs are a hundred times slower.
    torch.set_flush_denormal(True)
    torch.backends.cudnn.benchmark = False
    torch.manual_seed(seed)
    return device


def precision(run: RunOptions) -> AbstractContextManager[None]:
    """The context in which losses are computed; may be entered again and again."""
    if run.precision == "fp32":
        return nullcontext()
    return torch.autocast(run.device.partition(":")[0], dtype=_DTYPES[run.precision])


def _device(run: RunOptions) -> torch.device:
    if run.device == "cpu":
        if run.precision != "fp32":
            raise SetupError("E630", f"precision {run.precision} on a CPU", hint="use fp32, or a device that has it")
        return torch.device("cpu")
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # without it, set before its first use, cuBLAS varies
    device = torch.device(run.device)
    if not torch.cuda.is_available() or (device.index or 0) >= torch.cuda.device_count():
        raise SetupError("E631", f"there is no device '{run.device}' here", hint="set `run.device: cpu`")
    torch.cuda.set_device(device)  # or work of libraries would open a context on the first one
    if run.precision == "bf16" and not torch.cuda.is_bf16_supported(including_emulation=False):
        name = torch.cuda.get_device_name(device)
        raise SetupError("E660", f"{name} computes nothing in bf16", hint="use `precision: fp16` or `fp32`")
    return device
