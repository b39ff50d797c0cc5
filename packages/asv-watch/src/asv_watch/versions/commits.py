"""A commit, and the version of the package that its tag names."""

import re
from collections.abc import Iterable

import msgspec

_FULL_HASH = r"[0-9a-f]{40}([0-9a-f]{24})?"
"""Hexadecimal hash of a commit: SHA-1, or SHA-256 in newer repositories."""


def is_full_hash(text: str) -> bool:
    """Tell whether a text is a whole hash of a commit."""
    return re.fullmatch(_FULL_HASH, text) is not None


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


_VERSION = re.compile(r"v?\d+(\.\d+)+\w*")


def versions_of(commits: Iterable[Commit]) -> dict[str, str]:
    """Map a commit hash to the version of the package that a tag of the commit names."""
    return {
        commit.hash: tag for commit in commits for tag in commit.tags if _VERSION.fullmatch(tag)
    }
