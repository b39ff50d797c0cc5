"""The release that a version is called by: that of its first pinned requirement."""

from __future__ import annotations

from collections.abc import Mapping


def main_release(requirements: Mapping[str, str]) -> str:
    """Name the first requirement that is pinned: ``numpy 2.4.0``; empty where none is.

    Args:
        requirements: name to release, in the order of asv.conf.json.
    """
    pinned = (f"{name} {release}" for name, release in requirements.items() if release)
    return next(pinned, "").removeprefix("pip+")
