"""A small random encoder, prepared data of a toy language, and stages on them: what kinds are tried on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtlspec.contract.toy_language import ADJECTIVES, FIRMS, NOUNS, PEOPLE, SUFFIXES, VERBS
from mtlspec.data.sentence import Sentence

if TYPE_CHECKING:
    from mtlspec.stages.context import Progress, StageResult


def write_encoder(
    directory: Path,
    width: int = 32,
    layers: int = 2,
    heads: int = 4,
    dropout: float = 0.1,
    known: Sequence[Sentence] = (),
) -> Path:
    """A WordPiece tokenizer and a random BERT, laid out as an encoder artifact; it has the words of `known` as well."""
    import torch
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertModel

    from mtlspec.io.write import write_json

    directory.mkdir(parents=True, exist_ok=True)
    words = dict.fromkeys([*NOUNS, *VERBS, *ADJECTIVES, *PEOPLE, *FIRMS, "the", "a", "with"])
    words |= dict.fromkeys(
        part for s in known for word in s.words for part in re.findall(r"\w+|[^\w\s]+", word.lower())
    )
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *SUFFIXES]
    tokenizer = Tokenizer(models.WordPiece({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(directory / "tokenizer.json"))
    roles = {f"{role}_token": f"[{role.upper()}]" for role in ("pad", "unk", "cls", "sep", "mask")}
    write_json(directory / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", **roles})
    with torch.random.fork_rng():
        torch.manual_seed(7)
        config = BertConfig(
            vocab_size=len(tokens),
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=2 * width,
            max_position_embeddings=64,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
        )
        model = BertModel(config, add_pooling_layer=False)
    config.save_pretrained(directory)
    save_file(model.state_dict(), directory / "model.safetensors", metadata={"format": "pt"})
    return directory


def write_prepared(directory: Path, encoder: Path, splits: Mapping[str, Sequence[Sentence]]) -> Path:
    from mtlspec.data.prepare import write_prepared as write
    from mtlspec.data.tokenizer import WordTokenizer

    directory.mkdir(parents=True, exist_ok=True)
    write(splits, WordTokenizer.load(encoder), directory)
    return directory


TASKS: dict[str, dict[str, Any]] = {
    "pos": {"type": "tagging", "layer": "pos", "decoder": {"type": "linear"}},
    "ner": {"type": "tagging", "layer": "ner", "decoder": {"type": "crf"}},
    "names": {"type": "tagging", "layer": "ner", "decoder": {"type": "linear"}},
}


def train_params(
    tasks: Sequence[str] = ("pos", "ner"), seed: int = 1, dropout: float = 0.2, **train: Any
) -> dict[str, Any]:
    """Parameters of a train stage; `train` overrides training options."""
    options = {"epochs": 2, "batch": {"sentences": 8, "tokens": 400}, "lr": {"encoder": 1e-3, "decoder": 1e-2}}
    return {
        "group": "test",
        "variant": "test",
        "tasks": {name: TASKS[name] for name in tasks},
        "sharing": {"type": "hard"},
        "train": {**options, **train},
        "encoder": {"card": "toy", "subword_dropout": dropout, "max_pieces": None},
        "seed": seed,
        "run": {"threads": 1, "device": "cpu", "precision": "fp32"},
        "sweep": [],
    }


Corpora = Path | Mapping[str, Path]
"""A prepared directory, or several by the names of their corpora."""


def run_train(
    root: Path, encoder: Path, prepared: Corpora, params: Mapping[str, Any], progress: Progress | None = None
) -> StageResult:
    """The train stage into `root/out`, with resume points in `root/work`; returns its result."""
    from mtlspec.stages.context import StageContext, silent
    from mtlspec.stages.train import run

    out, work = root / "out", root / "work"
    out.mkdir(parents=True, exist_ok=True)
    work.mkdir(exist_ok=True)
    inputs = {"encoder": encoder, **_roles(prepared)}
    return run(StageContext("train", params, inputs, out, work, "identity", root, progress or silent))


def run_evaluate(root: Path, train: Path, prepared: Corpora) -> StageResult:
    """The evaluate stage into `root/out`."""
    from mtlspec.stages.context import StageContext
    from mtlspec.stages.evaluate import run

    out, work = root / "out", root / "work"
    out.mkdir(parents=True, exist_ok=True)
    params = {"batch": {"sentences": 32, "tokens": 3200}, "run": {"threads": 1, "device": "cpu", "precision": "fp32"}}
    inputs = {"train": train, **_roles(prepared)}
    return run(StageContext("evaluate", params, inputs, out, work, "identity", root))


def _roles(prepared: Corpora) -> dict[str, Path]:
    named = prepared if isinstance(prepared, Mapping) else {"toy": prepared}
    return {f"prepare-{name}": path for name, path in named.items()}
