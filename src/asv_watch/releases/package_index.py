"""Asks the package index, through pip, which releases of a requirement exist, and what fits."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence

import msgspec

from asv_watch.asv.commands import run_command
from asv_watch.errors import PlaceError, WatchError

_TIMEOUT = 600  # s: pip reads the metadata of wheels of several hundred MB
_FINAL = re.compile(r"^\d+(\.\d+)*$")


class _Metadata(msgspec.Struct):
    name: str
    version: str


class _Package(msgspec.Struct):
    metadata: _Metadata


class _Report(msgspec.Struct):
    """What ``pip install --report`` says would be installed."""

    install: list[_Package]


def published_releases(requirement: str, python: str) -> list[str]:
    """Ask which releases there are, the newest first, without local builds such as +cpu.

    Args:
        requirement: such as ``numpy``.
        python: version of Python for which they are published, such as ``3.11``.

    Raises:
        WatchError: the index cannot be reached or does not know the requirement.
    """
    printed = _pip(["index", "versions", requirement, "--python-version", python])
    listed = re.search(r"^Available versions: (.*)$", printed, re.M)
    versions = listed[1].split(", ") if listed else []
    return [version for version in versions if _FINAL.match(version)]


def exactly(name: str, release: str) -> str:
    """Return how pip is asked for the published wheel of a release, and for no local build."""
    return f"{name.removeprefix('pip+')}==={release}" if release else name.removeprefix("pip+")


def fitting(pinned: Mapping[str, str], others: Sequence[str], python: str) -> dict[str, str]:
    """Return the newest releases of other packages that pip finds to fit some pinned ones.

    Only installing them and using them tells whether they do: some packages allow releases that
    they were not built for.

    Args:
        pinned: name to release.
        others: names.
        python: version of Python, such as ``3.11``.

    Raises:
        WatchError: the index cannot be reached, or offers no such releases.
    """
    dry_run = ["install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    platform = ["--python-version", python, "--only-binary", ":all:", "--target", "unused"]
    wanted = [*(exactly(name, release) for name, release in pinned.items()), *others]
    printed = _pip([*dry_run, *platform, *wanted])
    try:
        report = msgspec.json.decode(printed, type=_Report)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise PlaceError(f"pip's report cannot be read ({error}); try again later") from error
    releases = {
        _normal(package.metadata.name): package.metadata.version.partition("+")[0]
        for package in report.install
    }
    missing = [name for name in others if _normal(name) not in releases]
    if missing:
        raise WatchError(f"the package index offers no {missing[0]} that fits")
    return {name: releases[_normal(name)] for name in others}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _pip(arguments: Sequence[str]) -> str:
    """Run pip and return what it printed.

    Raises:
        PlaceError: the index cannot be reached, or takes too long.
        WatchError: it failed otherwise.
    """
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    return run_command([*pip, *arguments], _TIMEOUT, late=PlaceError)
