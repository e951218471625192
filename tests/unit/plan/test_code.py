"""Code fingerprints follow real imports, and only them."""

import ast
from pathlib import Path

import pytest

from mtlspec.kinds import options_class
from mtlspec.plan import code
from mtlspec.plan.imports import in_any_layout
from mtlspec.spec.families import TASKS


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of our name with a handful of modules."""
    root = tmp_path / "mtlspec"
    sources = {
        "__init__.py": "",
        "stages/__init__.py": "",
        "stages/context.py": "",
        "stages/train.py": "from mtlspec.train import loop\n",
        "train/__init__.py": "",
        "train/loop.py": (
            "from typing import TYPE_CHECKING\n"
            "if TYPE_CHECKING:\n    from mtlspec.report import page\n"
            "def run():\n    import mtlspec.io.late\n"
            "    import torch\n"
        ),
        "io/__init__.py": "",
        "io/late.py": "from mtlspec.train import loop  # a cycle\n",
        "report/__init__.py": "",
        "report/page.py": "",
        "report/page.html": "<p>",
        "taggers/__init__.py": "",
        "taggers/crf.py": "from mtlspec.report import page\n",
        "unused.py": "",
    }
    for name, text in sources.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(code, "PACKAGE", root)
    for cached in (code._files_of, code._imports, code._companions, code._digest):
        cached.cache_clear()
    yield root
    for cached in (code._files_of, code._imports, code._companions, code._digest):
        cached.cache_clear()


def test_imports_inside_functions_count_and_those_for_type_checking_do_not(package: Path) -> None:
    files = code.code_unit("train", []).files
    assert sorted(files) == [
        "__init__.py",
        "io/__init__.py",
        "io/late.py",
        "stages/__init__.py",
        "stages/context.py",
        "stages/train.py",
        "train/__init__.py",
        "train/loop.py",
    ]


def test_a_kind_brings_its_own_imports_and_the_data_files_beside_them(package: Path) -> None:
    plain = code.code_unit("train", []).files
    with_crf = code.code_unit("train", ["mtlspec.taggers.crf"]).files
    assert sorted(with_crf.keys() - plain.keys()) == [
        "report/__init__.py",
        "report/page.html",
        "report/page.py",
        "taggers/__init__.py",
        "taggers/crf.py",
    ]


def test_an_edit_changes_exactly_the_units_that_contain_the_file(package: Path) -> None:
    before = [code.code_unit("train", kinds) for kinds in ([], ["mtlspec.taggers.crf"])]
    (package / "taggers" / "crf.py").write_text("x = 1\n")
    for cached in (code._imports, code._digest):
        cached.cache_clear()
    after = [code.code_unit("train", kinds) for kinds in ([], ["mtlspec.taggers.crf"])]
    assert before[0] == after[0]
    assert before[1] != after[1]
    assert before[1].name == after[1].name, "a new or lost import must not rename a unit"


def test_nested_kinds_are_found_in_options() -> None:
    task = options_class(TASKS, "tagging").model_validate({"type": "tagging", "layer": "x", "decoder": "crf"})
    assert set(code.kinds_in({"a": [task]})) == {"mtlspec.model.tasks.tagging", "mtlspec.model.taggers.crf"}


def test_the_crf_is_code_of_models_that_use_it_and_of_no_other() -> None:
    def modules(decoder: str) -> set[str]:
        task = options_class(TASKS, "tagging").model_validate({"type": "tagging", "layer": "x", "decoder": decoder})
        return set(code.code_unit("train", code.kinds_in(task)).files)

    assert {"structs/linear_chain.py", "model/taggers/crf.py"} <= modules("crf")
    assert not {"structs/linear_chain.py", "model/taggers/crf.py"} & modules("linear")


SOURCES = sorted(path.relative_to(code.PACKAGE).as_posix() for path in code.PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("source", SOURCES)
def test_imports_found_in_the_text_are_those_of_the_syntax_tree(source: str) -> None:
    """Relative ones would not be found, so that nobody may write them."""
    text = (code.PACKAGE / source).read_text()
    assert not any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(ast.parse(text)))
    assert code._imports(source) == {path for module in in_any_layout(text, "") for path in code._files_of(module)}


def test_imports_are_found_in_every_layout(package: Path) -> None:
    (package / "io" / "late.py").write_text(
        "from mtlspec.train import (\n    loop as one,  # why\n)\n"
        "if TYPE_CHECKING:\n    from mtlspec.report import (\n        page,\n    )\n\n    from mtlspec import unused\n"
        "else:\n    from mtlspec.taggers import crf\n"
    )
    assert code._imports("io/late.py") == {
        "__init__.py",
        "train/__init__.py",
        "train/loop.py",
        "taggers/__init__.py",
        "taggers/crf.py",
    }


@pytest.mark.parametrize("name", [".page.html.swp", ".DS_Store", "page.html~", "#page.html#"])
def test_what_editors_leave_is_no_code(package: Path, name: str) -> None:
    (package / "report" / name).write_text("anything")
    files = code.code_unit("train", ["mtlspec.taggers.crf"]).files
    assert "report/page.html" in files and f"report/{name}" not in files
