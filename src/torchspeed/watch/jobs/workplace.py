"""Opens the checkout in which a job measures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from torchspeed.watch.asv.machine_identity import check_machine_name
from torchspeed.watch.asv.settings import read_configuration, select_pairs
from torchspeed.watch.exclusive.run import exclusive_run
from torchspeed.watch.jobs import preflight
from torchspeed.watch.machine.description import default_name
from torchspeed.watch.turns.workplace import Workplace


@contextmanager
def open_workplace(
    root: Path, job: str, *, torch: str, machine: str, committed: bool = True
) -> Iterator[Workplace]:
    """Check the checkout, and hold it for a job.

    Args:
        root: the checkout.
        job: what is going to measure, such as ``nightly``.
        torch: a release that asv.conf.json pins, ``newest`` or ``all``.
        machine: the host's name if empty.
        committed: refuse changes of measured files that are not committed.

    Raises:
        TorchspeedError: the first check that fails, or another run holds the checkout.
    """
    preflight.check_checkout(root)
    configuration = read_configuration(root)
    pairs = select_pairs(configuration.pairs, torch)
    name = machine or default_name()
    check_machine_name(name)
    if committed:
        preflight.check_branch(root, configuration.branch)
        preflight.check_clean(root, configuration.measured_paths)
    preflight.check_room(configuration, pairs)
    with exclusive_run(configuration.environments, job):
        yield Workplace(root, configuration, pairs, name)
