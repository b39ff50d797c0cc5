"""How releases of a requirement are ordered."""

from __future__ import annotations

from functools import cache

from packaging.version import InvalidVersion, Version


@cache
def release_order(version: str) -> Version:
    """Return what releases are ordered by: 2.9 before 2.10.

    Local parts such as ``+cpu`` do not count. Text that is no version comes first.
    """
    try:
        return Version(version.partition("+")[0])
    except InvalidVersion:
        return Version("0")
