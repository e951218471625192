"""`mtlspec predict` on lines of words, against the same model in a plain transformers loop. One thread, CPU time.

The plain loop tokenises 32 lines at a time in the order of the file, encodes them with transformers and decodes each
task with our decoders, because transformers has none of a parser. Ours reads the file, cuts batches of like lengths and
makes the lines that are printed. Tags and heads are compared first.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench._timing import interleaved, quiet_on_one_thread

SENTENCES, BATCH, ROUNDS = 256, 32, 5
TASKS: dict[str, dict[str, Any]] = {
    "pos": {"type": "tagging", "layer": "xpos"},
    "dep": {"type": "biaffine_dep", "layer": "dep"},
}


def build(root: Path) -> tuple[Path, list[list[str]]]:
    """A model of a tagger and a parser on a random encoder, as a train stage leaves it, and sentences of words."""
    from bench.training_loop import make_encoder
    from mtlspec.data.escapes import unescape
    from mtlspec.data.generators.english_mini import Options, corpus
    from mtlspec.data.prepare import write_prepared
    from mtlspec.data.prepared import Prepared
    from mtlspec.data.tokenizer import WordTokenizer
    from mtlspec.kinds import options_class
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.multitask import build_model
    from mtlspec.spec import families

    _, generated = next(corpus(Options(type="english_mini", train=SENTENCES)))
    sentences = list(generated)
    make_encoder(root / "encoder", sentences)
    (root / "data").mkdir()
    write_prepared({"train": sentences}, WordTokenizer.load(root / "encoder"), root / "data")
    labels = Prepared.load(root / "data").labels
    tasks: Any = {
        name: options_class(families.TASKS, options["type"]).model_validate(options) for name, options in TASKS.items()
    }
    sharing: Any = options_class(families.SHARING, "hard").model_validate({"type": "hard"})
    own = {name: labels[options["layer"]] for name, options in TASKS.items()}
    model = build_model(Encoder.load(root / "encoder"), sharing, tasks, own)
    model.save(root / "model", root / "encoder")
    # Escapes of treebanks would be read as what they stand for by ours alone.
    return root / "model", [[unescape(word) for word in sentence.words] for sentence in sentences]


def plain_loop(folder: Path, sentences: list[list[str]], tasks: list[str]) -> Callable[[], list[dict[str, Any]]]:
    """As one would write it with transformers: `folder` is the exported model."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    from mtlspec.data.batching import Batch
    from mtlspec.model.encoder.encoder import ends_of, pool_words
    from mtlspec.model.encoder.states import States
    from mtlspec.use.loaded import load_trained

    tokenizer, encoder = (
        AutoTokenizer.from_pretrained(folder / "encoder"),
        AutoModel.from_pretrained(folder / "encoder"),
    )
    decoders = {task.name: task for task in load_trained(folder).tasks}

    @torch.inference_mode()
    def run() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for start in range(0, len(sentences), BATCH):
            part = sentences[start : start + BATCH]
            batch = tokenizer(part, is_split_into_words=True, padding=True, return_tensors="pt")
            hidden = encoder(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).last_hidden_state
            words = [[-1 if word is None else word for word in batch.word_ids(row)] for row in range(len(part))]
            of_word, mask = torch.tensor(words), batch["attention_mask"].bool()
            most = max(map(len, part))
            there = torch.arange(most) < torch.tensor([[len(sentence)] for sentence in part])
            states = States(pool_words(hidden, of_word, most), *ends_of(hidden, mask), hidden)
            read = Batch(torch.arange(len(part)), batch["input_ids"], mask, of_word, there)
            decoded = {name: decoders[name].decode(states, read) for name in tasks}
            found += [{name: values[row] for name, values in decoded.items()} for row in range(len(part))]
        return found

    return run


def compare(trained: Path, exported: Path, sentences: list[list[str]], tasks: list[str]) -> None:
    from mtlspec.use.inputs import plain
    from mtlspec.use.loaded import load_trained
    from mtlspec.use.shown import json_line, objects

    predictor = load_trained(trained).predictor
    text = "".join(" ".join(sentence) + "\n" for sentence in sentences).encode()

    def ours() -> list[dict[str, Any]]:
        source = plain(["-"], "words", io.BytesIO(text))
        windows = predictor.stream(source, predictor.asking(tasks))
        made = [one for window in windows for one in objects(window)]
        "".join(map(json_line, made))
        return made

    loop = plain_loop(exported, sentences, tasks)
    for mine, theirs in zip(ours(), loop(), strict=True):
        assert "pos" not in tasks or mine["tasks"]["pos"] == theirs["pos"]
        assert "dep" not in tasks or mine["tasks"]["dep"]["heads"] == [*theirs["dep"].heads]
    timed = interleaved(ours, {"plain loop": loop}, rounds=ROUNDS)
    print(f"  {' and '.join(tasks):12} the plain loop takes {timed.ratios['plain loop']:.2f}x our CPU time")


def main() -> None:
    from mtlspec.use.export import export_model
    from mtlspec.use.loaded import load_trained

    quiet_on_one_thread()
    print(f"prediction: {SENTENCES} lines of words, one thread (target 1.0)")
    with tempfile.TemporaryDirectory() as folder:
        trained, sentences = build(Path(folder))
        export_model(load_trained(trained).predictor, Path(folder) / "exported")
        for tasks in (["pos"], ["dep"], ["pos", "dep"]):
            compare(trained, Path(folder) / "exported", sentences, tasks)


if __name__ == "__main__":
    main()
