from __future__ import annotations

import multiprocessing
from typing import Any

import pytest

_HEAVY = ["transformers.models.bert.modeling_bert", "transformers.models.auto.modeling_auto", "pyarrow.parquet"]
_OURS = ["mtlspec.stages.train", "mtlspec.model.tasks.tagging", "mtlspec.structs._linear_chain_numba"]
_RECORDING = ["dvc.repo", "dvc.stage.cache", "dvc.stage.serialize", "dvc.rwlock", "tests.faults.injection"]


@pytest.fixture(scope="session")
def server() -> Any:
    """Processes that start with everything imported, so that a killed one costs little.

    Python has one such server, and what it imports is settled when it starts: so it is one for all tests.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*_HEAVY, *_OURS, *_RECORDING])
    return context
