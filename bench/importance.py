"""Importance of all heads for all tasks, against the plain ways to get it. One thread, CPU time, interleaved rounds.

The yardstick is one plain forward and backward pass a task, as training does it: all the gradients of weights, none of
importance. The other peer is the usual loop over single sentences. Both loops give what they are compared for: the
importance of the loop is checked against ours first.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SENTENCES, BATCH, ROUNDS = 128, 32, 7


def build(root: Path) -> tuple[Any, Any]:
    """A model of three taggers on a random encoder (4 layers x 8 heads, width 128), and prepared data."""
    import torch

    from bench.training_loop import make_encoder
    from mtlspec.data.corpora import Corpora
    from mtlspec.data.generators.english_mini import Options, corpus
    from mtlspec.data.prepare import write_prepared
    from mtlspec.data.prepared import Prepared
    from mtlspec.data.tokenizer import WordTokenizer
    from mtlspec.kinds import options_class
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.multitask import build_model
    from mtlspec.spec.families import SHARING, TASKS

    _, sentences = next(corpus(Options(type="english_mini", train=1024)))
    make_encoder(root / "encoder", sentences)
    (root / "data").mkdir()
    splits = {"train": sentences[:SENTENCES], "dev": sentences[:10], "test": sentences[:10]}
    write_prepared(splits, WordTokenizer.load(root / "encoder"), root / "data")
    data = Prepared.load(root / "data")
    tasks = {
        "pos": {"type": "tagging", "layer": "xpos"},
        "ner": {"type": "tagging", "layer": "ner"},
        "ner_crf": {"type": "tagging", "layer": "ner", "decoder": "crf"},
    }
    torch.manual_seed(1)
    sharing: Any = options_class(SHARING, "hard").model_validate({"type": "hard"})
    built: Any = {name: options_class(TASKS, "tagging").model_validate(options) for name, options in tasks.items()}
    model = build_model(Encoder.load(root / "encoder"), sharing, built, Corpora.single(data).labels(built))
    model.module.eval()
    return model, data


def ours(model: Any, batches: list[Any]) -> Any:
    from mtlspec.model.importance import head_importance

    return head_importance(model.sharing, model.tasks, batches)


def plain(model: Any, batches: list[Any]) -> None:
    """One forward and backward pass a task and batch."""
    for batch, golds in batches:
        for number, task in enumerate(model.tasks):
            task.loss(model.states(batch, number), batch, golds[number]).backward()
            model.module.zero_grad()


def by_sentence(model: Any, singles: list[Any]) -> Any:
    """The loop over single sentences: a forward and a backward pass for every task and sentence."""
    import torch

    shape = model.encoder.heads.shape
    total = torch.zeros(len(model.tasks), *shape)
    for batch, golds in singles:
        for number, task in enumerate(model.tasks):
            gates = torch.ones(shape, requires_grad=True)
            with model.encoder.heads.gated(gates):
                task.loss(model.states(batch, number), batch, golds[number]).backward()
            assert gates.grad is not None
            total[number] += gates.grad.abs()
            model.module.zero_grad()
    return total / len(singles)


def main() -> None:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import torch

    from mtlspec.model.importance import annotated_batches
    from mtlspec.spec.models import BatchLimits

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        model, data = build(Path(name))
    limits = BatchLimits(sentences=BATCH, tokens=3200), BatchLimits(sentences=1, tokens=3200)
    batches, singles = (list(annotated_batches(model.tasks, data.train, data.specials, size)) for size in limits)
    torch.testing.assert_close(ours(model, batches).float(), by_sentence(model, singles), rtol=1e-3, atol=1e-6)
    ways: dict[str, Callable[[], Any]] = {
        "ours": lambda: ours(model, batches),
        "plain": lambda: plain(model, batches),
        "by sentence": lambda: by_sentence(model, singles),
    }
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, run in ways.items():
            started = time.process_time()
            run()
            times[way].append(time.process_time() - started)
    tasks, heads = len(model.tasks), sum(model.encoder.heads.counts)
    print(f"importance of {heads} heads for {tasks} tasks, {SENTENCES} sentences, {BATCH} a batch, one thread")
    for way, found in times.items():
        ratio = statistics.median(one / us for one, us in zip(found, times["ours"], strict=True))
        print(f"  {way:12} {1000 * statistics.median(found):8.0f} ms  {ratio:5.2f}x ours")
    print("  targets: ours takes at most 1.3 times plain (plain is at least 0.77x), and the loop at least 5x ours")


if __name__ == "__main__":
    main()
