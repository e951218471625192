"""All maskings of a dissociation experiment read together, against one after the other. One thread, CPU time.

The experiment has three tasks, 30 % of the heads masked for each of them, and five random controls for each: with the
whole model that is 19 maskings. Two peers evaluate each as if it were the only one, with the model and the prepared
data in memory as on our side, all three tasks in one pass, and in the batches of an evaluation: one gates the heads, as
the paper's code does; the other removes them from a copy of the model, which saves their arithmetic. What is predicted
is compared first. Two kinds of tasks: sentence classes, which read the first sub-token alone, and tags, which read all
words. Two kinds of masks: important heads in all layers, and in the upper half of them alone, where all layers below
are computed once.
"""

from __future__ import annotations

import tempfile
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench._timing import interleaved, quiet_on_one_thread

SENTENCES, DRAWS, ALPHA, ROUNDS = 64, 5, 0.3, 3
SHAPES = {"width 64, 4 layers (tiny's)": (64, 4, 8, 128), "width 192, 6 layers": (192, 6, 12, 768)}


def build(root: Path, shape: tuple[int, int, int, int], kind: str) -> tuple[Any, Any]:
    """A model of three tasks of one kind on a random encoder (width, layers, heads, feed-forward), and corpora."""
    import torch
    from transformers import BertConfig, BertModel

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

    _, generated = next(corpus(Options(type="english_mini", train=SENTENCES)))
    sentences = []
    for one in generated:
        classes = {f"class{number}": str(len(one.words) % number) for number in (2, 3, 4)}
        sentences.append(replace(one, layers={"xpos": one.layers["xpos"], **classes}))
    make_encoder(root / "encoder", sentences)
    width, layers, heads, inner = shape
    config = BertConfig.from_pretrained(root / "encoder")
    config.update({"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads})
    config.update({"intermediate_size": inner})
    torch.manual_seed(1)
    BertModel(config, add_pooling_layer=False).save_pretrained(root / "encoder")
    (root / "data").mkdir()
    splits = {"train": sentences, "dev": sentences[:10], "test": sentences}
    write_prepared(splits, WordTokenizer.load(root / "encoder"), root / "data")
    corpora = Corpora.single(Prepared.load(root / "data"))
    if kind == "classes":
        wanted = {f"class{number}": {"type": "classification", "layer": f"class{number}"} for number in (2, 3, 4)}
    else:
        wanted = {f"tags{number}": {"type": "tagging", "layer": "xpos"} for number in (2, 3, 4)}
    tasks: Any = {
        name: options_class(TASKS, options["type"]).model_validate(options) for name, options in wanted.items()
    }
    sharing: Any = options_class(SHARING, "hard").model_validate({"type": "hard"})
    model = build_model(Encoder.load(root / "encoder"), sharing, tasks, corpora.labels(tasks))
    model.module.eval()
    return model, corpora


def masks_of(model: Any, upper: bool) -> Any:
    """The whole model, three sets of heads, and random sets with as many in every layer: bool [19, L, H]."""
    import numpy as np

    from mtlspec.model.head_sets import head_count, top_heads
    from mtlspec.results.contrast import same_counts

    layers, heads = model.encoder.heads.shape
    rng = np.random.default_rng(1)
    count, sets = head_count(ALPHA, layers * heads), []
    for _ in range(3):
        importance = rng.random((layers, heads)) + (np.arange(layers)[:, None] >= layers // 2) * float(upper)
        sets.append(top_heads(importance, count))
    draws = [same_counts(one)(DRAWS, seed) for seed, one in enumerate(sets)]
    return np.concatenate([np.zeros((1, layers, heads), np.bool_), np.stack(sets), *draws])


def compare(title: str, shape: tuple[int, int, int, int], kind: str) -> None:
    import torch

    from mtlspec.analyses._iap.measure import ROWS
    from mtlspec.model.predict import predict_corpora
    from mtlspec.model.predict_masked import predict_masked
    from mtlspec.spec.models import BatchLimits

    with tempfile.TemporaryDirectory() as folder:
        model, corpora = build(Path(folder), shape, kind)

    def one_by_one(masks: Any) -> list[Any]:
        found = []
        for mask in masks:
            with model.encoder.heads.gated(torch.from_numpy(~mask).float()):
                found.append(predict_corpora(model, corpora, "test", BatchLimits()))
        return found

    def removed(masks: Any) -> list[Any]:
        found = []
        for mask in masks:
            pruned = deepcopy(model)
            pruned.encoder.heads.remove(torch.from_numpy(~mask).float())
            found.append(predict_corpora(pruned, corpora, "test", BatchLimits()))
        return found

    for where, upper in (("all layers", False), ("upper half", True)):
        masks = masks_of(model, upper)
        together = predict_masked(model, corpora, "test", ROWS, masks)
        assert together == one_by_one(masks) == removed(masks), "together each predicts what it predicts alone"
        timed = interleaved(
            lambda masks=masks: predict_masked(model, corpora, "test", ROWS, masks),
            {"gated": lambda masks=masks: one_by_one(masks), "removed": lambda masks=masks: removed(masks)},
            rounds=ROUNDS,
        )
        ratios = ", ".join(f"{peer} {ratio:.2f}x" for peer, ratio in timed.ratios.items())
        print(f"  {title}, {kind}, heads of {where}: CPU time one by one, of all together's: {ratios}", flush=True)


def main() -> None:
    quiet_on_one_thread()
    print(f"masked evaluation: 19 maskings of 3 tasks, {SENTENCES} sentences, one thread (target 1.5)")
    for title, shape in SHAPES.items():
        for kind in ("classes", "tags"):
            compare(title, shape, kind)


if __name__ == "__main__":
    main()
