"""A version: one side of a comparison."""

from __future__ import annotations

from typing import Annotated

import msgspec

from asv_watch.versions.releases import main_release

Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{8,64}$")]


class Version(msgspec.Struct, frozen=True, eq=False):
    """One side of a comparison: a commit with the requirements of its environment.

    Versions are equal if commit, release and Python are.
    """

    commit: Hash
    """Full hash."""
    requirements: dict[str, str]
    """Name to release, in the order of asv.conf.json."""
    python: str

    @property
    def release(self) -> str:
        """Its main requirement, such as ``numpy 2.4.0``; empty if none is pinned."""
        return main_release(self.requirements)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._identity == other._identity

    def __ne__(self, other: object) -> bool:  # the one that is inherited compares objects
        return not self == other

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[str, str, str]:
        return self.commit, self.release, self.python
