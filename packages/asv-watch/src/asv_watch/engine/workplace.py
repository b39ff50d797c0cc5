"""The checkout, environments and machine of a job, and the checks before it starts."""

import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from asv_watch.asv.declared import Declared
from asv_watch.asv.settings import (
    Configuration,
    EnvironmentSpec,
    read_configuration,
    select_environments,
)
from asv_watch.errors import MachineError, WatchError
from asv_watch.machine.facts import machine_name
from asv_watch.machine.lock import exclusive_run
from asv_watch.versions.git import ask_git, check_complete, uncommitted

_GIB = 1024**3
_RESULTS_SIZE = _GIB // 4


def check_checkout(root: Path) -> None:
    """Refuse a folder from which asv cannot see every commit.

    Raises:
        WatchError: git is missing; ``root`` is no checkout or another user's, has no commit, is
            shallow, or has a line break in its name.
    """
    if "\n" in str(root):
        raise WatchError(
            f"the folder {str(root)!r} has a line break in its name, which git cannot share "
            "objects across; rename it"
        )
    check_complete(root)
    if not ask_git(root, "rev-parse", "--verify", "HEAD^{commit}"):
        raise WatchError(f"{root} has no commit yet; commit first, asv measures commits")


def check_clean(root: Path, measured_paths: Sequence[str], *results: Path) -> None:
    """Refuse changes of measured files that are not committed: a value belongs to a commit.

    Without paths, every tracked file counts, except the folders of results.
    """
    untracked = () if measured_paths else ("--untracked-files=no",)
    written = [f":(exclude){path}" for path in results if path.is_relative_to(root)]
    changed = uncommitted(root, *untracked, "--", *(measured_paths or (":/", *written)))
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise WatchError(
            f"{changed[0]}{more} differs from HEAD, and values are stored by commit; "
            "commit or `git stash` first"
        )


def check_room(configuration: Configuration, environments: tuple[EnvironmentSpec, ...]) -> None:
    """Refuse a full disk, or a results folder that cannot be written."""
    new = [environment for environment in environments if not environment.folder.is_dir()]
    results = configuration.results
    need = int(len(new) * configuration.declared.environment_gib * _GIB) + _RESULTS_SIZE
    free = _free_bytes(results)
    if free < need:
        raise MachineError(
            f"{free / _GIB:.1f} GiB are free for {results} and {need / _GIB:.1f} GiB are "
            f"needed ({len(new)} environments to install); make room, or remove "
            f"{configuration.environments_folder}"
        )
    try:
        results.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=results):
            pass
    except OSError as error:
        raise MachineError(
            f"results cannot be written to {results} ({error.strerror}); "
            "it has to be a folder that this user can write"
        ) from error


def count_that_fits(configuration: Configuration, folders: Collection[Path], most: int) -> int:
    """Return how many of the environments in these folders fit on the disk, at most ``most``.

    Those that are installed already need no more room.
    """
    free = _free_bytes(configuration.results) - _RESULTS_SIZE
    size = max(1.0, configuration.declared.environment_gib * _GIB)
    return min(most, sum(folder.is_dir() for folder in folders) + int(free / size))


def _free_bytes(folder: Path) -> int:
    existing_folder = next(parent for parent in folder.absolute().parents if parent.is_dir())
    return shutil.disk_usage(existing_folder).free


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
        """What the project declares about its measured processes."""
        return self.configuration.declared

    @property
    def results(self) -> Path:
        """This machine's results."""
        return self.configuration.results / self.machine


def _remedy_of_branch(repository: Path, branch: str) -> str:
    if ask_git(repository, "rev-parse", "--verify", f"refs/remotes/origin/{branch}"):
        return f"make it with `git branch {branch} origin/{branch}`"
    head = ask_git(repository, "symbolic-ref", "--short", "HEAD")
    return f'write "branches": ["{head or "main"}"] into asv.conf.json'


@contextmanager
def open_workplace(
    root: Path, job: str, *, release: str, machine: str, committed: bool = True
) -> Iterator[Workplace]:
    """Check the checkout, and lock it for a job.

    Args:
        root: the checkout.
        job: the name of the job, such as ``nightly``.
        release: a release that asv.conf.json pins, ``newest`` or ``all``.
        machine: the host's name if empty.
        committed: refuse changes of measured files that are not committed.

    Raises:
        WatchError: the first check that fails, or another run holds the checkout.
    """
    check_checkout(root)
    configuration = read_configuration(root, fetch=True)
    environments = select_environments(configuration.environments, release)
    name = machine_name(machine)
    if committed:
        branch = configuration.branch
        if not ask_git(configuration.repository, "rev-parse", "--verify", f"refs/heads/{branch}"):
            raise WatchError(
                f"there is no local branch {branch!r}, which asv.conf.json tracks; "
                f"{_remedy_of_branch(configuration.repository, branch)}"
            )
        if configuration.repository == root:  # else changes here are none of what is measured
            folders = configuration.results, configuration.site
            check_clean(root, configuration.declared.measured_paths, *folders)
    check_room(configuration, environments)
    with exclusive_run(configuration.environments_folder, job):
        yield Workplace(root, configuration, environments, name)
