"""Releases of a requirement: how they are named and ordered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from packaging.version import InvalidVersion, Version


def main_release(requirements: Mapping[str, str]) -> str:
    """Name the first requirement that is pinned: ``numpy 2.4.0``; empty if none is."""
    pinned = (f"{name} {release}" for name, release in requirements.items() if release)
    return next(pinned, "").removeprefix("pip+")


def requirement_of(release: str) -> str:
    """Return the requirement in a result of `main_release`, such as ``numpy``."""
    return release.partition(" ")[0]


def version_of(release: str) -> str:
    """Return the version in a result of `main_release`, such as ``2.4.0``."""
    return release.partition(" ")[2]


@cache
def release_order(version: str) -> Version:
    """Return the sort key of a release, by which 2.9 comes before 2.10.

    Local parts such as ``+cpu`` do not count. Text that is not a version comes first.
    """
    try:
        return Version(version.partition("+")[0])
    except InvalidVersion:
        return Version("0")
