"""What analyses, report and tracking have in common: models, their evaluations, tables, figures and findings.

Python puts a package into its parent's namespace when it is imported: over the function `mtlspec.results`, which has
the same name. So the package can be called, too, and is that function.
"""

from __future__ import annotations

import sys
from types import ModuleType

from mtlspec import results as _frames_of_a_run  # still the function: the package comes in its place afterwards


class _Called(ModuleType):
    __call__ = staticmethod(_frames_of_a_run)


sys.modules[__name__].__class__ = _Called
