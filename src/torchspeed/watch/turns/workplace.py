"""Where is measured: the checkout, its configuration, the torch pairs, the machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torchspeed.watch.asv.settings import Configuration, Pair


@dataclass(frozen=True, slots=True)
class Workplace:
    """A checkout that passed every check, and what is measured in it."""

    root: Path
    configuration: Configuration
    pairs: tuple[Pair, ...]
    machine: str
    """Folder of this machine's results, and its name in asv."""

    @property
    def results(self) -> Path:
        """This machine's results."""
        return self.configuration.results / self.machine
