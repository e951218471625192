"""Artifacts whose weights were freed to save disk: all else of them stays, and the manifest still tells what was there.

Of some, what the sharing strategy added to the encoder (gates, sets of heads) is kept beside the artifacts, sealed as
they are, in `kept/<stage>` of the run. It names the artifact that it is of, so that a later one is not taken for it.
"""

from __future__ import annotations

import json
from pathlib import Path

from mtlspec.io.digest import digest_value
from mtlspec.io.manifest import MANIFEST, read_manifest, verify_manifest

WEIGHTS = "model.safetensors"  # of a trained model
GATES, ARTIFACT = "gates.safetensors", "artifact.json"


def is_freed(artifact: Path) -> bool:
    """Whether an artifact was finished with weights and has none now."""
    if not (artifact / MANIFEST).is_file() or (artifact / WEIGHTS).exists():
        return False
    return WEIGHTS in read_manifest(artifact)


def verify_but_weights(artifact: Path) -> str:
    """As `verify_manifest`; the weights may have been freed."""
    return verify_manifest(artifact, freed=(WEIGHTS,))


def kept_folder(artifact: Path) -> Path:
    """Where the gates of an artifact with freed weights are."""
    return artifact.parent.parent / "kept" / artifact.name


def kept_gates(artifact: Path) -> Path | None:
    """The file with the gates of an artifact, verified; None if none of this very artifact were kept."""
    folder = kept_folder(artifact)
    if not (folder / MANIFEST).is_file():
        return None
    verify_manifest(folder)
    of_this = json.loads((folder / ARTIFACT).read_bytes())["digest"] == digest_value(read_manifest(artifact))
    return folder / GATES if of_this else None
