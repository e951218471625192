"""Pages that commands write where they are told to, inside the project."""

from __future__ import annotations

from pathlib import Path

from mtlspec.errors import SetupError
from mtlspec.io.write import write_text_if_changed


def write_page(target: Path, text: str) -> bool:
    """Whether the file changed; one line where no file can be."""
    try:
        return write_text_if_changed(target, text)
    except (IsADirectoryError, NotADirectoryError, FileExistsError) as error:
        raise SetupError("E633", f"this is no place for a file ({error.strerror})", target, "name a file") from None
