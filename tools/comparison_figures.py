"""Sentences for pages on stored comparisons: how long they took, what calibrations found."""

from __future__ import annotations

import statistics
from collections import Counter
from pathlib import Path

from asv_watch.judge.graph import machine_graphs
from asv_watch.judge.precision import noise_in_words
from asv_watch.records.comparisons import StoredComparison
from asv_watch.records.measurements import read_comparisons
from asv_watch.statistics.rule import Verdict, verdict
from asv_watch.text import quantities

_FEWEST_CASES = 10
"""Comparisons with fewer timed cases do not count: building dominates their time."""


def pace(results: Path, machine: str) -> str:
    """Return how long a case took in comparisons of two commits.

    Raises:
        ValueError: None is stored for this machine.
    """
    seconds = [
        (max(ratio.at for ratio in comparison.times) - comparison.header.at)
        / len(comparison.times)
        for comparison in _stored(results, machine, "compare")
        if len(comparison.times) >= _FEWEST_CASES
    ]
    low, middle, high = min(seconds), statistics.median(seconds), max(seconds)
    return f"{middle:.0f} s a case in the median, {low:.0f} to {high:.0f} s"


def calibration(results: Path, machine: str) -> str:
    """Return how far ratios of the same code were from 1, and which planted slowdowns were found.

    Raises:
        ValueError: No calibration is stored for this machine.
    """
    graphs = machine_graphs(results, machine)
    same = [
        graphs.single(ratio)
        for comparison in _stored(results, machine, "null")
        for ratio in comparison.times
    ]
    found, planted = Counter[float](), Counter[float]()
    for comparison in _stored(results, machine, "planted"):
        slowdown = float(comparison.header.recipe["planted"])
        judged = [verdict(graphs.single(ratio)) for ratio in comparison.times]
        found[slowdown] += judged.count(Verdict.WORSE)
        planted[slowdown] += len(judged)
    shares = [
        f"{found[size]} of {count} of {quantities.share(size)}"
        for size, count in sorted(planted.items())
    ]
    return (
        f"{len(same)} ratios of the same code differ from 1 by {noise_in_words(same)}. Of "
        f"the planted slowdowns these were found: {', '.join(shares)}"
    )


def _stored(results: Path, machine: str, kind: str) -> list[StoredComparison]:
    comparisons, _ = read_comparisons(results, machine)
    stored = [entry for entry in comparisons if entry.header.kind == kind and entry.times]
    if not stored:
        raise ValueError(f"no comparison of kind {kind!r} is stored for {machine}")
    return stored
