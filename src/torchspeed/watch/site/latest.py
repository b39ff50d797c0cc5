"""The latest changes as a person would tell them: one line per commit and machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from torchspeed.watch.analysis.changes import Change
from torchspeed.watch.site.standing import Standing, Standings

RECENT = 10
"""Measured commits that count as lately."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes of one machine that appeared at the same commit."""

    commit: int
    previous: int
    """Last commit measured before, by any of its series."""
    machine: str
    worse: tuple[Change, ...]
    better: tuple[Change, ...]
    models: tuple[str, ...]
    causes: tuple[str, ...]


def batches(standings: Standings, changes: Sequence[Change]) -> tuple[Batch, ...]:
    """Gather changes by commit and machine, newest first."""
    groups: dict[tuple[int, str], list[Change]] = {}
    for change in changes:
        machine = standings.rows[change.series].series.machine
        groups.setdefault((change.commit, machine), []).append(change)
    return tuple(
        Batch(
            commit=commit,
            previous=min(change.previous for change in group),
            machine=machine,
            worse=tuple(change for change in group if change.verdict == "worse"),
            better=tuple(change for change in group if change.verdict == "better"),
            models=tuple(sorted({standings.rows[change.series].model for change in group})),
            causes=tuple(sorted({change.cause for change in group})),
        )
        for (commit, machine), group in groups.items()
    )


def recent_changes(standings: Standings) -> tuple[int, tuple[Change, ...]]:
    """How many measured commits count as lately, and the changes that appeared in them."""
    measured = sorted({index for one in standings.measured.values() for index in one})
    lately = set(measured[-RECENT:])
    return len(lately), tuple(change for change in standings.changes if change.commit in lately)


def largest(changes: Sequence[Change]) -> Change:
    """The change that moved its series furthest."""

    def size(change: Change) -> float:
        return abs(change.ratio - 1) if change.ratio is not None else float("inf")

    return max(changes, key=size)


def speeds(rows: Sequence[Standing], changes: Sequence[Change]) -> tuple[Change, ...]:
    """Those of the changes that are of times: what got slower or faster."""
    return tuple(change for change in changes if rows[change.series].metric.unit == "seconds")


@dataclass(frozen=True, slots=True)
class NewestRun:
    """The newest run of one machine and environment, and how its cases ended."""

    machine: str
    environment: str
    commit: int
    """Index of the newest commit measured there."""
    at: int | None
    """When its last case was measured, seconds since the epoch, where that is known."""
    counts: dict[str, int]
    """Outcome to the number of cases of this commit alone."""


def newest_runs(standings: Standings) -> tuple[NewestRun, ...]:
    """The newest run of every machine and environment, by name."""
    members: dict[tuple[str, str], list[Standing]] = {}
    for row in standings.rows:
        members.setdefault((row.series.machine, row.series.environment), []).append(row)
    found = []
    for (machine, environment), commits in sorted(standings.measured.items()):
        if not commits:
            continue
        of_run = [
            row.series.last for row in members[machine, environment] if row.at == commits[-1]
        ]
        counts = Counter(run.outcome.value for run in of_run)
        times = [run.at for run in of_run if run.at is not None]
        found.append(
            NewestRun(
                machine,
                environment,
                commits[-1],
                max(times, default=None),
                dict(sorted(counts.items())),
            )
        )
    return tuple(found)
