"""Three tagging tasks of which it is known who can help whom, trained for real.

What a word is tagged with is drawn by lot, once for each language, so that only tags of that very word tell it. The
target has few sentences and leaves many words untold. The helper tags the same words, with other names for the same
classes, in many sentences. The stranger tags many sentences of other words: nothing that it learns is about the target.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtlspec.analyses._affinity.measure import FILE
from mtlspec.analyses.task_affinity import Options as Affinity
from mtlspec.data.sentence import Sentence
from mtlspec.model.encoder.word_list import Words, rows_of, save_words
from mtlspec.model.encoder.word_table import write_rows
from mtlspec.results.jobs import Measurement
from mtlspec.spec.selected import Evaluated, Selection
from mtlspec.spec.task_sets.oracle import Options as Oracle
from tests import toy
from tests.model_rows import model_row

TARGET, HELPER, STRANGER = "target", "helper", "stranger"
OTHERS = (HELPER, STRANGER)
SIZES = {TARGET: 10, HELPER: 150, STRANGER: 150}
WORDS, CLASSES, LENGTH, DEV = 60, 4, 5, 60
TRAIN: dict[str, Any] = {
    "epochs": 6,
    "batch": {"sentences": 16, "tokens": 1000},
    "sampler": {"type": "balanced", "epoch": {"examples": 80}},
    "balance": {"type": "none"},
    "lr": {"encoder": 2e-2, "decoder": 2e-2},
    "schedule": "constant",
    "warmup": 0.0,
    "patience": 1.0,
}
ENCODER = {
    "type": "birnn", "card": "toy", "word_size": 16, "char_size": 2, "char_hidden": 2, "hidden": 16, "layers": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Language:
    encoder: Path
    prepared: dict[str, Path]

    @classmethod
    def make(cls, root: Path, seed: int) -> Language:
        draw = random.Random(seed)
        names = [f"{a}{b}{c}" for a in "abcdef" for b in "ghijkl" for c in "mnopqr"]
        draw.shuffle(names)
        lots = {name: draw.randrange(CLASSES) for name in names[: 2 * WORDS]}
        known, strange = names[:WORDS], names[WORDS : 2 * WORDS]
        encoder = root / "encoder"
        encoder.mkdir(parents=True)
        entries = save_words(Words(frozenset(lots), frozenset(lots)), encoder)
        row = {word: number for number, word in enumerate(sorted(lots), 1)}
        write_rows(encoder, rows_of(entries, row, str.lower))
        prepared = {}
        for task, size in SIZES.items():
            words = strange if task == STRANGER else known
            splits = {
                split: [_sentence(draw, task, words, lots) for _ in range(count)]
                for split, count in {"train": size, "dev": DEV, "test": 5}.items()
            }
            prepared[task] = toy.write_prepared(root / task, encoder, splits)
        return cls(encoder, prepared)

    def train(self, root: Path, tasks: tuple[str, ...], seed: int, **more: Any) -> Evaluated:
        """A model of these tasks, and its scores on dev."""
        params = toy.train_params((), seed, **{**TRAIN, **more})
        params["encoder"] = {"subword_dropout": 0.0, "max_pieces": None, **ENCODER}
        params["tasks"] = {
            task: {"type": "tagging", "layer": task, "data": task, "decoder": {"type": "linear"}, "dropout": 0.0}
            for task in tasks
        }
        found = toy.run_train(root, self.encoder, {task: self.prepared[task] for task in tasks}, params)
        scores = {
            task: {"main": "accuracy", "dev": {"accuracy": found.scores[f"dev/{task}/accuracy"]}} for task in tasks
        }
        return Evaluated("stl" if len(tasks) == 1 else "pair", tasks, seed, root / "out", scores)

    def choice(self, root: Path, seeds: int) -> Selection:
        """What the oracle takes for the target, from its single models and its pairs."""
        sets = [(TARGET,), *((TARGET, other) for other in OTHERS)]
        runs = [
            self.train(root / f"{'-'.join(tasks)}-{seed}", tasks, seed)
            for tasks in sets
            for seed in range(1, seeds + 1)
        ]
        return Oracle(type="oracle").select((TARGET,), runs)

    def affinity(self, root: Path, seeds: int) -> dict[str, dict[str, float]]:
        """By measure: what each of the others does to the target, the mean over short joint trainings of some seeds."""
        tasks = (TARGET, *OTHERS)
        self.train(root / "joint", tasks, 1, epochs=1)
        inputs = {"train": root / "joint/out", "encoder": self.encoder}
        inputs |= {f"prepare-{task}": path for task, path in self.prepared.items()}
        options = Affinity(type="task_affinity", transfer=("t",), updates=60, every=3, lr=2e-2)
        every = []
        for seed in range(1, seeds + 1):
            out = root / f"look{seed}"
            out.mkdir()
            options.measure(Measurement(model_row("all", list(tasks), seed), inputs, out))
            every.append(json.loads((out / FILE).read_bytes()))
        rows = {other: every[0]["tasks"].index(other) for other in OTHERS}
        column = every[0]["tasks"].index(TARGET)
        return {
            measure: {other: sum(found[measure][row][column] for found in every) / seeds for other, row in rows.items()}
            for measure in ("cosine", "look_ahead")
        }


def _sentence(draw: random.Random, task: str, words: list[str], lots: dict[str, int]) -> Sentence:
    chosen = tuple(draw.choice(words) for _ in range(LENGTH))
    tags = tuple(f"{task}{lots[word] if task != HELPER else CLASSES - 1 - lots[word]}" for word in chosen)
    return Sentence("1", chosen, {task: tags})
