"""What a release is called, and the order of a requirement's releases, as pip has it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from packaging.version import InvalidVersion, Version


def main_release(requirements: Mapping[str, str]) -> str:
    """Name the first requirement that is pinned: ``numpy 2.4.0``; empty where none is."""
    pinned = (f"{name} {release}" for name, release in requirements.items() if release)
    return next(pinned, "").removeprefix("pip+")


@cache
def release_order(version: str) -> Version:
    """Return what releases are ordered by: 2.9 before 2.10.

    Local parts such as ``+cpu`` do not count. Text that is no version comes first.
    """
    try:
        return Version(version.partition("+")[0])
    except InvalidVersion:
        return Version("0")
