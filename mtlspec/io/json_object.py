"""JSON files that others wrote: an object of a sane size, or one clear line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mtlspec.errors import EncoderError

_MOST_BYTES = 2**26  # an index of weights names some thousand tensors; settings are far smaller


def read_object(path: Path) -> dict[str, Any]:
    """The object of a JSON file of an encoder's folder."""
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise EncoderError("E310", f"{size:,} bytes of JSON, and {_MOST_BYTES:,} are the most", path)
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise EncoderError("E311", f"not JSON: {reason}", path, "is the download complete?") from None
    if not isinstance(found, dict):
        raise EncoderError("E312", f"a JSON object is expected, not a {type(found).__name__}", path)
    return found
