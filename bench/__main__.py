"""`python -m bench` runs every benchmark, `python -m bench linear_chain` one of them."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import bench


def main(arguments: list[str]) -> int:
    known = sorted(module.name for module in pkgutil.iter_modules(bench.__path__) if not module.name.startswith("_"))
    unknown = [name for name in arguments if name not in known]
    if unknown:
        print(f"no benchmark '{unknown[0]}'; known: {', '.join(known)}", file=sys.stderr)
        return 2
    for name in arguments or known:
        importlib.import_module(f"bench.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
