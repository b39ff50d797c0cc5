"""What asv.conf.json says, as far as driving asv needs it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import asv.config
import asv.environment
import asv.repo
import asv.results
import asv.util
import msgspec

from asv_watch.errors import WatchError
from asv_watch.files import read_regular
from asv_watch.records.git import read_commits
from asv_watch.records.records import Commit

_Release = Annotated[str, msgspec.Meta(pattern=r"^\d+(\.\d+)+$")]


@dataclass(frozen=True)
class Pair:
    """A torch release with its torchvision: one asv environment."""

    torch: str
    torchvision: str
    environment: str
    """asv's name of the environment, for ``asv run -E``; empty if asv has none."""
    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that measured processes have in addition to those of the run."""

    @property
    def stored_as(self) -> str:
        """The environment in the names of result files: a hash where asv's name is long."""
        file_name = Path(asv.results.get_filename("", "", self.environment))
        return file_name.stem.removeprefix("-")

    @property
    def label(self) -> str:
        """What sentences call it: its torch release, or its name where it pins none."""
        return f"torch {self.torch}" if self.torch else self.environment

    def of_release(self, torch: str, torchvision: str) -> Pair:
        """Return the environment of another release, in a folder beside this one."""
        folder = self.folder.with_name(torch)
        return replace(self, torch=torch, torchvision=torchvision, folder=folder)

    def __str__(self) -> str:
        if not self.torch:
            return self.environment
        return f"torch {self.torch} + torchvision {self.torchvision}"


@dataclass(frozen=True)
class Configuration:
    """The entries of asv.conf.json that a run depends on."""

    branch: str
    python: str
    suites: Path
    """Folder of the suites."""
    results: Path
    site: Path
    environments: Path
    """Folder of asv's environments, and of the lock of the checkout."""
    pairs: tuple[Pair, ...]
    """The newest first, as asv.conf.json lists them."""
    reference: str = ""
    """What every commit is measured against, ``COMMIT@RELEASE``; empty where none is named."""
    package: str = ""
    """Folder that is imported as it is (key ``package_dir``), so that comparisons of commits build
    nothing; empty where asv's commands build the package."""
    measured_paths: tuple[str, ...] = ()
    """What can change a measured value (key ``measured_paths``): nothing outside these files and
    folders runs in a measured process. Empty where nobody says, so that everything may."""
    releases: tuple[Pair, ...] = ()
    """Releases that are compared with their neighbours, the newest first (`asv-watch releases`).
    They share the variables of the newest pair; asv knows no environment of theirs."""
    release_cases: str = ""
    """Regular expression of the cases that releases are compared with (key ``release_cases``); of
    them those of the short set."""


def read_configuration(root: Path) -> Configuration:
    """Read ``root/asv.conf.json``.

    Raises:
        WatchError: it is missing, damaged, or names no pair or no Python or conda that is
            here.
    """
    conf = load_settings(root)
    _check_conda(conf)
    python = conf.pythons[0]
    conf.env_dir = str(root / conf.env_dir)
    environments = list(asv.environment.get_environments(conf, None, verbose=False))
    if not environments:
        raise WatchError(
            f"asv.conf.json wants Python {python} and there is no `python{python}` on the PATH; "
            'install it, or name one that you have under "pythons"'
        )
    pairs = tuple(
        Pair(
            torch=environment.requirements.get("torch", ""),
            torchvision=environment.requirements.get("torchvision", ""),
            environment=environment.name,
            folder=Path(environment._path),
            variables=dict(environment.env_vars),
        )
        for environment in environments
    )
    return Configuration(
        branch=conf.branches[0],
        python=python,
        suites=root / conf.benchmark_dir,
        results=root / conf.results_dir,
        site=root / conf.html_dir,
        environments=Path(conf.env_dir),
        pairs=pairs,
        reference=str(getattr(conf, "reference", "")),
        package=_package(conf),
        measured_paths=measured_paths(conf),
        releases=_releases(root, conf, pairs[0]),
        release_cases=str(getattr(conf, "release_cases", "")),
    )


def _check_conda(conf: Any) -> None:
    """Refuse a project that makes its environments with conda where there is none.

    Raises:
        WatchError: there is none.
    """
    named = os.environ.get("CONDA_EXE") or shutil.which("conda")
    if conf.environment_type == "conda" and not named:
        raise WatchError(
            "asv.conf.json wants environments made by conda, which is neither on the PATH nor "
            'named by CONDA_EXE; install it, or choose "virtualenv" as "environment_type"'
        )


