"""`mtlspec.load`: a trained model that predicts, or an encoder, whichever a name or a directory means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.load import load_directory
from mtlspec.model.multitask import MultiTaskModel, load_model
from mtlspec.spec.models import RunOptions
from mtlspec.spec.own_kinds import use_own_kinds
from mtlspec.track.instructions import stay_with_common_instructions
from mtlspec.use.documents import Sentences
from mtlspec.use.exported import load_exported
from mtlspec.use.given import Given
from mtlspec.use.models import Found, find_model, is_model
from mtlspec.use.predictor import Predictor
from mtlspec.use.words import Tokens


class LoadedModel(MultiTaskModel):
    """A trained model with all its parts that knows how its own evaluation read text, and so reads new text."""

    def __init__(self, found: Found, model: MultiTaskModel) -> None:
        vars(self).update(vars(model))  # the very parts of the model
        self.found = found

    @cached_property
    def predictor(self) -> Predictor:
        return Predictor(self.found, self)

    def predict(
        self,
        inputs: Iterable[Given],
        tasks: Sequence[str] = (),
        probabilities: bool = False,
        tokens: Tokens = "rules",
        sentences: Sentences | None = None,
    ) -> list[dict[str, Any]]:
        """What `mtlspec predict` would print for each input: a text, a list of words, or a tuple of two texts.

        With `sentences`, a text is a document and gives an object for each of its sentences.
        """
        return self.predictor.predict(inputs, tasks, probabilities, tokens, sentences)


def load(reference: str | Path, device: str = "cpu") -> LoadedModel | Encoder:
    folder = Path(reference)
    if is_model(folder):
        return load_trained(reference, device)
    if folder.exists() or isinstance(reference, Path) or folder.is_absolute() or reference.startswith("."):
        loaded = load_directory(folder)
        assert isinstance(loaded, Encoder)
        return loaded.to(device)
    return load_trained(reference, device)


def load_trained(reference: str | Path, device: str = "cpu") -> LoadedModel:
    """The trained or exported model of a folder, or `spec/model` of the project around us."""
    found = find_model(str(reference))
    use_own_kinds(found.folder)  # a model may be of a kind that only its project has
    found.verify()
    read = load_exported if found.exported else load_model
    return LoadedModel(found, read(found.folder, device))


def load_as_evaluated(reference: str, threads: int | None = None, device: str | None = None) -> LoadedModel:
    """The same in a process that computes as the evaluation did, to the last bit, unless it is told otherwise."""
    run = find_model(reference).run
    stay_with_common_instructions()  # before torch computes anything
    import torch

    from mtlspec.train.determinism import make_deterministic

    there = run.device if torch.cuda.is_available() else "cpu"
    options = RunOptions.model_validate({"threads": threads or run.threads, "device": device or there})
    return load_trained(reference, str(make_deterministic(0, options)))
