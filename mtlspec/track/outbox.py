"""The outbox: what has still to be mirrored, kept on disk until the server has it.

Items are derived from records, so an outbox that is lost costs nothing: publishing again finds what is missing. Servers
are known by their addresses without users and passwords, and nobody else may read why something was not sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtlspec.errors import SetupError
from mtlspec.io.digest import digest_value
from mtlspec.io.project import Project
from mtlspec.io.secrets import clean_address
from mtlspec.io.write import write_json
from mtlspec.track.items import Item
from mtlspec.track.server import remake

_OURS_ALONE = 0o600


@dataclass(frozen=True)
class Outbox:
    """The pending and the delivered items of one spec."""

    project: Project
    spec: str

    @property
    def pending_file(self) -> Path:
        return self.project.tracking / "outbox" / f"{self.spec}.json"

    @property
    def delivered_file(self) -> Path:
        return self.project.tracking / "delivered" / f"{self.spec}.json"

    def pending(self) -> tuple[str, ...]:
        """Keys of the items that wait."""
        return tuple(_read(self.pending_file).get("items", ()))

    def wait(self, uri: str, keys: Sequence[str], reason: str) -> None:
        """From now on nothing counts as delivered until all of it is."""
        try:
            waiting = {"uri": clean_address(uri), "items": list(keys), "reason": reason}
            write_json(self.pending_file, waiting, _OURS_ALONE)
            self.delivered_file.unlink(missing_ok=True)
        except (NotADirectoryError, FileExistsError, IsADirectoryError) as error:
            blocked = f"this is in the way of the outbox ({error.strerror})"
            raise SetupError("E632", blocked, self.project.tracking, remake(self.project)) from None

    def deliver(self, uri: str, items: Sequence[Item], extra: Mapping[str, str]) -> None:
        """Everything is at `uri`; `extra` is whatever else was sent: the tags of the experiment."""
        write_json(self.delivered_file, {"uri": clean_address(uri), "digest": _digest(items, extra)}, _OURS_ALONE)
        self.pending_file.unlink(missing_ok=True)

    def delivered(self, uri: str, items: Sequence[Item], extra: Mapping[str, str]) -> bool:
        return bool(_read(self.delivered_file) == {"uri": clean_address(uri), "digest": _digest(items, extra)})

    def address(self) -> str | None:
        """Where the spec was sent last, or should have been; None if it never was."""
        return _read(self.delivered_file).get("uri") or _read(self.pending_file).get("uri")

    def abandon(self) -> None:
        """Nothing of it is to be sent any more; only its address is remembered, because something is still there."""
        write_json(self.delivered_file, {"uri": self.address()}, _OURS_ALONE)
        self.pending_file.unlink(missing_ok=True)

    def clear(self) -> None:
        for file in (self.pending_file, self.delivered_file):
            file.unlink(missing_ok=True)


def waiting(project: Project) -> tuple[str, ...]:
    """Specs that have something in their outbox."""
    return tuple(sorted(path.stem for path in (project.tracking / "outbox").glob("*.json")))


def forget(project: Project, uri: str) -> None:
    """Nothing is at `uri` any more, whatever the notes of any spec say: what was there waits to be sent again."""
    for path in (project.tracking / "delivered").glob("*.json"):
        if _read(path).get("uri") == clean_address(uri):
            if project.run(path.stem).base.is_dir():
                Outbox(project, path.stem).wait(uri, (), "the store was lost")
            path.unlink(missing_ok=True)


def _digest(items: Sequence[Item], extra: Mapping[str, str]) -> str:
    return digest_value([[(item.key, item.content) for item in items], dict(extra)])


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
