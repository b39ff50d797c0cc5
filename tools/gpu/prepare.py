"""``python -m tools.gpu.prepare FOLDER COMMIT …``: puts all that a session needs into one folder.

It holds the committed project (``project``), the packages of all commits, the list of cases, and
the wheels that a machine with torch lacks. Only what is committed is measured. HEAD is compared
with the commits that are named, or else with the newest one that was measured on a GPU.
"""

from __future__ import annotations

import argparse
import dataclasses
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from asv_watch.asv.declared import Declared
from asv_watch.asv.selection import Selection
from asv_watch.asv.settings import read_configuration
from asv_watch.engine.cases import MeasurableCase, choose_cases, list_benchmarks_in
from asv_watch.engine.sides import Side
from asv_watch.records.notes import commit_of_version
from asv_watch.records.side_files import RECORDS, read_records
from asv_watch.versions.git import ask_git, export_files, find_commit

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = ("asv.conf.json", "pyproject.toml", "benchmarks", "src", "tests", "tools")
WHEELS = (
    "asv==0.6.6", "asv_runner==0.3.2", "distlib", "hypothesis", "importlib-metadata", "json5",
    "lazy-importer", "msgspec", "platformdirs", "pympler", "python-discovery", "sortedcontainers",
    "virtualenv",
)  # fmt: skip
"""Packages that asv_watch or the tests import and no distribution of torch brings."""
CARD = "gpu 0 name"
"""Name of the fact that says which GPU a machine has (`asv_watch.machine.facts`)."""


class Prepared(msgspec.Struct, frozen=True):
    """What `session` reads: ``prepared.json``."""

    commits: tuple[str, ...]
    """Oldest first; the suites of the last one measure all of them."""
    variables: dict[str, str]
    """Environment variables of measured processes."""
    declared: Declared
    """How measured processes are started, as asv.conf.json says."""
    benchmarks: list[dict[str, Any]]
    """asv's list of the suites."""

    @property
    def newest(self) -> str:
        """The last commit."""
        return self.commits[-1]

    @property
    def cases(self) -> list[MeasurableCase]:
        """The cases that one process can measure one after the other, so none of peak memory.

        Those of a GPU are listed on every machine; where there is none, each says so.
        """
        chosen = choose_cases(self.benchmarks, Selection(), Declared(), "time", "value", "count")
        uses_gpu = self.declared.uses_gpu
        return [dataclasses.replace(case, can_fork=not uses_gpu(case.name)) for case in chosen]


def prepare(root: Path, folder: Path, older: Sequence[str]) -> Prepared:
    """Fill the folder with everything that a session needs.

    Args:
        root: the checkout.
        folder: folder to make; an existing one is replaced.
        older: commits, tags or versions that the newest commit is compared with, oldest first;
            if there are none, the newest commit with results of a GPU.
    """
    shutil.rmtree(folder, ignore_errors=True)
    configuration = read_configuration(root)
    older = older or last_measured(root, configuration.results)
    commits = [_commit(root, configuration.results, revision) for revision in (*older, "HEAD")]
    for path in PROJECT:
        export_files(root, commits[-1], folder / "project", path)
    for commit in commits:
        export_files(root, commit, folder / "packages" / commit, "src")
    here = dataclasses.replace(configuration.environments[0], folder=Path(sys.prefix))
    side = Side("HEAD", folder / "project/src", here, folder / "project/benchmarks")
    declared = configuration.declared
    benchmarks = list_benchmarks_in(side, declared)
    declared = Declared(
        preload=declared.preload, preload_for=declared.preload_for, gpu_cases=declared.gpu_cases
    )
    prepared = Prepared(tuple(commits), dict(here.variables), declared, benchmarks)
    (folder / "prepared.json").write_bytes(msgspec.json.encode(prepared))
    return prepared


def last_measured(root: Path, results: Path) -> list[str]:
    """Return the newest commit with stored results of a machine with a GPU, if there is one."""
    commits = {
        commit
        for path in results.glob(f"*/*{RECORDS}")
        if any(CARD in record.machine for record in read_records(path)[0])
        and (commit := find_commit(root, path.name.partition("-")[0]))
    }
    return sorted(commits, key=lambda commit: committed_at(root, commit))[-1:]


def committed_at(root: Path, commit: str) -> int:
    """Return when a commit was made, in seconds since the epoch."""
    return int(ask_git(root, "log", "-1", "--format=%ct", commit))


def _commit(root: Path, results: Path, revision: str) -> str:
    commit = find_commit(root, commit_of_version(results, revision) or revision)
    if not commit:
        raise SystemExit(f"{revision!r} is not a commit, tag or version of this project")
    return commit


def download_wheels(folder: Path, python: str) -> None:
    """Download `WHEELS` for Linux on x86-64 and a release of Python such as ``3.12``."""
    platforms = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
    options = [f"--platform={platform}" for platform in platforms]
    options += ["--no-deps", "--only-binary=:all:", "--quiet", f"--python-version={python}"]
    command = [sys.executable, "-m", "pip", "download", *options, f"--dest={folder}", *WHEELS]
    subprocess.run(command, check=True)


def main(arguments: Sequence[str]) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.gpu.prepare", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder to make; an existing one is replaced")
    parser.add_argument("older", nargs="*", help="commits or versions to compare HEAD with")
    parser.add_argument("--python", default="3.12", help="Python of the machine with the GPU")
    options = parser.parse_args(arguments)
    prepared = prepare(ROOT, options.folder, options.older)
    download_wheels(options.folder / "wheels", options.python)
    print(f"{options.folder}: {len(prepared.cases)} cases of {' '.join(prepared.commits)}")


if __name__ == "__main__":
    main(sys.argv[1:])
