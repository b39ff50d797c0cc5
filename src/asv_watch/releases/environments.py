"""Environments of torch releases: made when they are compared, removed afterwards.

asv does not manage them: each takes some 5 GB, and the releases of several years do not fit on
one disk together.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from asv_watch.asv.environments import pinned_asv_runner
from asv_watch.asv.settings import Pair
from asv_watch.errors import WatchError
from asv_watch.interleave.commands import run_command
from asv_watch.probes import paths as probes
from asv_watch.records.release_order import release_order
from asv_watch.records.releases import TriedRelease
from asv_watch.releases.package_index import requirement

NUMPY = "1.26.4"
"""The newest release that every torch since 2.0 accepts, so that all have the same."""
IMPORTS = 5
"""Processes that import torch to measure what that costs."""
_FIRST_TORCH_WITHOUT_PKG_RESOURCES = release_order("2.4")
"""Earlier ones import `packaging` from the pkg_resources of setuptools, which 70 removed."""
_COMPLETE = "complete"
_INSTALL_TIMEOUT = 3600  # s
_PROBE_TIMEOUT = 300  # s: a first import compiles torch's Python files


class ImportCost(msgspec.Struct, frozen=True):
    """What one process spends on ``import torch``."""

    import_s: float
    """CPU seconds."""
    import_peak_bytes: int
    """Peak resident set of the process."""


def make_environment(pair: Pair, python: str) -> None:
    """Install a release, unless that is done already; a half-made environment is made anew.

    Args:
        pair: the release and the folder of its environment.
        python: version of Python, such as ``3.11``.

    Raises:
        WatchError: it cannot be installed.
    """
    if (pair.folder / _COMPLETE).exists():
        return
    remove_environment(pair)
    requirements = [
        requirement("torch", pair.torch),
        requirement("torchvision", pair.torchvision),
        f"numpy=={NUMPY}",
        f"asv_runner=={pinned_asv_runner()}",
    ]
    if release_order(pair.torch) < _FIRST_TORCH_WITHOUT_PKG_RESOURCES:
        requirements.append("setuptools<70")
    interpreter = str(pair.folder / "bin" / "python")
    for command in (
        [sys.executable, "-m", "virtualenv", "--quiet", "--python", python, str(pair.folder)],
        [interpreter, "-m", "pip", "install", "--quiet", *requirements],
    ):
        _run(command, pair, _INSTALL_TIMEOUT)
    (pair.folder / _COMPLETE).touch()


def remove_environment(pair: Pair) -> None:
    """Remove a release's environment, if there is any."""
    shutil.rmtree(pair.folder, ignore_errors=True)


def try_release(pair: Pair, python: str) -> TriedRelease:
    """Install a release, import it, and use it together with its torchvision.

    Args:
        pair: the release and the folder of its environment.
        python: version of Python, such as ``3.11``.

    Returns:
        What importing costs and what the environment consists of; or why it failed.
    """
    tried = TriedRelease(torch=pair.torch, torchvision=pair.torchvision, at=int(time.time()))
    try:
        make_environment(pair, python)
        _run_probe(pair, probes.IMPORTING, "--check")
        costs = [import_cost(pair) for _ in range(IMPORTS)]
        facts = json.loads(_run_probe(pair, probes.ENVIRONMENT))["facts"]
    except WatchError as error:
        return msgspec.structs.replace(tried, failed=str(error))
    return msgspec.structs.replace(
        tried,
        import_s=tuple(cost.import_s for cost in costs),
        import_peak_bytes=tuple(cost.import_peak_bytes for cost in costs),
        facts=facts,
    )


def import_cost(pair: Pair) -> ImportCost:
    """Import torch in a process of its own and return what that costs.

    Raises:
        WatchError: it failed.
    """
    return msgspec.json.decode(_run_probe(pair, probes.IMPORTING), type=ImportCost)


def _run_probe(pair: Pair, script: Path, *arguments: str) -> str:
    interpreter = str(pair.folder / "bin" / "python")
    variables = os.environ | dict(pair.variables)
    return _run([interpreter, "-P", str(script), *arguments], pair, _PROBE_TIMEOUT, variables)


def _run(
    command: Sequence[str], pair: Pair, timeout_s: float, variables: dict[str, str] | None = None
) -> str:
    """Run a command and return what it printed.

    Raises:
        WatchError: it failed or took too long.
    """
    folder = pair.folder.parent
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return run_command(command, timeout_s, cwd=folder, env=variables)
    except WatchError as error:
        raise type(error)(f"{pair}: {error}") from error
