"""The checkout, environments and machine of a job, the checks before it starts, and its sides.

A **side** is what is compared: a commit, or the working tree, in one environment.
"""

import dataclasses
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from asv_watch import probes
from asv_watch.asv import settings
from asv_watch.asv.declared import Declared
from asv_watch.asv.environments import build_package
from asv_watch.errors import MachineError, WatchError
from asv_watch.machine.commands import run_command
from asv_watch.machine.facts import machine_name
from asv_watch.machine.lock import exclusive_run
from asv_watch.records.notes import commit_of_version
from asv_watch.versions import git
from asv_watch.versions.version import Version, distribution

_GIB = 1024**3
_RESULTS_SIZE = _GIB // 4


def check_checkout(root: Path) -> None:
    """Refuse a folder from which asv cannot see every commit, or with a line break in its name."""
    if "\n" in str(root):
        raise WatchError(
            f"the folder {str(root)!r} has a line break in its name, which git cannot share "
            "objects across; rename it"
        )
    git.check_complete(root)
    if not git.ask_git(root, "rev-parse", "--verify", "HEAD^{commit}"):
        raise WatchError(f"{root} has no commit yet; commit first, asv measures commits")


def check_clean(root: Path, measured_paths: Sequence[str], *results: Path) -> None:
    """Refuse changes of measured files that are not committed: a value belongs to a commit.

    Without paths, every tracked file counts, except the folders of results.
    """
    untracked = () if measured_paths else ("--untracked-files=no",)
    written = [f":(exclude){path}" for path in results if path.is_relative_to(root)]
    paths = *(measured_paths or (":/", *written)), ":(top,exclude)*.pyc"
    status = git.ask_git(root, "status", "--porcelain", *untracked, "--", *paths)
    changed = [line.split(maxsplit=1)[1] for line in status.splitlines()]
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise WatchError(
            f"{changed[0]}{more} differs from HEAD, and values are stored by commit; "
            "commit or `git stash` first"
        )


def check_room(
    configuration: settings.Configuration, environments: tuple[settings.EnvironmentSpec, ...]
) -> None:
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


def count_that_fits(
    configuration: settings.Configuration, folders: Collection[Path], most: int
) -> int:
    """Return how many of these environments fit on the disk; installed ones need no more room."""
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
    configuration: settings.Configuration
    environments: tuple[settings.EnvironmentSpec, ...]
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


def _check_branch(repository: Path, branch: str) -> None:
    if git.ask_git(repository, "rev-parse", "--verify", f"refs/heads/{branch}"):
        return
    head = git.ask_git(repository, "symbolic-ref", "--short", "HEAD")
    remedy = f'write "branches": ["{head}"] into asv.conf.json'
    origin = git.ask_git(repository, "rev-parse", "--verify", f"refs/remotes/origin/{branch}")
    if origin or not head:
        start = f"origin/{branch}" if origin else "HEAD"
        remedy = f"make it with `git branch {branch} {start}`"
    raise WatchError(f"there is no local branch {branch!r}, which asv.conf.json tracks; {remedy}")


@contextmanager
def open_workplace(
    root: Path, job: str, *, release: str, machine: str, committed: bool = True
) -> Iterator[Workplace]:
    """Check the checkout, and lock it for a job.

    The job has a name for people, such as ``nightly``. The release is one that asv.conf.json pins,
    ``newest`` or ``all``. The machine has the host's name if none is given. If ``committed`` is
    true, changes of measured files that are not committed are refused.

    Raises:
        WatchError: the first check that fails, or another run holds the checkout.
    """
    check_checkout(root)
    configuration = settings.read_configuration(root, fetch=True)
    if not configuration.suites.is_dir():
        raise WatchError(
            f"there is no folder {configuration.suites}, where the suites have to be; correct "
            '"benchmark_dir" of asv.conf.json, or bring it back'
        )
    environments = settings.select_environments(configuration.environments, release)
    name = machine_name(machine)
    if committed:
        _check_branch(configuration.repository, configuration.branch)
        if configuration.repository == root:  # else changes here are none of what is measured
            folders = configuration.results, configuration.site
            check_clean(root, configuration.declared.measured_paths, *folders)
    check_room(configuration, environments)
    with exclusive_run(configuration.environments_folder, job):
        yield Workplace(root, configuration, environments, name)


