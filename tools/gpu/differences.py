"""What the step `spread` found: how far processes differ, why, and which value to report."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from asv_watch.statistics.ratio import fastest
from asv_watch.text import quantities
from asv_watch.text.markdown import table

_FEWEST_PROCESSES = 3
"""Fewest processes of a kind from which a spread is read."""
_ALIKE = 0.05
"""Processes agree if largest and smallest value differ by at most this share of the median."""
_FOLLOWS = 0.7
"""Correlation, in both passes, from which times follow the loop of Python."""
_KINDS = {True: "pinned", False: "unpinned"}
_PASSES = ("forward", "backward")


def _mean_of_fastest(pass_: Mapping[str, Any], field: str) -> float:
    """Return the mean of the fastest batches, as a stored value is."""
    values = [batch[field] for batch in pass_["batches"]]
    return statistics.fmean(fastest(values, float))


_SINGLES, _BATCHES, _LOOP, _REPLAYS = (
    "single calls",
    "batches",
    "a loop of Python",
    "graph replays",
)
_MEASURES: Mapping[str, Callable[[Mapping[str, Any]], float]] = {
    _SINGLES: lambda pass_: float(min(pass_["singles_s"])),
    _BATCHES: lambda pass_: _mean_of_fastest(pass_, "wall_s"),
    "batches, CPU time of the thread": lambda pass_: _mean_of_fastest(pass_, "thread_s"),
    _LOOP: lambda pass_: _mean_of_fastest(pass_, "loop_s"),
    _REPLAYS: lambda pass_: statistics.median(pass_["replays_s"]),
}
"""Maps what is compared to its seconds in one process."""


def conclusion(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return the value to report, the reason for differences, and a table, as Markdown.

    Args:
        lines: those of kind ``spread`` that a session wrote, one for each process.
    """
    groups = {
        kind: [
            line
            for line in lines
            if line["pinned"] is pinned and "replays_s" in line.get("forward", {})
        ]
        for pinned, kind in _KINDS.items()
    }
    if min(map(len, groups.values())) < _FEWEST_PROCESSES:
        return (
            f"Not known: at least {_FEWEST_PROCESSES} pinned and {_FEWEST_PROCESSES} unpinned "
            "processes are needed."
        )
    rows, spreads = [], {}
    for measure, seconds in _MEASURES.items():
        cells = []
        for kind, group in groups.items():
            shares = []
            for name in _PASSES:
                values = [seconds(line[name]) for line in group]
                middle = statistics.median(values)
                shares.append((max(values) - min(values)) / middle)
                cells.append(
                    f"{quantities.quantity(middle, 'seconds')}, {quantities.share(shares[-1])}"
                )
            spreads[measure, kind] = max(shares)
        rows.append((measure, *cells))
    kind = min(groups, key=lambda kind: spreads[_BATCHES, kind])
    head = ("median, spread", *(f"{name}, {kind}" for kind in groups for name in _PASSES))
    return (
        f"Report {_BATCHES} of {kind} processes, which differ by "
        f"{quantities.share(spreads[_BATCHES, kind])}. Reason: "
        f"{_reason(spreads, groups, kind)}.\n\n" + table(head, rows)
    )


def _reason(
    spreads: Mapping[tuple[str, str], float],
    groups: Mapping[str, Sequence[Mapping[str, Any]]],
    kind: str,
) -> str:
    """Return why values differ between processes of a kind, or why only others differ."""
    if spreads[_BATCHES, kind] <= _ALIKE:
        if spreads[_SINGLES, kind] > _ALIKE:
            return "single calls differ, batches do not"
        for other in groups.keys() - {kind}:
            if spreads[_BATCHES, other] > _ALIKE:
                return (
                    f"{other} processes differ, {kind} ones do not, so the choice of cores matters"
                )
        return "no processes differ"
    if spreads[_LOOP, kind] > _ALIKE and _follows_loop(groups[kind]):
        return "times follow a loop of Python, so the speed of the host varies"
    if spreads[_REPLAYS, kind] > _ALIKE:
        return "graph replays differ too, so the clock of the device varies"
    return "neither the host's speed nor the device's varies, which leaves the memory's layout"


def _follows_loop(group: Sequence[Mapping[str, Any]]) -> bool:
    return all(
        statistics.correlation(
            [_MEASURES[_BATCHES](line[name]) for line in group],
            [_MEASURES[_LOOP](line[name]) for line in group],
        )
        > _FOLLOWS
        for name in _PASSES
    )
