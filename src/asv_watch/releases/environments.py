"""Environments of releases, made when they are compared.

asv does not manage them: an environment may take 6 GB, and the releases of several years do not
fit on one disk together.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from asv_watch import probes
from asv_watch.asv.commands import run_command
from asv_watch.asv.environments import pinned_asv_runner
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.errors import MachineError, WatchError
from asv_watch.versions.releases import distribution

_COMPLETE = "complete"
_INSTALL_TIMEOUT = 3600  # s
_PROBE_TIMEOUT = 300  # s: a first import compiles the package's Python files


def make_environment(release: EnvironmentSpec) -> None:
    """Install a release, unless that is done already; a half-made environment is made anew.

    Raises:
        MachineError: the machine is to blame, or the package index takes too long.
        WatchError: it cannot be installed.
    """
    if (release.folder / _COMPLETE).exists():
        return
    remove_environment(release)
    requirements = [
        *(_exactly(name, version) for name, version in release.requirements.items()),
        f"asv_runner=={pinned_asv_runner()}",
    ]
    interpreter = str(release.folder / "bin" / "python")
    for command in (
        [
            sys.executable,
            "-m",
            "virtualenv",
            "--quiet",
            "--python",
            release.python,
            str(release.folder),
        ],
        [interpreter, "-m", "pip", "install", "--quiet", *requirements],
    ):
        _run(command, release, _INSTALL_TIMEOUT, late=MachineError)
    (release.folder / _COMPLETE).touch()


def remove_environment(release: EnvironmentSpec) -> None:
    """Remove a release's environment, if there is any."""
    shutil.rmtree(release.folder, ignore_errors=True)


def import_seconds(release: EnvironmentSpec) -> float:
    """Import the main requirement in a process of its own, and return the CPU seconds.

    Raises:
        WatchError: it failed.
    """
    return float(run_probe(release, probes.IMPORTING, release.release.name))


def run_probe(release: EnvironmentSpec, script: Path, *arguments: str) -> str:
    """Run a script in the environment and return what it printed.

    Raises:
        MachineError: the machine is to blame.
        WatchError: it failed.
    """
    interpreter = str(release.folder / "bin" / "python")
    return _run([interpreter, "-P", str(script), *arguments], release, _PROBE_TIMEOUT)


def _run(
    command: Sequence[str],
    release: EnvironmentSpec,
    timeout_s: float,
    late: type[WatchError | MachineError] = WatchError,
) -> str:
    """Run a command as `run_command` does, with the release in the message of its error."""
    folder = release.folder.parent
    folder.mkdir(parents=True, exist_ok=True)
    variables = os.environ | dict(release.variables)
    try:
        return run_command(command, timeout_s, late=late, cwd=folder, env=variables)
    except WatchError as error:
        raise WatchError(f"{release.release}: {error}") from error


def _exactly(name: str, release: str) -> str:
    """Return pip's argument for the published wheel of a release, without local builds."""
    return f"{distribution(name)}==={release}" if release else distribution(name)
