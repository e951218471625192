"""Probing every head of an encoder against reading the same sentences with plain eager attention. One thread.

The peer is the forward pass that any probe needs, in the same batches, with attention probabilities returned by
transformers itself. The ratio is what the answers cost on top: pooling to words, arg max, centroids, all labels, and
the controls. Rounds are interleaved and the CPU time counts.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROUNDS = 3
SHAPES = [("tiny", 4, 8, 128), ("small", 6, 12, 384)]  # name, layers, heads, width


def write_encoder(directory: Path, words: list[str], layers: int, heads: int, width: int) -> None:
    """A tokenizer that knows most words whole, and a random BERT, laid out as an encoder artifact."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(
        words, trainers.WordPieceTrainer(vocab_size=1500, special_tokens=specials, show_progress=False)
    )
    roles = {f"{role}_token": f"[{role.upper()}]" for role in ("pad", "unk", "cls", "sep", "mask")}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **roles).save_pretrained(directory)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(directory)


def passes(directory: Path, prepared: Path) -> dict[str, Callable[[], object]]:
    """Name -> one run over dev and test."""
    import torch

    from mtlspec.analyses._probes.passes import ask, probe_attention, probe_values
    from mtlspec.analyses._probes.subjects import Subject
    from mtlspec.data.batching import collate, sequential
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.spec.models import BatchLimits

    splits = {name: PreparedSplit.load(prepared, name) for name in ("dev", "test")}
    layers = {"dep": "dep", "srl": "srl", "pos": "xpos", "ner": "ner", "con": "con"}
    questions = {task: ask(task, layer, splits, 1) for task, layer in layers.items()}  # type: ignore[arg-type]
    subject = Subject("pretrained", 0, Encoder.load(directory))
    eager = Encoder.load(directory)
    eager.model.set_attn_implementation("eager")  # type: ignore[operator]
    limits = BatchLimits()

    @torch.inference_mode()
    def plain() -> None:
        for split in splits.values():
            for rows in sequential(split.lengths, limits.sentences, limits.tokens):
                batch = collate(split, rows, eager.specials)
                eager.model(input_ids=batch.pieces, attention_mask=batch.piece_mask, output_attentions=True)

    return {
        "plain": plain,
        "attention": lambda: probe_attention(subject, splits, [questions["dep"], questions["srl"]], with_self=True),
        "values": lambda: probe_values(
            subject, splits, [questions["pos"], questions["ner"], questions["con"]], centroids="dev"
        ),
    }


def main() -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import torch

    from mtlspec.data.generators.english_mini import Options, corpus
    from mtlspec.data.prepare import write_prepared
    from mtlspec.data.tokenizer import WordTokenizer

    torch.set_num_threads(1)
    sentences = dict(corpus(Options(type="english_mini", train=50, dev=500, test=500)))
    print("probes of every head and label against plain eager forward passes (500 + 500 sentences), one thread")
    print(
        f"{'encoder':>10} {'forward ms':>11} {'attention':>10} {'values':>8} {'both':>6}   (times the forward passes)"
    )
    for name, layers, heads, width in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            encoder, prepared = Path(folder) / "encoder", Path(folder) / "prepared"
            write_encoder(encoder, [w for s in sentences["dev"] for w in s.words], layers, heads, width)
            prepared.mkdir()
            write_prepared(sentences, WordTokenizer.load(encoder), prepared)
            runs = passes(encoder, prepared)
            times: dict[str, list[float]] = {key: [] for key in runs}
            for run in runs.values():
                run()
            for _ in range(ROUNDS):
                for key, run in runs.items():
                    started = time.process_time()
                    run()
                    times[key].append(time.process_time() - started)
            attention, values = (
                statistics.median(p / q for p, q in zip(times[key], times["plain"], strict=True))
                for key in ("attention", "values")
            )
            forward = 1000 * statistics.median(times["plain"])
            print(f"{name:>10} {forward:11.0f} {attention:9.2f}x {values:7.2f}x {(attention + values) / 2:5.2f}x")
