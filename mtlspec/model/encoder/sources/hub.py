"""An encoder from the Hugging Face hub, pinned to one commit; a copy in a local hub cache is enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.spec.card_families import SourceOptions
from mtlspec.spec.families import Sha256

if TYPE_CHECKING:
    from pathlib import Path

    from mtlspec.errors import EncoderError
    from mtlspec.model.encoder.request import Request

_OFFLINE = "HF_HUB_OFFLINE is set"
SECONDS = 5.0  # to wait for the hub's first answer


class Options(SourceOptions):
    type: Literal["hub"]
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?$")] = Field(
        description="Such as `google-bert/bert-base-cased`."
    )
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] = Field(description="Full commit hash; branches move.")
    sha256: dict[str, Sha256] = Field(default_factory=dict, description="Digests to check besides, per file.")

    def about(self) -> str:
        return f"{self.id} at {self.revision[:12]}"

    def pins(self) -> Mapping[str, str]:
        return self.sha256

    def folder(self, project_root: Path) -> Path | None:
        from huggingface_hub import constants

        found = _cached(self, project_root) if any(_snapshot(self, cache) for cache in _caches(project_root)) else None
        if found is None and constants.HF_HUB_OFFLINE:
            raise _unreachable(self, _OFFLINE)
        return found

    def fetch(self, request: Request) -> dict[str, Any]:
        from mtlspec.model.encoder.pinned_copy import copy_pinned

        snapshot = _cached(self, request.project_root) or _download(self, request)
        files = copy_pinned(snapshot, request, self.sha256, all_pinned=self.all_pinned)
        return {"files": files, "id": self.id, "revision": self.revision}


def _caches(project_root: Path) -> tuple[Path, Path]:
    """Downloads go to the project's scratch folder; the user's own hub cache is read too, but never changed."""
    from pathlib import Path

    from huggingface_hub import constants

    return project_root / ".mtlspec" / "hub", Path(constants.HF_HUB_CACHE)


def _cached(options: Options, project_root: Path) -> Path | None:
    from pathlib import Path

    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import IncompleteSnapshotError, LocalEntryNotFoundError

    from mtlspec.model.encoder.pinned_files import PATTERNS

    for cache in _caches(project_root):
        try:
            found = snapshot_download(
                options.id,
                revision=options.revision,
                cache_dir=cache,
                local_files_only=True,
                allow_patterns=list(PATTERNS),
            )
        except (LocalEntryNotFoundError, IncompleteSnapshotError):
            continue
        return Path(found)
    return None


def _download(options: Options, request: Request) -> Path:
    from pathlib import Path

    from huggingface_hub import snapshot_download
    from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    from mtlspec.errors import EncoderError
    from mtlspec.model.encoder.pinned_files import PATTERNS

    _require_hub(options)
    request.progress(0, 1, f"downloading {options.id}")
    silent = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        found = snapshot_download(
            options.id,
            revision=options.revision,
            cache_dir=_caches(request.project_root)[0],
            etag_timeout=SECONDS,
            allow_patterns=list(PATTERNS),
        )
    except Exception as error:  # a missing repository, no access, a broken connection: the library has a class for each
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise EncoderError("E331", f"'{options.id}' cannot be downloaded: {reason}", hint=_hint(options)) from None
    finally:
        if not silent:
            enable_progress_bars()
    return Path(found)


def _require_hub(options: Options) -> None:
    """One short question first: the library itself would retry an unreachable hub for half a minute."""
    from huggingface_hub import constants
    from huggingface_hub.utils import get_session

    try:
        if constants.HF_HUB_OFFLINE:
            raise ConnectionError(_OFFLINE)
        get_session().head(constants.ENDPOINT, timeout=SECONDS)
    except Exception as error:  # the HTTP library's own exceptions, which are not ours to know
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise _unreachable(options, reason) from None


def _unreachable(options: Options, reason: str) -> EncoderError:
    from mtlspec.errors import EncoderError

    message = f"'{options.id}' is in no local hub cache and the hub cannot be reached: {reason}"
    return EncoderError("E332", message, hint=_hint(options))


def _snapshot(options: Options, cache: Path) -> bool:
    """Whether a cache has anything of the commit; a look at a folder, where the library takes long to be imported."""
    return (cache / f"models--{options.id.replace('/', '--')}" / "snapshots" / options.revision).is_dir()


def _hint(options: Options) -> str:
    return f"fetch it where there is network: `hf download {options.id} --revision {options.revision}`"
