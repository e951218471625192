"""What every kind promises, for all files in all families: its name, its options, and that checking stays light."""

from __future__ import annotations

import pytest

from mtlspec import kinds
from mtlspec.contract.general import check_light, check_named
from mtlspec.errors import SpecError
from mtlspec.spec import card_families, families
from mtlspec.spec.encoders import EncoderOptions

KINDS = [(family, name) for family in families.FAMILIES for name in kinds.names(family)]
BASES = {
    families.TASKS: families.TaskOptions,
    families.TAGGERS: families.TaggerOptions,
    families.SHARING: families.SharingOptions,
    families.SAMPLERS: families.SamplerOptions,
    families.BALANCE: families.BalanceOptions,
    families.ANALYSES: families.AnalysisOptions,
    families.READERS: card_families.ReaderOptions,
    families.GENERATORS: card_families.GeneratorOptions,
    families.SOURCES: card_families.SourceOptions,
    families.TASK_SETS: families.TaskSetOptions,
    families.ENCODERS: EncoderOptions,
}


def test_every_family_has_kinds() -> None:
    assert set(BASES) == set(families.FAMILIES)
    assert all(kinds.names(family) for family in families.FAMILIES)


@pytest.mark.parametrize(("family", "name"), KINDS)
def test_options_name_their_file_and_explain_themselves(family: str, name: str) -> None:
    check_named(family, name)
    assert kinds.family_class(family) is BASES[family]


def test_no_kind_imports_anything_heavy() -> None:
    check_light(KINDS)


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
