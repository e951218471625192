"""What choosing examples by uncertainty costs: an update that scores candidates of all tasks beside one that does not.

Tagging tasks on the data and the encoder of `training_loop`, 16 sentences a batch, one thread. Candidates are as many
as a batch for each task (the paper's) or half of that; with frozen layers, their states serve both passes. The peer
draws a batch of one task at random. Beside the ratios, the share of an update that drawing takes, which is scoring.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from bench._timing import interleaved, quiet_on_one_thread
from bench.training_loop import make_encoder

SENTENCES, BATCH, UPDATES = 400, 16, 10
TASKS = (2, 4, 8)
UNSURE: dict[str, dict[str, Any]] = {
    "16 candidates a task": {"type": "mt_uncertainty"},
    "8 candidates a task": {"type": "mt_uncertainty", "candidates": 8},
}


def updates(
    directory: Path, prepared: Path, tasks: int, sampler: dict[str, Any], freeze: float | None, shares: list[float]
) -> Callable[[], None]:
    """Some updates of a model of several tasks; `shares` gets what drawing took of their time."""
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
    tagging: Any = options_class(TASKS, "tagging").model_validate({"type": "tagging", "layer": "xpos"})
    chosen = {f"task_{number}": tagging for number in range(tasks)}
    sharing: Any = options_class(SHARING, "hard").model_validate({"type": "hard"})
    model = build_model(Encoder.load(directory), sharing, chosen, corpora.labels(chosen))
    limits = {"sentences": BATCH, "tokens": 3200}
    told = {"epochs": 1000, "batch": limits, "sampler": sampler, "freeze": freeze, "balance": {"type": "none"}}
    options = TrainOptions.model_validate(told)
    state = TrainState.fresh(model, corpora, options, RunOptions(), seed=1)
    state.frozen.train()

    drawn, spent = state.draw, [0.0]

    def draw() -> Any:
        begun = time.process_time()
        readings = drawn()
        spent[0] += time.process_time() - begun
        return readings

    state.draw = draw  # type: ignore[method-assign]

    def run() -> None:
        begun, before = time.process_time(), spent[0]
        for _ in range(UPDATES):
            take_update(state, options, nullcontext(), Meter())
        shares.append((spent[0] - before) / (time.process_time() - begun))

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
        for freeze in (None, 0.5):
            for tasks in TASKS:
                shares: dict[str, list[float]] = {name: [] for name in UNSURE}
                random = updates(directory, prepared, tasks, {"type": "random"}, freeze, [])
                unsure = {
                    name: updates(directory, prepared, tasks, own, freeze, shares[name]) for name, own in UNSURE.items()
                }
                ratios = interleaved(random, unsure, rounds=5).ratios
                told = ", ".join(
                    f"with {name} {ratio:.2f}x ({100 * statistics.median(shares[name]):.0f} % of it drawing)"
                    for name, ratio in ratios.items()
                )
                layers = "half of the layers frozen" if freeze else "all layers trained"
                print(f"uncertainty sampling: {tasks} tasks, {layers}: {told} the CPU time of an update without")


if __name__ == "__main__":
    main()
