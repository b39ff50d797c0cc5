"""A version: a commit with the requirements and the Python of its environment."""

from typing import Annotated, NamedTuple

import msgspec

from asv_watch.versions.releases import Release, main_release

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
