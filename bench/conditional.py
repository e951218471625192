"""What conditioning on tasks costs: a batch of eight tasks against one of the same shape that is for a single task.

Forward and backward through a random BERT, one thread, for every strategy that does something else for each task. The
peers are the mixed batch in one pass, the same rows in a pass for each task, and the encoder without the strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bench._timing import interleaved

TASKS, ROWS, LENGTH = 8, 32, 32
WIDTH, LAYERS, HEADS = 128, 4, 8
STRATEGIES: dict[str, dict[str, Any]] = {
    "ca_mtl": {"type": "ca_mtl"},
    "ca_mtl, large": {"type": "ca_mtl", "bottleneck": "large"},
    "adapters": {"type": "adapters"},
    "adapters, encoder trained": {"type": "adapters", "encoder": "trained"},
    "pals": {"type": "pals", "size": 64, "heads": 8},
}


def make_encoder() -> Any:
    import torch
    from transformers import BertConfig

    from mtlspec.data.batching import Specials
    from mtlspec.model.encoder.kinds.transformer import Options
    from mtlspec.model.encoder.loading import build_model
    from mtlspec.model.encoder.transformer import Transformer

    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=1000,
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=4 * WIDTH,
        max_position_embeddings=128,
    )
    return Transformer(build_model(config), Options(card="random"), Specials(cls=2, sep=3, pad=0, mask=4, unk=1)).eval()


def make_batch(tasks: Sequence[int]) -> Any:
    """Rows of equal length, each for its task."""
    import torch

    from mtlspec.data.batching import Batch

    shape = (len(tasks), LENGTH)
    pieces = torch.randint(5, 1000, shape, generator=torch.Generator().manual_seed(1))
    there, rows = torch.ones(shape, dtype=torch.bool), torch.arange(len(tasks))
    return Batch(rows, pieces, there, torch.arange(LENGTH).expand(shape), there, tasks=torch.tensor(tasks))


def update(encode: Callable[[Any], Any], batches: Sequence[Any], parameters: Sequence[Any]) -> Callable[[], None]:
    """Forward and backward passes over batches."""

    def run() -> None:
        for batch in batches:
            encode(batch).words.square().mean().backward()
        for parameter in parameters:
            parameter.grad = None

    return run


def main() -> None:
    import torch

    from mtlspec.kinds import options_class
    from mtlspec.spec.families import SHARING

    torch.set_num_threads(1)
    mixed = [row % TASKS for row in range(ROWS)]
    for name, settings in STRATEGIES.items():
        encoder, plain = make_encoder(), make_encoder()
        options: Any = options_class(SHARING, settings["type"]).model_validate(settings)
        sharing = options.build(encoder, [f"task {task}" for task in range(TASKS)])
        own = [*encoder.parameters(), *sharing.module.parameters()]
        apart = [make_batch([task] * (ROWS // TASKS)) for task in range(TASKS)]
        timed = interleaved(
            update(sharing.encode, [make_batch([0] * ROWS)], own),
            {
                "mixed": update(sharing.encode, [make_batch(mixed)], own),
                "apart": update(sharing.encode, apart, own),
                "plain": update(plain, [make_batch(mixed)], [*plain.parameters()]),
            },
            rounds=5,
        )
        ratios = timed.ratios
        print(
            f"conditional: {name}: {TASKS} tasks in one batch take {ratios['mixed']:.2f}x the CPU time of one task, "
            f"a pass for each {ratios['apart']:.2f}x, the encoder alone {ratios['plain']:.2f}x"
        )
