"""Which files of a folder make an encoder, and whether a card has a pin for each; nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mtlspec.errors import EncoderError
from mtlspec.io.digest import digest_file
from mtlspec.io.json_object import read_object

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
SETTINGS = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
_SLOW_TOKENIZER = (
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "added_tokens.json",
)
PATTERNS = (*SETTINGS, *_SLOW_TOKENIZER, "*.safetensors", INDEX)
"""What a download needs to bring."""
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.h5", "*.msgpack")


@dataclass(frozen=True)
class NeededFiles:
    """What is taken from a folder; `shards` are weights in several files, which are joined."""

    folder: Path
    names: tuple[str, ...]
    shards: tuple[str, ...]

    def digests(self) -> dict[str, str]:
        return {name: digest_file(self.folder / name) for name in self.names}


def needed_files(folder: Path) -> NeededFiles:
    if not folder.is_dir():
        raise EncoderError("E321", "the encoder's directory is missing", folder)
    shards = _shards(folder / INDEX) if (folder / INDEX).is_file() and not (folder / WEIGHTS).is_file() else []
    names = [name for name in (*SETTINGS, WEIGHTS) if (folder / name).is_file()]
    if shards:
        names += [INDEX, *shards]
    if "tokenizer.json" not in names:
        names += [name for name in _SLOW_TOKENIZER if (folder / name).is_file()]
    return NeededFiles(folder, tuple(names), tuple(shards))


def require_safe_weights(directory: Path) -> None:
    """An error unless the directory has safetensors weights; pickled ones can run code and are never read."""
    if any((directory / name).is_file() for name in (WEIGHTS, INDEX)):
        return
    pickled = sorted(path.name for pattern in _PICKLED for path in directory.glob(pattern))
    if pickled:
        raise EncoderError(
            "E301",
            f"the weights are only there as {pickled[0]}, which is not read because it can run code",
            directory,
            "use a revision with model.safetensors, or convert it once",
        )
    raise EncoderError("E302", "there is no model.safetensors", directory)


def check_known(files: NeededFiles, pins: Mapping[str, str], all_pinned: bool, card_file: Path) -> None:
    """Every pin is of a file that is taken and, with `all_pinned`, every file has one."""
    missing = sorted(pins.keys() - set(files.names))
    if missing:
        raise EncoderError("E323", f"the card pins '{missing[0]}', which is not there or not needed", files.folder)
    unpinned = [name for name in files.names if name not in pins]
    if not all_pinned or not unpinned:
        return
    message = f"{len(unpinned)} {'file has' if len(unpinned) == 1 else 'files have'} no pin: {', '.join(unpinned)}"
    hint = f"`mtlspec encoder lock {card_file.stem}` records what is there now"
    if not card_file.is_file():
        lines = ", ".join(f"{name}: {digest_file(files.folder / name)}" for name in unpinned)
        hint = f"if they are right, add to the card's sha256: {lines}"
    raise EncoderError("E324", message, files.folder, hint)


def check_digest(path: Path, found: str, pin: str | None) -> None:
    if pin is not None and found != pin:
        raise EncoderError("E322", f"the file is not the pinned one: sha256 {pin} expected, {found} found", path)


def _shards(index: Path) -> list[str]:
    """The files that an index of weights names, all in its own folder."""
    map_ = read_object(index).get("weight_map")
    if not isinstance(map_, dict) or not map_ or not all(isinstance(name, str) for name in map_.values()):
        raise EncoderError("E325", "the index of weights has no `weight_map` from weights to files", index)
    names = sorted(set(map_.values()))
    for name in names:
        if Path(name).name != name or not name.endswith(".safetensors") or not (index.parent / name).is_file():
            raise EncoderError("E326", f"the index names '{name}', which is not a safetensors file beside it", index)
    return names
