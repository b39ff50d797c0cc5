"""What asv.conf.json says of a project: its repository, environments and releases."""

import functools
import itertools
import json
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import asv
import asv.environment
import asv.repo
import asv.results
import asv.util
import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from asv_watch import probes
from asv_watch.asv import ENVIRONMENT, ENVIRONMENT_NAME
from asv_watch.asv.conf import load_settings
from asv_watch.asv.declared import Declared
from asv_watch.errors import WatchError
from asv_watch.machine.commands import run_command, succeeds
from asv_watch.versions.git import ask_git
from asv_watch.versions.version import Release, distribution, main_release, release_order

_NEWEST_TESTED = "0.6.6"
"""Newest release of asv with which the tests of this package ran."""
ASKING_TIMEOUT_S = 120.0
"""Seconds in which an interpreter has to answer: an import from a cold disk may take a minute."""
_RELEASE = re.compile(r"[\w.+!-]+")
NEWEST, ALL = "newest", "all"
"""Words that choose environments instead of a release."""


@dataclass(frozen=True)
class EnvironmentSpec:
    """An environment that asv.conf.json describes: by its matrix, or by a release to compare."""

    requirements: Mapping[str, str]
    """Maps a name to its release, in the order of asv.conf.json; the first pinned one is the main
    one."""
    name: str
    """asv's name of it, for ``asv run -E``; empty if asv has none."""
    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that measured processes have in addition to those of the run."""
    declared: Declared = field(default_factory=Declared)
    """How measured processes are started."""
    shares_release: bool = False
    """Whether another environment of asv.conf.json has the same main requirement."""
    interpreter: Path | None = None
    """The Python of an environment that somebody else made; ``None`` if asv makes it."""
    python: str = ""
    """Version of its Python, as asv names it: ``3.11``."""
    needed_python: str = ""
    """Pythons that a release can be installed for, such as ``<3.12``; empty for any."""

    @property
    def fork_safe(self) -> bool:
        """Whether a forked process is as fast as any other."""
        return all(
            release_order(self.requirements[name]) >= release_order(first)
            for name, first in self.declared.fork_safe_from.items()
            if self.requirements.get(name)
        )

    @property
    def stored_as(self) -> str:
        """The environment in the names of result files: a hash if asv's name is long."""
        file_name = Path(asv.results.get_filename("", "", self.name))
        return file_name.stem.removeprefix("-")

    @property
    def release(self) -> Release:
        """Its main release."""
        return main_release(self.requirements)

    @property
    def version(self) -> str:
        """Version of its main release, such as ``2.4.0``; empty if none is pinned."""
        return self.release.version

    @property
    def lacks_python(self) -> str:
        """Why it cannot be installed with its Python: one line; empty if it can."""
        if self.needed_python and not SpecifierSet(self.needed_python).contains(self.python):
            return (
                f"{self.release} needs Python {self.needed_python} and this is {self.python}; "
                "run asv-watch with such a Python"
            )
        return ""

    @property
    def label(self) -> str:
        """Its name in sentences: its main requirement, or asv's name if that is not enough."""
        return self.name if self.shares_release or not self.release else str(self.release)


class Project(msgspec.Struct, frozen=True):
    """A project and its addresses, each of which may be empty."""

    name: str = ""
    """Also that of its distribution."""
    url: str = ""
    commit_url: str = ""
    """The front of a commit's address."""
    site: str = ""
    """Where the site is served, with a slash at its end."""


@dataclass(frozen=True)
class Configuration:
    """The entries of asv.conf.json that a run depends on."""

    branch: str
    """The first branch that asv.conf.json names, or the repository's own."""
    suites: Path
    results: Path
    site: Path
    environments_folder: Path
    """Folder of asv's environments, and of the lock of the checkout."""
    environments: tuple[EnvironmentSpec, ...]
    """Environments of the matrix; the newest first, as asv.conf.json lists them."""
    repository: Path
    """Repository of the commits: the folder of asv.conf.json, or another one (key ``repo``). Git
    is run here, so that paths count from it."""
    is_built: bool = True
    """Whether asv's commands build or install the project; else its files are imported as they
    are."""
    subfolder: str = ""
    """Folder of the project in its repository; empty if it is the repository's own."""
    measured_paths: tuple[str, ...] = ()
    """Files and folders of the repository that can change a measured value: those that
    asv.conf.json lists, in its own repository; empty if all may."""
    declared: Declared = field(default_factory=Declared)
    project: Project = field(default_factory=Project)
    releases: Mapping[str, tuple[EnvironmentSpec, ...]] = field(default_factory=dict)
    """Maps a requirement to those of its releases that are compared with their neighbours, the
    newest first (`asv-watch releases`). asv does not know their environments, which are like the
    first environment of the matrix apart from what a release names."""

    @property
    def work_folder(self) -> Path:
        """Folder for packages of commits and unfinished measurements.

        It is ``.asv`` where the environments are in ``.asv/env``, and else a folder within theirs,
        so that a project whose environments are elsewhere stays as it is.
        """
        parent = self.environments_folder.parent
        return parent if parent.name == ".asv" else self.environments_folder / "asv-watch"


