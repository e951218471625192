"""Small encoders of random weights in place of published ones: the paper's specs run whole with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from mtlspec.io.digest import digest_file

if TYPE_CHECKING:
    from transformers import PretrainedConfig


def write_standin(root: Path, config: PretrainedConfig) -> None:
    """Weights for a configuration beside the tokenizer that is in `root/standin`, and a card of the name `standin`."""
    import torch
    from safetensors.torch import save_file

    from mtlspec.model.encoder.loading import build_model

    directory = root / "standin"
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = build_model(config)
    config.save_pretrained(directory)
    save_file({key: value.contiguous() for key, value in model.state_dict().items()}, directory / "model.safetensors")
    digests = {path.name: digest_file(path) for path in sorted(directory.iterdir())}
    source = {"type": "directory", "path": "standin", "sha256": digests}
    card = {"card": "encoder", "name": "standin", "licence": "none", "source": source}
    (root / "registry/encoders/standin.yaml").write_text(json.dumps(card))
