"""What every kind promises, for all files in all families: its name, its options, and that checking stays light."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

import pytest

from mtlspec import kinds
from mtlspec.errors import SpecError
from mtlspec.spec import families
from mtlspec.spec.encoders import EncoderOptions

KINDS = [(family, name) for family in families.FAMILIES for name in kinds.names(family)]
BASES = {
    families.TASKS: families.TaskOptions,
    families.TAGGERS: families.TaggerOptions,
    families.SHARING: families.SharingOptions,
    families.SAMPLERS: families.SamplerOptions,
    families.BALANCE: families.BalanceOptions,
    families.ANALYSES: families.AnalysisOptions,
    families.READERS: families.ReaderOptions,
    families.GENERATORS: families.GeneratorOptions,
    families.SOURCES: families.SourceOptions,
    families.TASK_SETS: families.TaskSetOptions,
    families.ENCODERS: EncoderOptions,
}


def test_every_family_has_kinds() -> None:
    assert set(BASES) == set(families.FAMILIES)
    assert all(kinds.names(family) for family in families.FAMILIES)


@pytest.mark.parametrize(("family", "name"), KINDS)
def test_options_name_their_file_and_explain_themselves(family: str, name: str) -> None:
    options = kinds.options_class(family, name)
    assert issubclass(options, BASES[family])
    assert get_args(options.model_fields["type"].annotation) == (name,)
    assert options.module() == f"{family}.{name}"
    assert kinds.load(family, name).__doc__
    assert all(field.description for key, field in options.model_fields.items() if key != "type")


def test_no_kind_imports_anything_heavy() -> None:
    heavy = ("torch", "numpy", "pyarrow", "transformers", "tokenizers", "datasets", "matplotlib", "mlflow", "dvc")
    modules = ", ".join(f"{family}.{name}" for family, name in KINDS)
    code = f"import sys, {modules}; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("mtlspec.sharin=/", "'mtlspec.sharin' is no family of kinds"),
        ("os.path=/", "'os.path' is no family of kinds"),
        ("/some/folder", "'/some/folder' is no family of kinds"),
        ("mtlspec.sharing=/not/there", "there is no folder '/not/there'"),
    ],
)
def test_a_mistake_in_added_kinds_is_told_in_one_line(said: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MTLSPEC_KINDS", said)
    with pytest.raises(SpecError) as caught:
        kinds.added("mtlspec.sharing")
    assert str(caught.value).startswith(f"$MTLSPEC_KINDS: error E813: {told} (in '{said}'); write ")
