"""Changes of the newest commits, and the size of a change in words."""

from __future__ import annotations

from collections.abc import Iterable

from asv_watch import quantities
from asv_watch.judge.changes import Change
from asv_watch.site.contents import Contents

RECENT = 10
"""Measured commits whose changes the first screen reports."""


def recent_changes(
    contents: Contents, changes: Iterable[Change]
) -> tuple[int, tuple[Change, ...]]:
    """Return the number of newest commits that are looked at, and the changes at them."""
    measured = {commit for setup in contents.setups for commit in setup.commits}
    measured |= {change.commit for change in contents.changes}
    recent = set(sorted(measured)[-RECENT:])
    return len(recent), tuple(change for change in changes if change.commit in recent)


def size(change: Change) -> str:
    """Return the size of a change, in the same words wherever it is shown.

    A measured one is ``+5.2 % (+4.1 to +6.3 %)``, a suspicion ``about +5 %, not measured``.
    """
    if not change.is_measured:
        return f"{quantities.about(change.ratio, change.kind)}, not measured"
    text = quantities.change(change.ratio, change.kind)
    if change.interval is None:
        return text
    through = " through the reference" if change.through else ""
    return f"{text} ({quantities.interval(change.interval)}{through})"
