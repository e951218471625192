"""What a record knows of a study, in the words that a package for reviewers uses."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from mtlspec.io.words import counted

Record = Mapping[str, Any]


class Known:
    """Sentences and figures that follow from a record alone."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.spec: Mapping[str, Any] = record["spec"]["resolved"]
        self.cards: Mapping[str, Mapping[str, Any]] = record["data"]["cards"]
        self.encoder: Mapping[str, Any] = record["encoder"]["card"]

    @cached_property
    def trainings(self) -> list[Mapping[str, Any]]:
        """What is recorded of each trained model."""
        runs = [run for model in self.record["models"] for run in model["runs"]]
        return [self.record["stages"][run["train"]]["facts"] for run in runs]

    def runs(self) -> str:
        """`99 trained models: 33 configurations with 3 seeds each (1, 2, 3)`."""
        models = self.record["models"]
        by_seeds = Counter(tuple(run["seed"] for run in model["runs"]) for model in models)
        parts = [
            f"{counted(number, 'configuration')} with {_each(seeds)}" for seeds, number in sorted(by_seeds.items())
        ]
        return f"{counted(len(self.trainings), 'trained model')}: {'; '.join(parts)}"

    def variance(self) -> str:
        """How scores of several seeds are told and compared."""
        text = f"{self.runs()}. Tables have the mean and the sample standard deviation over seeds"
        matrices = [one for one in self.spec["analyses"].values() if one["type"] == "score_matrix"]
        if not matrices:
            return f"{text}; no differences are tested."
        units = " and ".join(sorted({_UNITS.get(one.get("unit", "runs"), "") for one in matrices}))
        levels = ", ".join(sorted({f"{one['alpha']:g}" for one in matrices if "alpha" in one})) or "unknown"
        return f"{text}; differences have 95 % intervals and p values ({units}), Holm's correction, level {levels}."

    def parameters(self) -> str:
        """Of trained models and of their encoder."""
        totals = [facts["parameters"]["total"] for facts in self.trainings if "parameters" in facts]
        if not totals:
            return ""
        spread = f"{min(totals):,}" if min(totals) == max(totals) else f"from {min(totals):,} to {max(totals):,}"
        encoder = sorted({facts["parameters"]["encoder"] for facts in self.trainings if "parameters" in facts})
        return f"{spread} a model, {' or '.join(f'{one:,}' for one in encoder)} of them in the encoder"

    def budget(self) -> str:
        """What was computed; records have no times."""
        updates = sum(facts.get("updates", 0) for facts in self.trainings)
        read = sum(task["read"] for facts in self.trainings for task in facts.get("examples", {}).values())
        told = [
            counted(len(self.trainings), "training"),
            *([f"{counted(updates, 'update')} in all"] if updates else []),
        ]
        return ", ".join([*told, *([f"{counted(read, 'example')} read"] if read else [])])

    def machines(self) -> list[str]:
        """Processors, threads, GPUs and builds of torch, each once."""
        found = []
        for environment in self.record["environments"].values():
            if "torch" not in environment and len(self.record["environments"]) > 1:
                continue  # stages that only copy and count
            parts = [environment.get("cpu", {}).get("model", "a processor that was not recorded")]
            parts.append(f"{counted(environment.get('threads', 1), 'thread')} a stage")
            parts += [f"GPU {_inline(environment['gpu'])}"] if "gpu" in environment else []
            parts += [f"torch {environment['torch']['version']}"] if "torch" in environment else []
            found.append(", ".join([*parts, str(environment.get("python", ""))]).rstrip(", "))
        return sorted(set(found))

    def training(self) -> str:
        """Settings of training that all groups share unless they say otherwise, and what was swept."""
        swept = {name: group["sweep"] for name, group in self.spec["models"].items() if group.get("sweep")}
        swept |= {"every group": self.spec["sweep"]} if self.spec.get("sweep") else {}
        search = f"swept: {_inline(swept)}" if swept else "nothing was swept in this study"
        return f"`{_inline(self.spec['train'])}`; {search}"

    def packages(self) -> str:
        packages = self.record["code"]["packages"]
        lock = self.record["lock"]
        pinned = f"; all versions in requirements.lock, sha256 {lock}" if lock else ""
        return ", ".join(f"{name} {version}" for name, version in sorted(packages.items())) + pinned

    def licences(self) -> list[str]:
        """One a corpus, and the encoder's."""
        told = [f"corpus {name}: {card['licence']}" for name, card in self.cards.items()]
        return [*told, f"encoder {self.encoder['name']}: {self.encoder['licence']}"]

    def sources(self) -> list[str]:
        return [f"{name}: {card.get('title') or name}; {card['source']}" for name, card in self.cards.items()]

    def languages(self) -> list[str]:
        return [f"{name}: {card['language']}" for name, card in self.cards.items()]

    def sizes(self, corpus: str) -> Mapping[str, int]:
        """Split -> its examples, as they were prepared."""
        sizes: Mapping[str, int] = self._prepared(corpus).get("sentences", {})
        return sizes

    def splits(self) -> list[str]:
        """One line a corpus: how many examples each split has, and how it came about."""
        return [f"{name}: {', '.join(self._split_words(name, card))}" for name, card in self.cards.items()]

    def data_files(self, corpus: str) -> Mapping[str, str]:
        """File -> sha256, as the stage that fetched or made the corpus recorded them; else as the card pins them."""
        card = self.cards[corpus]
        stage = self.record["stages"].get(f"data-{card['name']}", {})
        files: Mapping[str, str] = stage.get("files") or card["sha256"]
        return files

    def _split_words(self, name: str, card: Mapping[str, Any]) -> Iterator[str]:
        sizes, shares = self.sizes(name), card.get("hold_out") or {}
        for split, size in sorted(sizes.items()):
            held = shares.get(split)
            yield f"{split} {size:,}" + (f" ({held:g} of the training files, seed {shares['seed']})" if held else "")
        if not sizes:
            yield "sizes unknown"
        dropped = sum(self._prepared(name).get("dropped sentences", {}).values())
        if dropped:
            yield f"{counted(dropped, 'malformed sentence')} left out"

    def _prepared(self, corpus: str) -> Mapping[str, Any]:
        """Facts of the stage whose artifact other stages read as this corpus."""
        stages = self.record["stages"].values()
        role = f"prepare-{corpus}"
        artifact = next((stage["inputs"][role] for stage in stages if role in stage["inputs"]), None)
        found = [stage for stage in stages if stage["kind"] == "prepare" and stage["artifact"] == artifact]
        return found[0]["facts"] if found else {}


_UNITS = {"runs": "t tests with the variance of seeds and of test sentences", "sentences": "test sentences exchanged"}


def _each(seeds: tuple[int, ...]) -> str:
    named = ", ".join(map(str, seeds)) if len(seeds) <= 10 else f"{seeds[0]} to {seeds[-1]}"
    return f"seed {named}" if len(seeds) == 1 else f"{len(seeds)} seeds each ({named})"


def _inline(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
