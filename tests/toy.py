"""A toy language, a small random encoder and prepared directories of it: what tests train on."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mtlspec.data.sentence import ConTree, DepTree, Frame, Layer, Sentence

NOUNS = ["cat", "dog", "tree", "house", "river", "report", "market", "engine"]
VERBS = ["sees", "likes", "builds", "sells", "finds", "report", "market"]  # two words are nouns or verbs
ADJECTIVES = ["old", "red", "small", "quiet", "bright"]
PEOPLE = ["anna", "boris", "chen", "dana"]
FIRMS = ["acme", "globex", "initech", "umbra"]
SUFFIXES = ["##s", "##son", "##corp"]  # names may have several pieces


def sentence(rng: random.Random, number: int) -> Sentence:
    """Noun phrase, verb, noun phrase, `with` phrases.

    Layers `pos` (plain), `ner` (BIO), `dep`, `con`, `srl`, `topic` (are there names?) and `size` (words).
    """
    words: list[str] = []
    pos: list[str] = []
    ner: list[str] = []
    heads: list[int] = []
    rels: list[str] = []

    def add(word: str, tag: str, entity: str = "O") -> None:
        words.append(word)
        pos.append(tag)
        ner.append(entity)

    def phrase() -> tuple[int, int]:
        start, kind = len(words), rng.random()
        if kind < 0.5:
            add(rng.choice(["the", "a"]), "DET")
            for _ in range(rng.randrange(3)):
                add(rng.choice(ADJECTIVES), "ADJ")
            add(rng.choice(NOUNS), "NOUN")
        elif kind < 0.75:
            add(rng.choice(PEOPLE), "NAME", "B-PER")
            if rng.random() < 0.5:
                add(rng.choice(PEOPLE) + "son", "NAME", "I-PER")
        else:
            add(rng.choice(FIRMS), "NAME", "B-ORG")
            if rng.random() < 0.5:
                add(rng.choice(FIRMS) + "corp", "NAME", "I-ORG")
        return start, len(words)

    def depend(start: int, end: int, head: int, rel: str) -> None:
        """The last word of a phrase is its head; `head` is 1-based."""
        heads.extend([end] * (end - start - 1) + [head])
        rels.extend(["mod"] * (end - start - 1) + [rel])

    subject = phrase()
    verb = len(words)
    add(rng.choice(VERBS), "VERB")
    object_ = phrase()
    depend(*subject, verb + 1, "nsubj")
    heads.append(0)
    rels.append("root")
    depend(*object_, verb + 1, "obj")
    spans = [(*subject, "NP"), (verb, 0, "VP"), (*object_, "NP")]
    roles = [(*subject, "ARG0"), (verb, verb + 1, "V"), (*object_, "ARG1")]
    for _ in range(rng.randrange(3)):
        at = len(words)
        add("with", "ADP")
        inner = phrase()
        heads.append(inner[1])
        rels.append("case")
        depend(*inner, verb + 1, "obl")
        spans += [(at, inner[1], "PP"), (*inner, "NP")]
        roles.append((at, inner[1], "ARGM-MNR"))
    size = len(words)
    closed = tuple((start, end or size, label) for start, end, label in spans)
    layers: dict[str, Layer] = {
        "pos": tuple(pos),
        "ner": tuple(ner),
        "dep": DepTree(tuple(heads), tuple(rels)),
        "con": ConTree(((0, size, "TOP"), (0, size, "S"), *closed), tuple(pos)),
        "srl": (Frame(verb, f"{words[verb]}.01", tuple(roles)),),
        "topic": "names" if "NAME" in pos else "things",
        "size": float(size),
    }
    return Sentence(f"s{number}", tuple(words), layers, ("toy", number + 1))


def corpus(seed: int, size: int) -> list[Sentence]:
    rng = random.Random(seed)
    return [sentence(rng, number) for number in range(size)]


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
    tokenizer = Tokenizer(models.WordPiece({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]"))
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


def write_prepared(directory: Path, encoder: Path, splits: dict[str, Sequence[Sentence]]) -> Path:
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


def run_train(root: Path, encoder: Path, prepared: Corpora, params: dict[str, Any], progress: Any = None) -> Any:
    """The train stage into `root/out`, with resume points in `root/work`; returns its result."""
    from mtlspec.stages.context import StageContext, silent
    from mtlspec.stages.train import run

    out, work = root / "out", root / "work"
    out.mkdir(parents=True, exist_ok=True)
    work.mkdir(exist_ok=True)
    inputs = {"encoder": encoder, **_roles(prepared)}
    return run(StageContext("train", params, inputs, out, work, "identity", root, progress or silent))


def run_evaluate(root: Path, train: Path, prepared: Corpora) -> Any:
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