def measured_paths(conf: Any) -> tuple[str, ...]:
    """Return what can change a measured value, as asv's settings say; empty where they do not."""
    return tuple(map(str, getattr(conf, "measured_paths", ())))


def _package(conf: Any) -> str:
    """Return the folder that is imported as it is; empty where asv's commands install the package.

    That is what ``package_dir`` names, or ``src`` where nothing is built or installed.
    """
    named = str(getattr(conf, "package_dir", ""))
    installs = any(
        place in command
        for command in conf.install_command or ()
        for place in ("{build_dir}", "{wheel_file}")
    )
    return named or ("src" if conf.build_command == [] and not installs else "")


def results_folder(root: Path) -> Path:
    """Return the folder of results that ``root/asv.conf.json`` names.

    Raises:
        WatchError: the file is missing or damaged.
    """
    return root / str(load_settings(root).results_dir)


def allowed_machines(root: Path) -> tuple[str, ...]:
    """Return the machines that may have results here (key ``machines``); empty where any may.

    Raises:
        WatchError: asv.conf.json is missing or damaged.
    """
    return tuple(map(str, getattr(load_settings(root), "machines", ())))


def environments_folder(root: Path) -> Path:
    """Return the folder of asv's environments, and of the lock of the checkout.

    Raises:
        WatchError: asv.conf.json is missing or damaged.
    """
    return root / str(load_settings(root).env_dir)


def tracked_commits(root: Path) -> tuple[Commit, ...]:
    """Return the commits of the branch that a project publishes, oldest first.

    The repository is the one that ``root/asv.conf.json`` names: the checkout, a folder, or an
    address, which asv has cloned before.

    Raises:
        WatchError: the file is damaged, or the repository or branch cannot be read.
    """
    conf = load_settings(root)
    try:
        repository = asv.repo.get_repo(conf)
        branch = repository.get_branch_name(conf.branches[0])
    except (asv.util.UserError, asv.util.ProcessError, LookupError) as error:
        raise WatchError(
            f'the repository {conf.repo!r} cannot be read ({error}); check "repo" of asv.conf.json'
        ) from error
    return read_commits(Path(repository._path), branch)


def load_settings(root: Path) -> Any:
    """Read asv's settings from ``root/asv.conf.json``.

    Raises:
        WatchError: the file is missing or damaged.
    """
    path = root / "asv.conf.json"
    try:
        read_regular(path)  # asv would wait for ever at a fifo
        return asv.config.Config.load(str(path))
    except (asv.util.UserError, ValueError, OSError) as error:
        raise WatchError(
            f"asv.conf.json cannot be read ({error}); restore it with `git checkout asv.conf.json`"
        ) from error


def _releases(root: Path, conf: asv.config.Config, newest: Pair) -> tuple[Pair, ...]:
    """Read the key ``releases``, which asv ignores: ``[["2.15.0", "0.29.2"], ...]``."""
    listed = getattr(conf, "releases", [])
    try:
        versions = msgspec.convert(listed, list[tuple[_Release, _Release]])
    except msgspec.ValidationError as error:
        raise WatchError(
            f'"releases" of asv.conf.json lists no pairs of releases ({error}); '
            'write each as ["2.15.0", "0.29.2"]: torch and its torchvision'
        ) from error
    folder = root / ".asv" / "releases"
    return tuple(
        Pair(torch, torchvision, "", folder / torch, newest.variables)
        for torch, torchvision in versions
    )


def select_pairs(pairs: tuple[Pair, ...], wanted: str) -> tuple[Pair, ...]:
    """Choose pairs by torch release: ``newest``, ``all``, or a release such as ``2.14.1``.

    Raises:
        WatchError: no pair has that release.
    """
    if wanted == "all":
        return pairs
    if wanted == "newest":
        return pairs[:1]
    chosen = tuple(pair for pair in pairs if pair.torch == wanted)
    if not chosen:
        known = ", ".join(pair.torch for pair in pairs if pair.torch) or "no release of it"
        raise WatchError(f"torch {wanted} is not pinned in asv.conf.json; it pins {known}")
    return chosen
