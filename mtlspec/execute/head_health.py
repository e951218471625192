"""`mtlspec doctor --encoder`: the proof of the head seam on an encoder's own weights and on real sentences."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtlspec.errors import EncoderError, did_you_mean
from mtlspec.execute.health import Check
from mtlspec.io.manifest import verify_manifest
from mtlspec.io.project import Project
from mtlspec.model.encoder.known_as import known_as
from mtlspec.spec.cards import EncoderCard
from mtlspec.spec.load import load_encoder_card

if TYPE_CHECKING:
    from torch import Tensor

SENTENCES = (
    "The old committee approved the new budget for the city library.",
    "She sold her small house near the river.",
    "Why did the engineers of the company report the problem to the press only after the market had closed?",
)
_LONGEST = 24


@dataclass(frozen=True)
class Examined:
    """An encoder and the batch it is examined on."""

    about: str  # where the weights come from
    model: Any
    pieces: Tensor
    mask: Tensor

    def checks(self) -> Iterator[Check]:
        from mtlspec.model.encoder.proof import prove_heads

        for found in prove_heads(self.model, self.model.config, self.pieces, self.mask):
            yield Check(found.name, found.holds, found.detail)


def examine(name: str) -> Examined:
    """The encoder of a directory (also that of a trained model), or of a card of this project."""
    directory = Path(name)
    if directory.is_dir():
        return _of_directory(directory, f"the weights of {name}")
    project = Project.find()
    if not (project.encoder_cards / f"{name}.yaml").is_file():
        known = [path.stem for path in project.encoder_cards.glob("*.yaml")]
        where = project.relative(project.encoder_cards)
        message = f"there is neither a folder '{name}' nor a card of that name in {where}"
        raise EncoderError("E363", message, hint=did_you_mean(name, known))
    card = load_encoder_card(name, project)
    made = _artifact(project, card)
    if made is not None:
        return _of_directory(made, f"the weights of {project.relative(made)}")
    if card.source.learns_from_data:
        return _of_shape(card)
    with tempfile.TemporaryDirectory(dir=_scratch(project)) as made_here:
        copy = Path(made_here)
        with known_as(copy, lambda: card.source.folder(project.root)):
            _fetch(card, project, copy)
            return _of_directory(copy, f"the weights that card '{name}' names")


def _artifact(project: Project, card: EncoderCard) -> Path | None:
    """An intact artifact that some run of this project made from exactly this card."""
    for told in sorted((project.root / "registry" / "runs").glob("*/stages/*.json")):
        stage = json.loads(told.read_bytes())
        artifact = project.run(told.parents[1].name).artifact(told.stem)
        if stage.get("kind") != "encoder" or not artifact.is_dir():
            continue
        if EncoderCard.model_validate(stage["params"]["card"]) == card:
            verify_manifest(artifact)
            return artifact
    return None


def _fetch(card: EncoderCard, project: Project, out: Path) -> None:
    from mtlspec.model.encoder.request import Request

    request = Request(card.name, out, project.root, {}, None, "cpu", lambda *_: None)
    card.source.fetch(request)


def _scratch(project: Project) -> Path:
    project.state.mkdir(exist_ok=True)
    return project.state


def _of_directory(directory: Path, about: str) -> Examined:
    from mtlspec.model.encoder.loading import load_model
    from mtlspec.model.load import load_directory

    if (directory / "encoder").is_dir():
        trained: Any = load_directory(directory)
        return Examined(f"{about} (a trained model)", trained.encoder.heads.model, *_batch(directory / "encoder"))
    return Examined(about, load_model(directory), *_batch(directory))


def _of_shape(card: EncoderCard) -> Examined:
    """A random encoder of the card's shape, where the weights would have to be learnt first."""
    import torch

    from mtlspec.model.encoder.loading import build_model

    config = card.source.shape()
    if config is None:
        raise EncoderError("E984", f"the encoder '{card.name}' is a vocabulary: what reads it has no attention heads")
    torch.manual_seed(0)
    model = build_model(config)
    pieces = torch.randint(1, config.vocab_size, (3, 16))
    about = f"random weights of the shape of '{card.name}', because no run of this project has learnt them yet"
    return Examined(about, model, pieces, torch.arange(16) < torch.tensor([[16], [9], [13]]))


def _batch(directory: Path) -> tuple[Tensor, Tensor]:
    """The sentences as the encoder's own tokenizer cuts them: pieces int64 [3, S], mask bool [3, S]."""
    import torch

    from mtlspec.data.tokenizer import read_specials, read_tokenizer

    read_specials(directory)  # a run could not do without them
    tokenizer = read_tokenizer(directory)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    rows = [torch.tensor(tokenizer.encode(text).ids[:_LONGEST]) for text in SENTENCES]
    mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(row, dtype=torch.bool) for row in rows], batch_first=True)
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True), mask
