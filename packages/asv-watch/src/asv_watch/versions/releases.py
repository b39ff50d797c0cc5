"""Releases of a requirement: how they are named and ordered."""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from packaging.version import InvalidVersion, Version


class Release(NamedTuple):
    """A release of a requirement; as text ``numpy 2.4.0``. `NO_RELEASE` is false and empty."""

    name: str
    """The requirement, such as ``numpy``."""
    version: str
    """Such as ``2.4.0``."""

    def __bool__(self) -> bool:
        return bool(self.name)

    def __str__(self) -> str:
        return f"{self.name} {self.version}" if self else ""


NO_RELEASE = Release("", "")
"""The main release where no requirement is pinned."""


def main_release(requirements: Mapping[str, str]) -> Release:
    """Return the first requirement that is pinned, or `NO_RELEASE`.

    Args:
        requirements: Maps names, as asv writes them, to versions; an empty one is not pinned.
    """
    pinned = (
        Release(distribution(name), version) for name, version in requirements.items() if version
    )
    return next(pinned, NO_RELEASE)


def distribution(requirement: str) -> str:
    """Return the package that a requirement of asv names: ``torch`` for ``pip+torch``."""
    return requirement.removeprefix("pip+")


@cache
def release_order(version: str) -> Version:
    """Return the sort key of a release, by which 2.9 comes before 2.10.

    Local parts such as ``+cpu`` do not count. Text that is not a version comes first.
    """
    try:
        return Version(version.partition("+")[0])
    except InvalidVersion:
        return Version("0")
