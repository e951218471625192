"""Files of a data set on the Hugging Face hub, pinned to one commit; a copy in the local hub cache is enough."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from mtlspec.kinds import Sequence_
from mtlspec.spec.card_families import GeneratorOptions

SECONDS = 5.0  # to wait for the hub's first answer


class Options(GeneratorOptions):
    type: Literal["hub"]
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?$")] = Field(
        description="Such as `nyu-mll/glue`."
    )
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] = Field(description="Full commit hash; branches move.")
    fetch: Annotated[Sequence_[str], Field(min_length=1)] = Field(
        description="The files to fetch, or patterns such as `rte/*.parquet`; they keep their paths, which `paths` of "
        "the card's groups name."
    )

    def generate(self, out: Path) -> None:
        """Put the repository's files below `out`, under their own paths."""
        from mtlspec.io.write import write_bytes

        snapshot = self._cached()
        if snapshot is None or not self._wanted(snapshot):
            snapshot = self._download()
        for name in self._wanted(snapshot):
            write_bytes(out / name, (snapshot / name).read_bytes())

    def _wanted(self, snapshot: Path) -> list[str]:
        """A snapshot may also have what somebody else fetched."""
        from huggingface_hub.utils import filter_repo_objects

        names = sorted(path.relative_to(snapshot).as_posix() for path in snapshot.rglob("*") if path.is_file())
        return list(filter_repo_objects(names, allow_patterns=list(self.fetch)))

    def _cached(self) -> Path | None:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import IncompleteSnapshotError, LocalEntryNotFoundError

        try:
            found = snapshot_download(
                self.id,
                repo_type="dataset",
                revision=self.revision,
                local_files_only=True,
                allow_patterns=list(self.fetch),
            )
        except (LocalEntryNotFoundError, IncompleteSnapshotError):
            return None
        return Path(found)

    def _download(self) -> Path:
        from huggingface_hub import constants, snapshot_download
        from huggingface_hub.utils import get_session

        from mtlspec.errors import DataError

        try:
            if constants.HF_HUB_OFFLINE:
                raise ConnectionError("HF_HUB_OFFLINE is set")
            get_session().head(constants.ENDPOINT, timeout=SECONDS)  # the library would retry for half a minute
            found = snapshot_download(
                self.id,
                repo_type="dataset",
                revision=self.revision,
                etag_timeout=SECONDS,
                allow_patterns=list(self.fetch),
            )
        except Exception as error:  # a missing repository, no access, no network: the library has a class for each
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            message = f"'{self.id}' is in no local hub cache and cannot be downloaded: {reason}"
            command = f"hf download {self.id} --repo-type dataset --revision {self.revision}"
            raise DataError("E732", message, hint=f"fetch it where there is network: `{command}`") from None
        return Path(found)