def read_project(conf: Any, root: Path, *, fetch: bool = False) -> Configuration:
    """Read what asv's settings say of a project, but for its environments.

    Raises:
        WatchError: its repository cannot be read.
    """
    site_url = conf.declared.site_url
    project = Project(  # before `_find_repository`, which makes a path of the name
        str(conf.project),
        _address(str(conf.project_url)),
        _address(str(conf.show_commit_url)),
        f"{site_url.rstrip('/')}/" if site_url else "",
    )
    repository, branch = _find_repository(root, conf, fetch=fetch)
    return Configuration(
        branch=branch,
        suites=root / conf.benchmark_dir,
        results=Path(conf.results_dir),
        site=Path(conf.html_dir),
        environments_folder=Path(conf.env_dir),
        environments=(),
        repository=repository,
        is_built=conf.build_command != []
        or any(map(_INSTALLS.search, conf.install_command or ())),
        subfolder=conf.repo_subdir,
        measured_paths=conf.declared.measured_paths if repository == root else (),
        declared=conf.declared,
        project=project,
    )


def _address(text: str) -> str:
    return text if text.startswith(("https://", "http://")) else ""  # asv's "#" is none


def read_configuration(root: Path, *, fetch: bool = False) -> Configuration:
    """Read ``root/asv.conf.json``; ``fetch`` updates asv's clone of a repository elsewhere.

    Raises:
        WatchError: it is missing or damaged, its repository cannot be read, or its environments
            cannot be made here.
    """
    _warn_of_a_newer_asv(asv.__version__)
    conf = load_settings(root)
    python, conf.pythons = conf.pythons[0], [name for name in conf.pythons if _runs(name)]
    project = read_project(conf, root, fetch=fetch)
    try:
        environments = list(asv.environment.get_environments(conf, None, verbose=False))
    except Exception as error:  # asv checks no types, so any error may come
        raise WatchError(
            f"asv.conf.json describes no environments ({type(error).__name__}: {error}); correct "
            '"environment_type", "matrix", "include" and "exclude" as asv\'s documentation says'
        ) from error
    if not environments:
        wanted = (conf.environment_type or "").partition("existing:")[2] or f"python{python}"
        raise WatchError(
            f"{wanted} is no Python that runs here; install it, or name one that you have: "
            '--python 3.13, or "pythons" of asv.conf.json'
        )
    name = os.environ.get(ENVIRONMENT, "")
    if ENVIRONMENT_NAME.fullmatch(name):
        known = [environment.name for environment in environments]
        environments = [environment for environment in environments if environment.name == name]
        if not environments:
            raise WatchError(
                f"asv.conf.json describes no environment {name}; it has {', '.join(known)}"
            )
    specs = [_describe(environment, conf) for environment in environments]
    counts = Counter(spec.release for spec in specs)
    specs = [replace(spec, shares_release=counts[spec.release] > 1) for spec in specs]
    folder = project.work_folder / "releases"
    releases = {
        requirement: tuple(_release(requirement, entry, folder, specs[0]) for entry in listed)
        for requirement, listed in conf.declared.releases.items()
    }
    return replace(project, environments=tuple(specs), releases=releases)


def _describe(environment: Any, conf: Any) -> EnvironmentSpec:
    """Describe an environment of asv's.

    Where somebody else made it, its requirements are the installed releases of what the matrix
    names, and ``env_nobuild``, which asv omits there, adds variables. One that the user has set
    keeps its value, as in asv.
    """
    requirements, python = dict(environment.requirements), str(environment.python)
    variables, interpreter = dict(environment.env_vars), None
    if environment.tool_name == "existing":
        interpreter = Path(environment._executable)
        matrix = asv.environment._parse_matrix(conf.matrix)
        names = [name for kind, name in matrix if kind == "req"]
        python, requirements = describe_interpreter(interpreter, names)
        conditions = {
            name: str(values[0] if isinstance(values, list) else values)
            for name, values in conf.matrix.get("env_nobuild", {}).items()
            if name not in os.environ
        }
        variables = conditions | variables
    return EnvironmentSpec(
        requirements=requirements,
        name=environment.name,
        folder=Path(environment._path),
        variables=variables,
        declared=conf.declared,
        interpreter=interpreter,
        python=python,
    )


def _runs(python: str) -> bool:
    """Tell whether a Python runs, if it is on the path: pyenv has commands that do not."""
    command = shutil.which(f"python{python}")  # none for a path, or a Python of conda's
    return command is None or succeeds([command, "-c", ""], ASKING_TIMEOUT_S)


@functools.cache
def _warn_of_a_newer_asv(version: str) -> None:
    if Version(version) > Version(_NEWEST_TESTED):
        print(
            f"asv {version} is installed, and {_NEWEST_TESTED} is the newest that asv-watch was "
            "tested with; if something fails, install that",
            file=sys.stderr,
        )


