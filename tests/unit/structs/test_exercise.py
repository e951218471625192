"""Every compiled algorithm can be compiled ahead of its first use."""

import importlib
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from mtlspec import structs
from mtlspec.structs.exercise import EXERCISES, exercise

KERNELS = sorted(path.stem for path in Path(structs.__file__).parent.glob("_*_numba.py"))


def _public_kernels(module: str) -> list[Dispatcher]:
    """The compiled functions that the rest of the package calls."""
    values = vars(importlib.import_module(f"mtlspec.structs.{module}"))
    functions = (getattr(value, "__wrapped__", value) for name, value in values.items() if not name.startswith("_"))
    return [function for function in functions if isinstance(function, Dispatcher)]


@pytest.mark.parametrize("module", KERNELS)
def test_each_file_of_compiled_code_has_an_exercise_that_compiles_all_it_offers(module: str) -> None:
    exercise([f"structs/{module}.py", "structs/cky.py", "no/such/file.py"])
    kernels = _public_kernels(module)
    assert kernels
    assert all(kernel.signatures for kernel in kernels), [k.py_func.__name__ for k in kernels if not k.signatures]


def test_exercises_are_for_files_that_exist() -> None:
    assert set(EXERCISES) == {f"structs/{module}.py" for module in KERNELS}
