"""Changes gathered by the commit that they appeared at, and those of the newest commits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from asv_watch import quantities
from asv_watch.judge.changes import Change
from asv_watch.site.contents import Contents

RECENT = 10
"""Measured commits whose changes the first screen reports."""


@dataclass(frozen=True, slots=True)
class CommitChanges:
    """Changes of one machine that appeared at one commit."""

    commit: int
    previous: int
    """Last commit measured before, by any of its series."""
    machine: str
    changes: tuple[Change, ...]
    owners: tuple[str, ...]
    """The models that changed, or the groups of benchmarks."""
    causes: tuple[str, ...]


def by_commit(contents: Contents, changes: Iterable[Change]) -> tuple[CommitChanges, ...]:
    """Gather changes by commit and machine, newest first."""
    groups: dict[tuple[int, str], list[Change]] = {}
    for change in changes:
        machine = contents.series[change.series].series.machine
        groups.setdefault((change.commit, machine), []).append(change)
    return tuple(
        CommitChanges(
            commit=commit,
            previous=min(change.previous for change in group),
            machine=machine,
            changes=tuple(group),
            owners=tuple(sorted({contents.series[change.series].owner for change in group})),
            causes=tuple(sorted({change.cause for change in group})),
        )
        for (commit, machine), group in groups.items()
    )


def recent_changes(
    contents: Contents, changes: Iterable[Change]
) -> tuple[int, tuple[Change, ...]]:
    """Return how many commits were measured lately, and those of some changes that are at them."""
    measured = {commit for setup in contents.setups for commit in setup.commits}
    measured |= {change.commit for change in contents.changes}
    recent = set(sorted(measured)[-RECENT:])
    return len(recent), tuple(change for change in changes if change.commit in recent)


def largest_first(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Measured changes by size, then suspicions."""

    def size(change: Change) -> tuple[bool, float]:
        ratio = change.ratio
        return change.is_measured, max(ratio, 1 / ratio) if ratio else float("inf")

    return tuple(sorted(changes, key=size, reverse=True))


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
