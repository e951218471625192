"""What a spec needs and this machine lacks: data, the encoder, the device. Light, so that `mtlspec check` can ask."""

from __future__ import annotations

import ctypes
import importlib.metadata
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from mtlspec.data.pins import check_pins, resolve_root
from mtlspec.data.special_tokens import named_specials
from mtlspec.errors import DataError, EncoderError, MtlspecError, Place, SetupError
from mtlspec.execute.surveys import Surveys
from mtlspec.io.budget import Budget
from mtlspec.io.digest import digest_file
from mtlspec.io.project import Project
from mtlspec.model.encoder.config_check import check_config
from mtlspec.model.encoder.pinned_files import check_digest, check_known, needed_files, require_safe_weights
from mtlspec.spec.cards import DataCard, EncoderCard
from mtlspec.spec.load import Needs

_OTHER_GPUS = ("/dev/kfd", "/dev/dxg")  # AMD's, and those that Windows lends: torch alone can tell more of them


@dataclass
class Machine:
    """This one. `work` names the stages that a run would compute, None if that is not known: all of them. What no
    such stage needs may be missing."""

    project: Project
    work: Callable[[], Collection[str] | None]
    note: Callable[[str], None]
    data: Budget = field(default_factory=Budget)  # for hashing
    encoder: Budget = field(default_factory=lambda: Budget(0))  # whose stage hashes what it copies
    surveys: Surveys | None = None  # None: no corpus is read

    def lacks(self, needs: Needs) -> Iterator[MtlspecError]:
        """Every reason for which a run would stop, before it starts."""
        for card in needs.data:
            yield from self._corpus(card)
        if needs.encoder is not None:
            yield from self._encoder(needs.encoder, needs.weights)
        yield from self._device(needs)

    @cached_property
    def _computed(self) -> Collection[str] | None:
        """Asked only where something is missing: it takes a plan."""
        return self.work()

    def _would_run(self, stage: str) -> bool:
        return self._computed is None or stage in self._computed

    def _corpus(self, card: DataCard) -> Iterator[MtlspecError]:
        """Data that lie on disk are what their card pinned; DVC would accept a drifted file in silence.

        Who has not got the data can still work with the sealed copy that a finished `data` stage made.
        """
        if card.generator is not None:
            return
        try:
            root = resolve_root(card, self.project)
        except DataError as error:
            if self._would_run(f"data-{card.name}"):
                yield error
            else:
                self.note(f"{error.message}: using the copy that was made when it was here")
            return
        try:
            passed_over = self.data.passed_over
            check_pins(card, root, self.project.data_cards / f"{card.name}.yaml", self.data)
            if self.surveys is not None:
                self.surveys.read(card, root, pinned=passed_over == self.data.passed_over)
        except MtlspecError as error:
            yield from error.problems

    def _encoder(self, card: EncoderCard, weights: bool) -> Iterator[MtlspecError]:
        file = self.project.encoder_cards / f"{card.name}.yaml"
        try:
            folder = card.source.folder(self.project.root)
            if folder is not None:
                self._check_files(card, folder, weights, file)
        except EncoderError as error:
            if self._would_run(f"import-{card.name}"):
                place = error.place or Place(self.project.relative(file))
                yield EncoderError(error.code, error.message, place, error.hint)

    def _check_files(self, card: EncoderCard, folder: Path, weights: bool, file: Path) -> None:
        files, pins = needed_files(folder), card.source.pins()
        if weights:
            require_safe_weights(folder)
        check_known(files, pins, card.source.all_pinned, file)
        for name in files.names:
            if name in pins and self.encoder.allows(folder / name):
                check_digest(folder / name, digest_file(folder / name), pins[name])
        if "config.json" in files.names:
            check_config(folder / "config.json")
        named_specials(folder)

    def _device(self, needs: Needs) -> Iterator[MtlspecError]:
        why = None if needs.device == "cpu" else _no_gpu(int(needs.device.partition(":")[2] or 0))
        if why is not None and self._computed != set():
            message = f"there is no device '{needs.device}' here: {why}"
            yield SetupError("E610", message, needs.device_place, "set `run.device: cpu`, or run it elsewhere")


def _no_gpu(index: int) -> str | None:
    """Why torch could not compute on a GPU, as far as can be told without it; None if nothing speaks against it."""
    if importlib.metadata.version("torch").endswith("+cpu"):
        return "the installed torch computes on CPUs only"
    if any(Path(path).exists() for path in _OTHER_GPUS):
        return None
    count = ctypes.c_int(0)
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        failed = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    except (OSError, AttributeError):
        return "NVIDIA's driver is not installed"
    if failed or count.value == 0:
        return "NVIDIA's driver finds no GPU"
    return None if index < count.value else f"it has {count.value} GPUs, counted from 0"
