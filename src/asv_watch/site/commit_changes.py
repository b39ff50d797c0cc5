"""Changes gathered by the commit that they appeared at, and those of the newest commits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from asv_watch.judge.changes import Change, State
from asv_watch.site import quantities
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


def recent_changes(contents: Contents) -> tuple[int, tuple[Change, ...]]:
    """Changes of the newest measured commits, refuted ones left out, and how many commits."""
    measured = sorted({commit for setup in contents.setups for commit in setup.commits})
    recent = set(measured[-RECENT:])
    return len(recent), tuple(
        change
        for change in contents.changes
        if change.commit in recent and change.state is not State.REFUTED
    )


def largest_first(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Changes by size; one from or to zero has no ratio and counts as the largest."""

    def size(change: Change) -> float:
        return max(change.ratio, 1 / change.ratio) if change.ratio is not None else float("inf")

    return tuple(sorted(changes, key=size, reverse=True))


def certainty(change: Change) -> str:
    """State of a change and what it rests on: ``unconfirmed: 1 run, 12 times the noise``."""
    parts = [f"{change.runs} run{'' if change.runs == 1 else 's'}"]
    if change.multiple is not None:
        parts.append(f"{quantities.digits(change.multiple, 2)} times the noise")
    elif change.noise == 0:
        parts.append("without noise before")
    if change.evidence is not None:
        low, high = (quantities.change(end) for end in change.evidence.interval)
        parts.append(f"interleaved {low} to {high}")
    return f"{change.state.value}: {', '.join(parts)}"
