"""Where a job measures: the checkout, its configuration, the torch pairs, the machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torchspeed.watch.asv.registration import register
from torchspeed.watch.asv.settings import Configuration, Pair, read_configuration, select_pairs
from torchspeed.watch.jobs import preflight
from torchspeed.watch.machine.description import default_name


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


def open_workplace(root: Path, *, torch: str, machine: str) -> Workplace:
    """Check the checkout and register the machine with asv.

    Args:
        root: the checkout.
        torch: a release that asv.conf.json pins, ``newest`` or ``all``.
        machine: the host's name if empty.

    Raises:
        TorchspeedError: the first check that fails.
    """
    preflight.check_checkout(root)
    configuration = read_configuration(root)
    pairs = select_pairs(configuration.pairs, torch)
    preflight.check(root, configuration, pairs)
    name = machine or default_name()
    register(name)
    return Workplace(root, configuration, pairs, name)