_PACKAGES = "interleaved/packages"
"""Folder below the work folder for the packages of commits."""
_TREE = "tree-"
"""Begins the name of the package of a working tree."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison."""

    name: str
    """Name for people: ``main (1a2b3c4d), numpy 2.4.0``."""
    source: Path
    """Folder that holds the package as it was at the commit, or in the working tree."""
    environment: settings.EnvironmentSpec
    suites: Path
    """Folder of the suites that measure it: the checkout's own, whatever the commit."""
    version: Version | None = None
    """The version in stored comparisons; ``None`` for changes that are not committed."""
    planted: float = 0.0
    """Share of its time by which every sample of the side after is slowed down, to test whether
    that is detected."""
    other_cases: Mapping[str, str] = field(default_factory=dict)
    """Maps identities of cases to those that this side measures in their place, or to an empty
    text if it has none: so cases that do the same are compared as versions are."""

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return self.environment.interpreter or self.environment.folder / "bin" / "python"

    @property
    def built(self) -> str:
        """Name and release of the package that was built for it; empty if none was."""
        about = next(self.source.glob("*.dist-info"), None)
        return about.stem.replace("-", " ") if about else ""

    def imported_from(self, project: str) -> str:
        """Return the folder from which it imports the project; empty if it finds none by name."""
        command = [str(self.python), "-P", str(probes.IMPORTING), project, "folder"]
        try:
            return run_command(command, settings.ASKING_TIMEOUT_S, env=self.variables).strip()
        except WatchError:  # such as for a part of a package: ``ruamel.yaml``
            return ""

    def command(self, script: Path, *arguments: object) -> list[str]:
        """Return the command that runs a script on its suites, in its environment."""
        return [str(self.python), "-P", str(script), str(self.suites), *map(str, arguments)]

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables of a process that imports its package."""
        declared = dict(self.environment.variables)
        return os.environ | declared | {"PYTHONPATH": str(self.source)}

    @property
    def same_process(self) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        """Key that is equal for sides whose processes may be forked from one parent."""
        variables = tuple(sorted(self.environment.variables.items()))
        return str(self.python), str(self.suites), variables


def side(workplace: Workplace, text: str, release: str = settings.NEWEST) -> Side:
    """Make one side from what a person typed.

    It is a commit, tag or branch, or ``.`` for the working tree as it is. ``@`` and a release may
    follow, as in ``v1@2.14.1``; without one, ``release`` counts.

    Raises:
        WatchError: there is no such commit or release, or the commit has no package.
    """
    configuration = workplace.configuration
    repository = configuration.repository
    revision, _, own_release = text.partition("@")
    if git.find_commit(repository, text):  # such as HEAD@{1}, or a branch user@topic
        revision, own_release = text, ""
    wanted = own_release or release or settings.NEWEST
    environments = settings.select_environments(configuration.environments, wanted)
    if len(environments) != 1:
        names = ", ".join(spec.label for spec in environments)
        raise WatchError(f"a side takes one environment, and {wanted!r} names several: {names}")
    [environment] = environments
    if revision == ".":
        kept = configuration.work_folder, configuration.environments_folder
        written = (*kept, configuration.results, configuration.site)
        commit = git.working_tree_commit(repository, written)
        if commit != git.find_commit(repository, "HEAD"):
            for earlier in (configuration.work_folder / _PACKAGES).glob(f"{_TREE}*"):
                if not earlier.name.startswith(f"{_TREE}{commit}"):
                    shutil.rmtree(earlier, ignore_errors=True)
            name = f"the working tree, {environment.label}"
            tree = commit_side(workplace, commit, environment, name, prefix=_TREE)
            return dataclasses.replace(tree, version=None)
        revision = "HEAD"
    named = commit_of_version(configuration.results, revision) or revision
    commit = git.find_commit(repository, named)
    if not commit:
        raise WatchError(
            f"{revision!r} is not a commit, tag, branch or version of this project; "
            "`git log --oneline` lists them, and . is the working tree"
        )
    shown = commit[:8] if commit.startswith(revision) else f"{revision} ({commit[:8]})"
    return commit_side(workplace, commit, environment, f"{shown}, {environment.label}")


def reference_side(workplace: Workplace) -> Side:
    """Return the side that commits are measured against, interleaved: asv.conf.json names it.

    So the state of the machine cancels in their ratio. Where another one is named, the two have to
    be compared, so that ratios to either can be combined.

    Raises:
        WatchError: there is no such commit or release.
    """
    try:
        return side(workplace, workplace.declared.reference)
    except WatchError as error:
        raise WatchError(f'"reference" in asv.conf.json: {error}') from error


def commit_side(
    workplace: Workplace,
    commit: str,
    environment: settings.EnvironmentSpec,
    name: str = "",
    *,
    prefix: str = "",
) -> Side:
    """Return a commit, by its full hash, in an environment; its package is built or checked out.

    In an interpreter that somebody else made, and where asv.conf.json neither builds nor installs
    the project, the commit's files are imported as they are: from ``src``, or beside the suites.
    Its name for people is by default short hash and environment; the prefix begins the name of
    its package's folder.

    Raises:
        WatchError: it cannot be built.
    """
    configuration = workplace.configuration
    repository = configuration.repository
    name = name or f"{commit[:8]}, {environment.label}"
    version = Version(commit, dict(environment.requirements), environment.python)
    packages = configuration.work_folder / _PACKAGES
    if environment.interpreter is None and configuration.is_built:
        source = packages / f"{prefix}{commit}-{environment.folder.name}"
        if not source.is_dir():
            print(f"building {name}", flush=True)
            build_package(workplace.root, repository, environment, commit, source)
    else:
        folder = packages / f"{prefix}{commit}"
        if not folder.is_dir():
            aside = folder.with_name(f".{folder.name}.tmp")
            shutil.rmtree(aside, ignore_errors=True)
            git.export_commit(Path(git.top_of(repository)), commit, aside)
            aside.rename(folder)
        project = folder / configuration.subfolder
        source = project / "src" if (project / "src").is_dir() else project
    return Side(name, source, environment, configuration.suites, version)


def interpreter_side(workplace: Workplace, python: str) -> Side:
    """Make a side from an interpreter and the package installed there, or else the files of HEAD.

    Raises:
        WatchError: there is no such interpreter, or it lacks asv_runner.
    """
    configuration, project = workplace.configuration, workplace.configuration.project.name
    path = Path(os.path.abspath(python))  # not resolved: a link tells which environment it is
    newest = configuration.environments[0]
    names = [*newest.requirements, project]
    release, requirements = settings.describe_interpreter(path, names)
    environment = dataclasses.replace(
        newest,
        requirements=requirements,
        name=f"existing-{python}",
        python=release,
        folder=path.parent.parent,
        interpreter=path,
    )
    label = ", ".join(f"{distribution(name)} {text}" for name, text in requirements.items())
    name = f"{python} ({label or f'Python {release}'})"
    commit = git.find_commit(configuration.repository, "HEAD")
    if project not in requirements:
        return commit_side(workplace, commit, environment, name)
    empty_folder = configuration.work_folder / _PACKAGES / "nothing"
    empty_folder.mkdir(parents=True, exist_ok=True)
    version = Version(commit, requirements, release)
    return Side(name, empty_folder, environment, configuration.suites, version)
