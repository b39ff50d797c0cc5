"""The checkout, environments and machine of a job, and the checks before it starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from asv_watch.asv.declared import Declared
from asv_watch.asv.machine_identity import check_machine_name
from asv_watch.asv.settings import (
    Configuration,
    EnvironmentSpec,
    find_repository,
    load_settings,
    read_configuration,
    select_environments,
)
from asv_watch.checkout import preflight
from asv_watch.machine.description import default_name
from asv_watch.machine.lock import exclusive_run
from asv_watch.records.git import read_commits
from asv_watch.records.history import History
from asv_watch.records.loading import load_history


@dataclass(frozen=True, slots=True)
class Workplace:
    """A checkout that passed every check, and what is measured in it."""

    root: Path
    configuration: Configuration
    environments: tuple[EnvironmentSpec, ...]
    machine: str
    """Folder of this machine's results, and its name in asv."""

    @property
    def declared(self) -> Declared:
        """What the project declares of measured processes."""
        return self.configuration.declared

    @property
    def results(self) -> Path:
        """This machine's results."""
        return self.configuration.results / self.machine


def load_results(root: Path) -> History:
    """Load the stored results of the branch that a project publishes.

    Raises:
        WatchError: asv.conf.json, the repository or the results cannot be read.
    """
    conf = load_settings(root)
    commits = read_commits(*find_repository(root, conf))
    return load_history(Path(conf.results_dir), commits)


@contextmanager
def open_workplace(
    root: Path, job: str, *, release: str, machine: str, committed: bool = True
) -> Iterator[Workplace]:
    """Check the checkout, and hold it for a job.

    Args:
        root: the checkout.
        job: what is going to measure, such as ``nightly``.
        release: a release that asv.conf.json pins, ``newest`` or ``all``.
        machine: the host's name if empty.
        committed: refuse changes of measured files that are not committed.

    Raises:
        WatchError: the first check that fails, or another run holds the checkout.
    """
    preflight.check_checkout(root)
    configuration = read_configuration(root, fetch=True)
    environments = select_environments(configuration.environments, release)
    name = machine or default_name()
    check_machine_name(name)
    if committed:
        preflight.check_branch(configuration.repository, configuration.branch)
        preflight.check_clean(root, configuration.declared.measured_paths)
    preflight.check_room(configuration, environments)
    with exclusive_run(configuration.environments_folder, job):
        yield Workplace(root, configuration, environments, name)