def _release(
    requirement: str, entry: str | Mapping[str, str], folder: Path, newest: EnvironmentSpec
) -> EnvironmentSpec:
    """Describe the environment of a release to compare; the newest one names what it leaves open.

    The folder is that of all releases.
    """
    release = {requirement: entry} if isinstance(entry, str) else dict(entry)
    needed_python = release.pop("python", "")
    try:
        SpecifierSet(needed_python)
    except InvalidSpecifier as error:
        raise WatchError(
            f'"releases" of asv.conf.json gives {release} the "python" {needed_python!r}, which '
            'is no range of versions; write one such as "<3.12"'
        ) from error
    for named in itertools.chain(*release.items()):
        if not _RELEASE.fullmatch(named):
            raise WatchError(
                f'"releases" of asv.conf.json names {named!r}, which is neither a package nor a '
                "release; correct it"
            )
    if requirement not in release:
        raise WatchError(
            f'"releases" of asv.conf.json lists {release} under "{requirement}", which does not '
            f"say which {requirement}; add it"
        )
    number, pinned = release[requirement], newest.requirements.items()
    kept = {name: version for name, version in pinned if distribution(name) not in release}
    return replace(
        newest,
        requirements={requirement: number, **release, **kept},
        name="",
        folder=folder / f"{requirement}-{number}-py{newest.python}",
        needed_python=needed_python,
        shares_release=False,
    )


def select_environments(
    environments: tuple[EnvironmentSpec, ...], wanted: str
) -> tuple[EnvironmentSpec, ...]:
    """Choose environments: ``newest``, ``all``, ``2.14.1``, ``numpy 2.4.0``, or by asv's name.

    Raises:
        WatchError: none has that release.
    """
    if wanted == ALL:
        return environments
    if wanted == NEWEST:
        return environments[:1]
    selected = tuple(
        spec for spec in environments if wanted in {spec.version, str(spec.release), spec.name}
    )
    if not selected:
        pinned = [str(spec.release) for spec in environments if spec.release]
        known = ", ".join(pinned) or "no release"
        raise WatchError(f"asv.conf.json pins no release {wanted}; it pins {known}")
    return selected


def pinned_asv_runner() -> str:
    """Return the release of asv_runner that measures: the only one that this package accepts."""
    return metadata.version("asv_runner")


def describe_interpreter(python: Path, names: Collection[str]) -> tuple[str, dict[str, str]]:
    """Ask an interpreter that somebody else made which releases it has of some requirements.

    Returns:
        Its release of Python, such as ``3.12``, and by name those of what is installed.

    Raises:
        WatchError: there is none, or it lacks the asv_runner that measures.
    """
    wanted = pinned_asv_runner()
    try:
        command = [str(python), "-P", str(probes.ENVIRONMENT), *map(distribution, names)]
        answer = json.loads(run_command(command, ASKING_TIMEOUT_S))
    except (OSError, ValueError, WatchError) as error:
        raise WatchError(
            f"{python} is no Python that runs here ({error}); give the path of an interpreter"
        ) from error
    installed = answer["details"]["asv_runner"]
    if installed != wanted:
        raise WatchError(
            f"{python} needs asv_runner {wanted} to be measured, and has {installed}; run "
            f"`{python} -m pip install asv_runner=={wanted}`"
        )
    facts: dict[str, str] = answer["facts"]
    release = re.search(r"\d+\.\d+", facts["interpreter"])
    known = {name: facts.get(f"package {distribution(name)}", "") for name in names}
    return release[0] if release else "", {name: text for name, text in known.items() if text}


_INSTALLS = re.compile(r"\{build_dir\}|\{wheel_file\}|\b(install|develop)\b")
"""A command that installs the project, whose checkout is its working folder."""


def _find_repository(root: Path, conf: Any, *, fetch: bool) -> tuple[Path, str]:
    """Return the repository that is measured, and the branch that asv.conf.json tracks.

    If the repository is given by address, asv clones it once, into a folder beside asv.conf.json;
    ``fetch`` updates the clone.
    """
    top = ask_git(root, "rev-parse", "--show-toplevel")
    conf.project = str(root / conf.project)
    if os.path.isdir(root / conf.repo):
        conf.repo = str(root / conf.repo)
    try:
        repository = asv.repo.get_repo(conf)
    except (asv.util.UserError, asv.util.ProcessError, OSError) as error:
        raise WatchError(
            f'the repository {conf.repo!r} cannot be read ({error}); check "repo" of asv.conf.json'
        ) from error
    if fetch:
        try:
            repository.pull()
        except asv.util.ProcessError:
            print(f"{conf.repo} cannot be fetched now: its newest commits may be missing")
    path = Path(repository._path)
    own = bool(top) and path.resolve() == Path(top).resolve()
    branch: str = conf.branches[0] or repository.get_branch_name()
    if not conf.branches[0]:
        branches = ask_git(path, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()
        names = (branch, "main", "master", ask_git(path, "symbolic-ref", "--short", "HEAD"))
        branch = next((name for name in names if name in branches), branch)
    return (root if own else path), branch
