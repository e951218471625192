"""Studies with planted stem cells: gates of five tasks, and what probes find before and after training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtlspec.analyses._gates import Gated
from mtlspec.analyses._probes.hits import Tally, write_hits
from mtlspec.analyses._stem_cells import Common, common_heads
from mtlspec.io.write import write_json
from mtlspec.results.lengths import Length, Seen
from mtlspec.results.variants import Variant
from tests.model_rows import model_row

LAYERS, HEADS = 4, 8
STEM = [(1, 2), (1, 5), (2, 0), (3, 7)]
TASKS = ("pos", "ner", "dep", "con", "srl")


def planted_gates(task: str, keep: Sequence[tuple[int, int]], seed: int) -> Gated:
    """Three runs that keep `keep`, and two heads of their own in every layer, one of them in one run only."""
    rng = np.random.default_rng(seed)
    gates = np.zeros((3, LAYERS, HEADS))
    for layer, head in keep:
        gates[:, layer, head] = 0.8
    for layer in range(LAYERS):
        gates[:, layer, rng.integers(HEADS)] = 1.0
        gates[0, layer, rng.integers(HEADS)] = 1.0
    runs = tuple(model_row("dp", (task,), s) for s in (1, 2, 3))
    return Gated(Variant("dp", (task,), (), runs), gates, gates, (HEADS,) * LAYERS)


def planted_heads(seed: int = 0) -> Common:
    """Four heads that all tasks keep, among others that each keeps by chance."""
    gated = [planted_gates(task, STEM, 10 * seed + i) for i, task in enumerate(TASKS)]
    return common_heads(gated, least=4, draws=500, seed=1)


def write_planted_hits(
    directory: Path, seed: int, *, rise: tuple[float, float], loss: tuple[float, float], scatter: float = 0.02
) -> Path:
    """Probes of two tasks with six labels and 400 items each; rise and loss are of stem cells and of others.

    Every head knows every label to a degree of its own and changes by an amount of its own, each seed differs.
    """
    random = np.random.default_rng(seed)
    stem = np.zeros((LAYERS, HEADS), bool)
    stem[tuple(np.array(STEM).T)] = True
    groups: dict[tuple[str, int], list[Tally]] = {}
    for task in ("pos", "ner"):
        shape = (6, LAYERS * HEADS)
        before = random.uniform(0.2, 0.45, shape)
        flat = stem.reshape(-1)
        own_rise = np.where(flat, *rise) + random.normal(0, 0.03, shape)
        own_loss = np.where(flat, *loss) + random.normal(0, 0.03, shape)
        for model, seeds in (("pretrained", (0,)), (f"stl-{task}", (1, 2, 3)), ("mtl-all", (1, 2, 3))):
            for number in seeds:
                level = before + (model != "pretrained") * (own_rise + random.normal(0, scatter, shape))
                level = np.clip(level - (model == "mtl-all") * own_loss, 0.01, 0.99)
                for split in ("dev", "test"):
                    tally = Tally.empty(task, split, "gold", tuple("ABCDEF"), LAYERS * HEADS)
                    tally.counts += 400
                    tally.hits += torch.from_numpy(random.binomial(400, level))
                    groups.setdefault((model, number), []).append(tally)
    directory.mkdir()
    write_hits(directory, [(*key, tallies) for key, tallies in groups.items()], [HEADS] * LAYERS, {})
    seeds = [1, 2, 3]
    models: dict[str, dict[str, Any]] = {
        "stl-pos": {"group": "stl", "seeds": seeds, "layers": {"pos": "xpos"}},
        "stl-ner": {"group": "stl", "seeds": seeds, "layers": {"ner": "ner"}},
        "mtl-all": {"group": "mtl", "seeds": seeds, "layers": {"pos": "xpos", "ner": "ner"}},
    }
    for model in models.values():
        model["length"] = Length(100, 100, 0, dict.fromkeys(model["layers"], Seen(100, 800, 800))).stored()
    about = {"models": models, "probed": {"pos": "xpos", "ner": "ner"}, "choosing": "dev", "least": 20}
    write_json(directory / "probe.json", about)
    return directory
