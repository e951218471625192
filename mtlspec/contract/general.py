"""What kinds of all families promise: a name, options that explain themselves, and a light import."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from mtlspec import kinds
from mtlspec.contract.promise import promise
from mtlspec.kinds import Options

HEAVY = ("torch", "numpy", "pyarrow", "transformers", "tokenizers", "datasets", "matplotlib", "mlflow", "dvc")


def check_named(family: str, name: str) -> None:
    """The file's name is the kind's; its docstring and every option's description stand in the reference."""
    options = kinds.options_class(family, name)
    base = kinds.family_class(family)
    promise(issubclass(options, base), f"its options do not derive from `{base.__name__}`")
    promise(get_args(options.model_fields["type"].annotation) == (name,), f'`type` is not `Literal["{name}"]`')
    promise(options.module() == f"{family}.{name}", "its options come from another file")
    promise(kinds.load(family, name).__doc__, "it has no docstring, which would be its text in the reference")
    bare = [key for key, field in options.model_fields.items() if key != "type" and not field.description]
    promise(not bare, f"no `description` of {', '.join(bare)}")


def check_options(options: Options) -> None:
    """Frozen, strict, and the same again when they come from the parameters of a stage."""
    for setting, wanted in (("frozen", True), ("strict", True), ("extra", "forbid")):
        found = options.model_config.get(setting)
        promise(found == wanted, f"`model_config` says `{setting}={found}` where all options are `{wanted}`")
    stored = json.loads(json.dumps(options.model_dump(mode="json"), allow_nan=False))
    promise(type(options).model_validate(stored) == options, "its options are others when they come back from JSON")


def check_light(modules: Sequence[tuple[str, str]]) -> None:
    """Kinds, as (family, name), that import nothing heavy, because `mtlspec check` imports them."""
    code = f"import sys; from mtlspec import kinds; [kinds.load(*kind) for kind in {list(modules)!r}]; "
    code += f"print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    promise(done.returncode == 0, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no import")
    found = ", ".join(done.stdout.split())
    promise(not found, f"importing it imports {found}: do that inside functions")


def check_imports(file: Path, project: Path) -> None:
    """Nothing of the project is imported that lies outside of `kinds/`: no fingerprint would see an edit of it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        named: list[Any] = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            named = [node.module]
        for module in (str(name).partition(".")[0] for name in named):
            found = importlib.util.find_spec(module) if module != "mtlspec" else None
            origin = Path(found.origin) if found is not None and found.origin else None
            inside = origin is not None and origin.is_relative_to(project) and "site-packages" not in origin.parts
            promise(not inside, f"line {getattr(node, 'lineno', 0)} imports {origin}, whose edits no plan would see")
