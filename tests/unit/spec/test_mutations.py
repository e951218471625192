"""Twenty thousand damaged specs: each loads, or is answered with errors of ours."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from mtlspec.errors import MtlspecError
from mtlspec.io.project import Project
from mtlspec.spec.expand import count, expand
from mtlspec.spec.load import load_spec
from tests.unit.spec.small_project import SPEC, make_project

CHUNKS, SIZE = 20, 1000
SWEPT = SPEC + "sweep: {train.lr.encoder: [1e-5, 5e-5], sharing: [hard]}\nrun: {device: cpu}\n"
FRAGMENTS = [
    *("null", "true", "-1", "0", "1e999", ".nan", "9" * 30, "''", "[]", "{}", "[[]]", "{type: power}", "no", "2e-5"),
    *(
        "*a",
        "&a ",
        "!!x ",
        "<<: ",
        "? ",
        ": ",
        "- ",
        "---\n",
        "...\n",
        "%YAML 1.1\n",
        "|\n",
        ">\n",
        "'",
        '"',
        "#",
        "\t",
    ),
    *("extends: study.yaml\n", "extends: base.yaml\n", "extends: .\n", "type: ", "{extends: corpus}", "$HOME", "../x"),
    *(
        "é",
        "\u2028",
        "\ufeff",
        "\x00",
        "\x85",
        "\U0001f600",
        "{",
        "}",
        "[",
        "]",
        ",",
        "\n",
        "  ",
        "pairs",
        "all_but_one",
    ),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("mutations"))
    (project.root / "specs/base.yaml").write_text(SPEC)
    return project


def mutate_bytes(rng: random.Random) -> bytes:
    """Bytes flipped, cut, doubled or put in."""
    data = bytearray(SWEPT.encode())
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(data))
        match rng.randrange(4):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at : at + rng.randrange(1, 9)]
            case 2:
                data[at:at] = data[at : at + rng.randrange(1, 40)]
            case _:
                data.insert(at, rng.choice(b"{}[]:,-&*!|>'\"%@#?\t\n\x00\xff"))
    return bytes(data)


def mutate_structure(rng: random.Random) -> bytes:
    """Values, keys and lines replaced by others that YAML can read, more often than not."""
    lines = SWEPT.splitlines(keepends=True)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(lines))
        line = lines[at]
        match rng.randrange(6):
            case 0:
                lines[at] = ""
            case 1:
                lines.insert(at, rng.choice(lines))
            case 2 if ":" in line:
                key, _, _ = line.partition(":")
                lines[at] = f"{key}: {rng.choice(FRAGMENTS)}\n"
            case 3:
                words = line.split(" ")
                words[rng.randrange(len(words))] = rng.choice(FRAGMENTS)
                lines[at] = " ".join(words)
            case 4:
                other = rng.randrange(len(lines))
                lines[at], lines[other] = lines[other], line
            case _:
                lines[at] = rng.choice(("", " ", "  ")) + line.replace(rng.choice("aeinst"), rng.choice("xyz_"), 1)
    return "".join(lines).encode()


def mutate_override(rng: random.Random) -> str:
    key = ".".join(
        rng.choices(("train", "lr", "encoder", "data", "models", "stl", "type", "seeds", "x", ""), k=rng.randint(1, 4))
    )
    return f"{key}={rng.choice(FRAGMENTS)}"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_damaged_specs_never_escape_as_anything_but_our_errors(chunk: int, project: Project) -> None:
    rng = random.Random(chunk)
    path: Path = project.root / "specs/study.yaml"
    sound = 0
    for number in range(SIZE):
        data = (mutate_bytes, mutate_structure)[number % 2](rng)
        overrides = [mutate_override(rng)] if number % 10 == 0 else []
        path.write_bytes(data)
        try:
            spec = load_spec(path, project, overrides).spec
            sound += 1
            assert count(spec) > 500 or len(expand(spec)) == count(spec)
        except MtlspecError as error:
            assert error.exit_code == 2, data
            assert all(problem.place is not None for problem in error.problems), data
            assert all("\n" not in str(problem) for problem in error.problems), data
    assert 0 < sound < SIZE // 2, "mutations must do damage, but not all of them to the same place"
