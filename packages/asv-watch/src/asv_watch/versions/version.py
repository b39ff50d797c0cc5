"""What is measured: a commit, a release of a requirement, and a version of both."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, NamedTuple

import msgspec
import packaging.version


def is_full_hash(text: str) -> bool:
    """Tell whether a text is a whole hash of a commit: SHA-1, or SHA-256 in newer repositories."""
    return re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", text) is not None


class Commit(msgspec.Struct, frozen=True):
    """A commit of the tracked branch, or a tagged one."""

    hash: str
    """Full hexadecimal hash."""
    date: int
    """Committer date, seconds since the epoch."""
    subject: str
    """First line of the message: hostile input, to be escaped where shown."""
    tags: tuple[str, ...] = ()
    position: int = -1
    """Number of commits before it along the branch, measured or not; -1 if unknown."""


class Release(NamedTuple):
    """A release of a requirement; as text ``numpy 2.4.0``. `NO_RELEASE` is false and empty."""

    name: str
    version: str

    def __bool__(self) -> bool:
        return bool(self.name)

    def __str__(self) -> str:
        return f"{self.name} {self.version}" if self else ""


NO_RELEASE = Release("", "")
"""The main release where no requirement is pinned."""


def main_release(requirements: Mapping[str, str]) -> Release:
    """Return the first requirement that has a version, or `NO_RELEASE`."""
    pinned = (
        Release(distribution(name), version) for name, version in requirements.items() if version
    )
    return next(pinned, NO_RELEASE)


def distribution(requirement: str) -> str:
    """Return the package that a requirement of asv names: ``torch`` for ``pip+torch``."""
    return requirement.removeprefix("pip+")


@cache
def release_order(version: str) -> packaging.version.Version:
    """Return the sort key of a release, by which 2.9 comes before 2.10.

    Local parts such as ``+cpu`` do not count. Text that is not a version comes first.
    """
    try:
        return packaging.version.Version(version.partition("+")[0])
    except packaging.version.InvalidVersion:
        return packaging.version.Version("0")


Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{8,64}$")]


class VersionKey(NamedTuple):
    """What tells versions apart: the commit, the main release and the Python."""

    commit: str
    """Full hash."""
    release: Release
    python: str


class Version(msgspec.Struct, frozen=True, eq=False):
    """One side of a comparison, as it is stored; versions with equal keys are equal."""

    commit: Hash
    """Full hash."""
    requirements: dict[str, str]
    """Name to release, in the order of asv.conf.json."""
    python: str

    @property
    def release(self) -> Release:
        """Its main release."""
        return main_release(self.requirements)

    @property
    def key(self) -> VersionKey:
        """Commit, main release and Python."""
        return VersionKey(self.commit, self.release, self.python)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self.key == other.key

    def __ne__(self, other: object) -> bool:  # the one that is inherited compares objects
        return not self == other

    def __hash__(self) -> int:
        return hash(self.key)
