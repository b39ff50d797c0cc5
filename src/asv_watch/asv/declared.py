"""The keys of asv.conf.json that asv ignores: what a project declares to this package."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from asv_watch.errors import WatchError
from asv_watch.records.labels import UNDECLARED, Layout
from asv_watch.records.releases import release_order


class SuiteEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a project declares of a suite; what it leaves out stays as the suite itself has it."""

    position: int | msgspec.UnsetType = msgspec.UNSET
    """Where the site lists it: 0 first, 9 last, by name where they are equal; 5 by default."""
    short: bool | dict[str, list[Any]] | msgspec.UnsetType = msgspec.UNSET
    """Whether its cases belong to the short set, all or those with these values of parameters."""
    may_fork: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether its ``track_*`` give the same value in a fork, which starts sooner."""


class Declared(msgspec.Struct, frozen=True):
    """What a project declares, by the names of its keys.

    No text has a pattern here: msgspec 0.22 crashes where such a text is part of a union.
    """

    suites: dict[str, SuiteEntry] = {}
    """Module, class or function of benchmarks to what is declared of it; later ones overrule."""
    preload: tuple[str, ...] = ()
    """Modules that a process imports once, before cases are forked from it."""
    fork_safe_from: dict[str, str] = {}
    """Requirement to its first release with which a forked process is as fast as any other."""
    gpu_cases: str = ""
    """Regular expression of the cases that use a GPU, which must never be initialised in a process
    that forks, and has its memory for one case; empty for none."""
    facts_script: Path | None = None
    """Prints what else can change a value, as JSON: ``{"facts": {…}, "details": {…}}``."""
    profiler: Path | None = None
    """Prints the operators of one case, as JSON (`asv_watch.explain`)."""
    package_dir: str = ""
    """Folder that is imported as it is, so that comparisons of commits build nothing."""
    measured_paths: tuple[str, ...] = ()
    """What can change a measured value: nothing outside these files and folders runs in a measured
    process. Where nobody says, that is the package (`asv_watch.asv.settings.Configuration`)."""
    environment_gib: Annotated[float, msgspec.Meta(ge=0)] = 0.25
    """Disk space that a new environment takes."""
    reference: str = ""
    """What every commit is measured against, ``COMMIT@RELEASE``; empty where none is named."""
    oldest_commit: str = ""
    """Where nights stop going back: a commit, a date, or how many commits of the branch are
    measured; empty for its first commit."""
    releases: dict[str, list[str | dict[str, str]]] = {}
    """Requirement to those of its releases that are compared, the newest first; each alone, or
    with the releases of other packages that it needs."""
    release_cases: str = ""
    """Regular expression of the cases that releases are compared with; of them those of the short
    set."""
    machines: tuple[str, ...] = ()
    """Machines that may have results here; empty where any may."""
    published_values: Path | None = None
    """File with values that others published."""
    layout: Layout = UNDECLARED
    """What rows and columns of the site's tables stand for."""
    about: tuple[str, ...] = ()
    """Sentences on how the project measures, for the page about the data."""
    tables: tuple[Path, ...] = ()
    """Files with tables that the first page of the site offers beside the newest values."""
    site_url: str = ""
    """Where the site will be served."""

    def describe(self, benchmark: dict[str, Any]) -> dict[str, Any]:
        """Return an entry of asv's list of benchmarks with what is declared of its suite."""
        for name, suite in self.suites.items():
            if f"{benchmark['name']}.".startswith(f"{name}."):
                benchmark = benchmark | msgspec.to_builtins(suite)
        return benchmark

    def uses_gpu(self, case: str) -> bool:
        """Tell whether a case uses a GPU."""
        return bool(self.gpu_cases) and re.search(self.gpu_cases, case) is not None

    def forks_well(self, requirements: Mapping[str, str]) -> bool:
        """Tell whether forks are as fast as other processes with these releases (by name)."""
        return all(
            release_order(requirements[name]) >= release_order(first)
            for name, first in self.fork_safe_from.items()
            if requirements.get(name)
        )


def read_declared(conf: Any, root: Path) -> Declared:
    """Read asv's settings; files are found from the folder of asv.conf.json.

    Raises:
        WatchError: An entry has another type, or ``gpu_cases`` is not a regular expression.
    """
    entries = {key: value for key, value in vars(conf).items() if value != ""}
    try:
        declared = msgspec.convert(entries, Declared, dec_hook=lambda _, text: root / text)
        re.compile(declared.gpu_cases)
    except msgspec.ValidationError as error:
        raise WatchError(f"asv.conf.json cannot be read ({error}); correct it") from error
    except re.error as error:
        raise WatchError(
            f'"gpu_cases" of asv.conf.json is not a regular expression ({error}); correct it'
        ) from error
    return declared


class _Current:
    declared = Declared()


def declare(declared: Declared) -> None:
    """Set what `declared` returns in this process, which runs a command of asv."""
    _Current.declared = declared


def declared() -> Declared:
    """Return what the project of the running asv command declares."""
    return _Current.declared
