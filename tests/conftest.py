"""What tests share: a small random encoder and prepared toy data."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import toy

# As in a run. Threads of two workers on two cores would wait for each other, and small tensors gain nothing from them.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A shell starts background jobs deaf to Ctrl-C, and what they start inherits it; our tests send it to what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A run of the suite is reproducible like everything else: the same examples every time, however slow the machine is.
# `make explore` draws new ones.
_PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fixed", derandomize=True, **_PATIENT)
settings.register_profile("explore", max_examples=500, print_blob=True, **_PATIENT)
settings.load_profile("fixed")


@pytest.fixture(autouse=True)
def ordinary_numbers() -> Iterator[None]:
    """Training flushes denormal numbers to zero, for the whole process; the next test must not notice."""
    yield
    if "torch" in sys.modules:
        import torch

        torch.set_flush_denormal(False)


@pytest.fixture(scope="session")
def toy_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder artifact: WordPiece and a random BERT of 2 layers, width 32."""
    return toy.write_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="session")
def toy_prepared(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> Path:
    """A prepared directory with five layers (pos, ner, dep, con, srl): 120, 30 and 30 sentences."""
    splits = {"train": toy.corpus(1, 120), "dev": toy.corpus(2, 30), "test": toy.corpus(3, 30)}
    return toy.write_prepared(tmp_path_factory.mktemp("prepared"), toy_encoder, splits)


@pytest.fixture(scope="session")
def toy_questions(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> Path:
    """A prepared directory of pairs of raw texts (layers reply, alike): 120, 30 and 30 of them."""
    splits = {"train": toy.questions(1, 120), "dev": toy.questions(2, 30), "test": toy.questions(3, 30)}
    return toy.write_prepared(tmp_path_factory.mktemp("questions"), toy_encoder, splits)
