"""Zip files whose bytes depend on nothing but what is in them."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Mapping

_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip can say


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """Names in the zip -> contents, in the order of the names, all of one time; a name that ends in `/` is a folder."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(files):
            about = zipfile.ZipInfo(name, _TIME)
            mode = stat.S_IFDIR | 0o755 if name.endswith("/") else 0o644
            about.compress_type, about.external_attr, about.create_system = zipfile.ZIP_DEFLATED, mode << 16, 3
            archive.writestr(about, files[name])
    return buffer.getvalue()
