"""Runs scripts in the environments of releases, and removes environments no longer needed.

An environment may take 6 GB, and the releases of several years do not fit on one disk together.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from asv_watch import probes
from asv_watch.asv.commands import run_command
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.errors import WatchError

_PROBE_TIMEOUT = 300  # s: a first import compiles the package's Python files


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
    command = [str(release.folder / "bin" / "python"), "-P", str(script), *arguments]
    variables = os.environ | dict(release.variables)
    try:
        return run_command(command, _PROBE_TIMEOUT, cwd=release.folder.parent, env=variables)
    except WatchError as error:
        raise WatchError(f"{release.release}: {error}") from error
