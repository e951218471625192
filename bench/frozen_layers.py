"""What freezing saves: an epoch with the bottom half of the layers frozen, their states kept, against two peers.

The peers are the same training with the frozen states computed in every pass, and the training of all layers. Model and
data are those of `training_loop`; sub-word dropout is off, because what is below must not be random. The states that
are kept are computed in the round that does not count.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from bench._timing import interleaved, quiet_on_one_thread
from bench.training_loop import BATCH, SENTENCES, make_encoder


def epoch(directory: Path, prepared: Path, freeze: Any, keep: bool) -> Callable[[], None]:
    """An epoch of training; with `keep`, states of frozen layers are kept."""
    from mtlspec.data.corpora import Corpora
    from mtlspec.data.prepared import Prepared
    from mtlspec.kinds import options_class
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.multitask import build_model
    from mtlspec.spec.families import SHARING, TASKS
    from mtlspec.spec.models import RunOptions, TrainOptions
    from mtlspec.train.determinism import make_deterministic
    from mtlspec.train.loop import Meter, take_update
    from mtlspec.train.state import TrainState

    make_deterministic(1, RunOptions())
    corpora = Corpora.single(Prepared.load(prepared))
    tasks: Any = {"pos": options_class(TASKS, "tagging").model_validate({"type": "tagging", "layer": "xpos"})}
    sharing: Any = options_class(SHARING, "hard").model_validate({"type": "hard"})
    model = build_model(Encoder.load(directory), sharing, tasks, corpora.labels(tasks))
    limits = {"sentences": BATCH, "tokens": 3200}
    options = TrainOptions.model_validate({"epochs": 1000, "batch": limits, "freeze": freeze})
    state = TrainState.fresh(model, corpora, options, RunOptions(), seed=1)
    assert state.kept.active == (freeze is not None)
    if not keep:
        state.kept.close()
    state.frozen.train()

    def run() -> None:
        for _ in range(state.updates_per_epoch):
            take_update(state, options, nullcontext(), Meter())

    return run


def main() -> None:
    from mtlspec.data.generators.english_mini import Options, corpus
    from mtlspec.data.prepare import write_prepared
    from mtlspec.data.tokenizer import WordTokenizer

    quiet_on_one_thread()
    _, sentences = next(corpus(Options(type="english_mini", train=SENTENCES)))
    with tempfile.TemporaryDirectory() as folder:
        directory, prepared = Path(folder) / "encoder", Path(folder) / "prepared"
        directory.mkdir()
        prepared.mkdir()
        make_encoder(directory, sentences)
        splits = {"train": sentences, "dev": sentences[:10], "test": sentences[:10]}
        write_prepared(splits, WordTokenizer.load(directory), prepared)
        timed = interleaved(
            epoch(directory, prepared, 0.5, keep=True),
            {
                "frozen states computed": epoch(directory, prepared, 0.5, keep=False),
                "all layers trained": epoch(directory, prepared, None, keep=False),
            },
            rounds=3,
        )
    for name, ratio in timed.ratios.items():
        print(f"frozen_layers: {name} takes {ratio:.2f}x the CPU time of kept states")
