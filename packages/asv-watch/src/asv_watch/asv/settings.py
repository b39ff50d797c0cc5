"""Reads the entries of asv.conf.json that are needed to run asv."""

import functools
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import asv
import asv.config
import asv.environment
import asv.repo
import asv.results
import asv.util
import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from asv_watch.asv.chosen import apply_choices, chosen_name, settings_file
from asv_watch.asv.commands import run_command
from asv_watch.asv.declared import Declared, read_declared
from asv_watch.asv.environments import build_without_dependencies, describe_interpreter
from asv_watch.asv.repository import find_repository, installs_project
from asv_watch.errors import WatchError
from asv_watch.files import read_regular
from asv_watch.versions.version import Release, distribution, main_release

_UNUSABLE = re.compile("[\x00\ud800-\udfff]")
"""Characters that neither the name of a file nor the argument of a command can have."""
_NEWEST_TESTED = "0.6.6"
"""Newest release of asv with which the tests of this package ran."""
_STARTING_TIMEOUT_S = 60.0
_RELEASE = re.compile(r"[\w.+!-]+")
NEWEST, ALL = "newest", "all"
"""Words that choose environments instead of a release."""


class _Entries(msgspec.Struct):
    """Types of asv's entries of asv.conf.json that are used here; asv itself checks none."""

    repo: str
    project: str
    branches: Annotated[list[str | None], msgspec.Meta(min_length=1)]
    pythons: Annotated[list[str], msgspec.Meta(min_length=1)]
    matrix: dict[str, Any]
    include: list[dict[str, Any]]
    exclude: list[dict[str, Any]]
    env_dir: str
    benchmark_dir: str
    results_dir: str
    html_dir: str
    environment_type: str | None
    build_command: list[str] | str | None
    install_command: list[str] | str | None


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
        return self.declared.forks_well(self.requirements)

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
    project: str = ""
    """Name of the project, and of its distribution."""
    releases: Mapping[str, tuple[EnvironmentSpec, ...]] = field(default_factory=dict)
    """Maps a requirement to those of its releases that are compared with their neighbours, the
    newest first (`asv-watch releases`). asv does not know their environments, which are like the
    first environment of the matrix apart from what a release names."""

    @property
    def work_folder(self) -> Path:
        """Folder for packages of commits, unfinished measurements and levels.

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
    repository, branch = find_repository(root, conf, fetch=fetch)
    return Configuration(
        branch=branch,
        suites=root / conf.benchmark_dir,
        results=Path(conf.results_dir),
        site=Path(conf.html_dir),
        environments_folder=Path(conf.env_dir),
        environments=(),
        repository=repository,
        is_built=installs_project(conf),
        subfolder=conf.repo_subdir,
        measured_paths=conf.declared.measured_paths if repository == root else (),
        declared=conf.declared,
        project=Path(conf.project).name,
    )


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
        raise WatchError(
            f"asv.conf.json wants Python {python}, and no `python{python}` that runs is on the "
            'PATH; install it, or name one that you have: --python 3.13, or "pythons"'
        )
    if name := chosen_name():
        known = [environment.name for environment in environments]
        environments = [environment for environment in environments if environment.name == name]
        if not environments:
            raise WatchError(
                f"asv.conf.json describes no environment {name}; it has {', '.join(known)}"
            )
    contents = [_contents(environment, conf) for environment in environments]
    counts = Counter(main_release(requirements) for _, requirements in contents)
    specs = tuple(
        EnvironmentSpec(
            requirements=requirements,
            name=environment.name,
            folder=Path(environment._path),
            variables=_variables(environment, conf),
            python=version,
            declared=conf.declared,
            shares_release=counts[main_release(requirements)] > 1,
            interpreter=_interpreter(environment),
        )
        for environment, (version, requirements) in zip(environments, contents, strict=True)
    )
    releases = _releases(project.work_folder, conf.declared, specs[0])
    return replace(project, environments=specs, releases=releases)


def _contents(environment: Any, conf: Any) -> tuple[str, dict[str, str]]:
    """Return the version of Python and the requirements of an environment.

    Of one that somebody else made, they are the installed releases of what the matrix names.
    """
    interpreter = _interpreter(environment)
    if interpreter is None:
        return str(environment.python), dict(environment.requirements)
    matrix = asv.environment._parse_matrix(conf.matrix)
    return describe_interpreter(interpreter, [name for kind, name in matrix if kind == "req"])


def _variables(environment: Any, conf: Any) -> dict[str, str]:
    """Return the variables of measured processes; asv omits ``env_nobuild`` for ``existing``.

    A variable that the user has set keeps its value, as in asv.
    """
    variables = dict(environment.env_vars)
    if environment.tool_name != "existing":
        return variables
    conditions = {
        name: str(values[0] if isinstance(values, list) else values)
        for name, values in conf.matrix.get("env_nobuild", {}).items()
        if name not in os.environ
    }
    return conditions | variables


@functools.cache
def _runs(python: str) -> bool:
    """Tell whether a Python runs, if it is on the path: pyenv has commands that do not."""
    if not (command := shutil.which(f"python{python}")):
        return True  # it may be a path, or the Python of a conda environment
    try:
        run_command([command, "-c", ""], _STARTING_TIMEOUT_S)
    except (OSError, WatchError):
        return False
    return True


@functools.cache
def _warn_of_a_newer_asv(version: str) -> None:
    if Version(version) > Version(_NEWEST_TESTED):
        print(
            f"asv {version} is installed, and {_NEWEST_TESTED} is the newest that asv-watch was "
            "tested with; if something fails, install that",
            file=sys.stderr,
        )


def _interpreter(environment: Any) -> Path | None:
    """Return the Python of an environment of type ``existing``; asv makes all others."""
    is_existing = environment.tool_name == "existing"
    return Path(environment._executable) if is_existing else None


_REPLACED = ("conda", "mamba", "rattler", "uv")
"""Types of environments that virtualenv replaces where their program is not installed."""


@functools.cache
def available_type(wanted: str) -> str:
    """Return a type of environments that asv can make here: the wanted one, or virtualenv.

    Raises:
        WatchError: no asv makes environments of the wanted type.
    """
    known = {cls.tool_name for cls in asv.util.iter_subclasses(asv.environment.Environment)}
    known = {name for name in known if name}
    has_program = shutil.which(wanted) or (wanted == "conda" and os.environ.get("CONDA_EXE"))
    if wanted in known and (has_program or wanted not in {"conda", "uv"}):
        return wanted
    if wanted not in _REPLACED:
        raise WatchError(
            f"asv {asv.__version__} makes no environments of type {wanted!r}; choose one of "
            f'{", ".join(sorted(known))} with -E, or as "environment_type" in asv.conf.json'
        )
    print(f"{wanted} is not installed: virtualenv makes the environments instead", file=sys.stderr)
    return "virtualenv"


def load_settings(root: Path) -> Any:
    """Read asv's settings from ``root/asv.conf.json``, with absolute paths of its folders.

    Their attribute ``declared`` holds the settings of this package.

    Raises:
        WatchError: the file is missing or damaged.
    """
    path = settings_file(root)
    try:
        read_regular(path)  # asv would wait for ever at a fifo
        conf = asv.config.Config.load(str(path))
        msgspec.convert(vars(conf), _Entries)
        for name, entry in vars(conf).items():
            for text in entry if isinstance(entry, list) else [entry]:
                if isinstance(text, str) and _UNUSABLE.search(text):
                    raise ValueError(f"{name!r} holds a character that no name of a file can have")
        for folder in ("env_dir", "html_dir", "results_dir"):
            setattr(conf, folder, str(root / getattr(conf, folder)))
        apply_choices(conf)
        if conf.environment_type:  # asv chooses one where none is named
            kind, _, python = conf.environment_type.partition(":")
            conf.environment_type = ":".join([available_type(kind), *([python] if python else [])])
        conf.declared = read_declared(conf, root)
        build_without_dependencies(conf)
        return conf
    except (asv.util.UserError, ValueError, OSError, TypeError, RecursionError) as error:
        raise WatchError(
            f"{path.name} cannot be read ({error}); restore it with `git checkout {path.name}`"
        ) from error


def _releases(
    folder: Path, declared: Declared, newest: EnvironmentSpec
) -> dict[str, tuple[EnvironmentSpec, ...]]:
    environments: dict[str, list[EnvironmentSpec]] = {}
    for requirement, listed in declared.releases.items():
        specs = environments[requirement] = []
        for entry in listed:
            release = {requirement: entry} if isinstance(entry, str) else dict(entry)
            needed_python = release.pop("python", "")
            try:
                SpecifierSet(needed_python)
            except InvalidSpecifier as error:
                raise WatchError(
                    f'"releases" of asv.conf.json gives {release} the "python" {needed_python!r}, '
                    'which is no range of versions; write one such as "<3.12"'
                ) from error
            for named in (name for text in release.items() for name in text):
                if not _RELEASE.fullmatch(named):
                    raise WatchError(
                        f'"releases" of asv.conf.json names {named!r}, which is neither a package '
                        "nor a release; correct it"
                    )
            if requirement not in release:
                raise WatchError(
                    f'"releases" of asv.conf.json lists {release} under "{requirement}", which '
                    f"does not say which {requirement}; add it"
                )
            number = release[requirement]
            kept = {
                name: pinned
                for name, pinned in newest.requirements.items()
                if distribution(name) not in release
            }
            specs.append(
                replace(
                    newest,
                    requirements={requirement: number, **release, **kept},
                    name="",
                    folder=folder / "releases" / f"{requirement}-{number}-py{newest.python}",
                    needed_python=needed_python,
                    shares_release=False,
                )
            )
    return {requirement: tuple(listed) for requirement, listed in environments.items()}


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
        known = (
            ", ".join(str(spec.release) for spec in environments if spec.release) or "no release"
        )
        raise WatchError(f"asv.conf.json pins no release {wanted}; it pins {known}")
    return selected
