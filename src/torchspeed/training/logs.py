"""Records of epochs in files that other tools read: CSV and TensorBoard."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torchspeed.errors import TorchspeedError
from torchspeed.training.observer import Observer
from torchspeed.training.phases import StepTimes
from torchspeed.training.results import EpochRecord


class Observers(Observer):
    """Several observers, called in their order."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = observers

    def prepared(self, summary: str) -> None:
        """Hand it on."""
        for observer in self._observers:
            observer.prepared(summary)

    def begin(self, title: str, steps: int) -> None:
        """Hand it on."""
        for observer in self._observers:
            observer.begin(title, steps)

    def step(self, items: int, times: StepTimes) -> None:
        """Hand it on."""
        for observer in self._observers:
            observer.step(items, times)

    def epoch(self, record: EpochRecord) -> None:
        """Hand it on."""
        for observer in self._observers:
            observer.epoch(record)


class CsvLog(Observer):
    """A row for each epoch, added as it ends; a resumed run goes on in the same file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def epoch(self, record: EpochRecord) -> None:
        """Add a row.

        Raises:
            TorchspeedError: the file has other columns, or cannot be written.
        """
        row = _flat(record)
        header = ",".join(row)
        try:
            with self._file.open("a+", encoding="utf-8", newline="") as file:
                file.seek(0)
                first = file.readline().rstrip("\r\n")
                if first not in {"", header}:
                    raise TorchspeedError(
                        f"{self._file} is not a log of epochs; it is unchanged; give another"
                    )
                writer = csv.DictWriter(file, list(row))
                if not first:
                    writer.writeheader()
                writer.writerow(row)
        except OSError as error:
            raise TorchspeedError(f"{self._file} cannot be written ({error.strerror})") from None


class TensorBoardLog(Observer):
    """The same numbers for TensorBoard.

    Raises:
        TorchspeedError: tensorboard is not installed.
    """

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - optional
        except ImportError:
            raise TorchspeedError(
                "--tensorboard needs the Python package tensorboard; pip install tensorboard"
            ) from None
        self._writer: Any = SummaryWriter(str(folder))

    def epoch(self, record: EpochRecord) -> None:
        """Write the numbers of an epoch."""
        for name, value in _flat(record).items():
            if value is not None and name != "number":
                self._writer.add_scalar(name, value, record.number)
        self._writer.flush()


def _flat(record: EpochRecord) -> dict[str, Any]:
    """Numbers of an epoch by name; the phases become columns of their own."""
    values = asdict(record)
    phases = values.pop("phases_s")
    return values | {f"{phase.replace(' ', '_')}_s": total for phase, total in phases.items()}
