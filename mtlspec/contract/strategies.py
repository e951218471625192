"""What every sharing strategy promises, beside what every training keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from mtlspec.contract import toy
from mtlspec.contract.decoders import model_of
from mtlspec.contract.promise import promise
from mtlspec.data.batching import collate
from mtlspec.data.prepared import Prepared


def check_strategy(sharing: Mapping[str, Any], encoder: Path, data: Prepared) -> None:
    """Gives states of the width that it names; its state is JSON; it logs the same figures every time."""
    model = model_of(encoder, data, toy.TASKS["names"], sharing)
    batch = collate(data.train, torch.arange(4), data.specials)
    states, strategy = model.states(batch, 0), model.sharing
    found, wanted = tuple(states.words.shape), (*batch.word_mask.shape, strategy.width)
    promise(found == wanted, f"word vectors have the shape {found}, not {wanted}")
    saved = json.loads(json.dumps(strategy.state()))
    strategy.load_state(saved)
    promise(strategy.state() == saved, "its state is another one when it comes back from JSON")
    promise(set(strategy.logs()) == set(strategy.logs()), "it logs other figures from one update to the next")
