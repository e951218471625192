"""How much may be read where an answer must be quick."""

from __future__ import annotations

import math
from pathlib import Path


class Budget:
    """Bytes that may still be hashed; files that are too large for what is left are passed over and counted."""

    def __init__(self, bytes_: float = math.inf) -> None:
        self._left = bytes_
        self.passed_over = 0

    def allows(self, path: Path) -> bool:
        size = path.stat().st_size
        if size > self._left:
            self.passed_over += 1
            return False
        self._left -= size
        return True
