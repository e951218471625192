"""Our training loop as benchmarks run it: one task, hard sharing, a pass at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mtlspec.data.sentence import Sentence


def our_loop(
    encoder: Path, root: Path, sentences: list[Sentence], task: dict[str, Any], train: dict[str, Any], dropout: float
) -> Callable[[], int]:
    """A pass over the sentences, prepared in `root`; returns how many were trained on. `dropout` is of sub-words."""
    from contextlib import nullcontext

    import torch

    from mtlspec.data.corpora import Corpora
    from mtlspec.data.prepare import write_prepared
    from mtlspec.data.prepared import Prepared
    from mtlspec.data.tokenizer import WordTokenizer
    from mtlspec.kinds import options_class
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.multitask import build_model
    from mtlspec.spec.families import SHARING, TASKS
    from mtlspec.spec.models import RunOptions, TrainOptions
    from mtlspec.train.loop import Meter, take_update
    from mtlspec.train.state import TrainState

    splits = {"train": sentences, "dev": sentences[:10], "test": sentences[:10]}
    write_prepared(splits, WordTokenizer.load(encoder), root)
    corpora = Corpora.single(Prepared.load(root))
    sharing = options_class(SHARING, "hard").model_validate({"type": "hard"})
    tasks = {"task": options_class(TASKS, task["type"]).model_validate(task)}
    model = build_model(Encoder.load(encoder, dropout), sharing, tasks, corpora.labels(tasks))
    options = TrainOptions.model_validate(train)
    state = TrainState.fresh(model, corpora, options, RunOptions(), seed=1)
    model.module.train()

    def run() -> int:
        torch.use_deterministic_algorithms(True)
        meter = Meter()
        for _ in range(state.updates_per_epoch):
            take_update(state, options, nullcontext(), meter)
        return meter.sentences

    return run
