"""Recomputes ratios from the stored files alone, as an auditor would: no code of `asv_watch`.

Generalised least squares with the whole covariance matrix; measuring.md of asv-watch has the rule.
The tests that use it, `test_changes` and `test_page`, recompute measured changes, ratios of
releases, the headline's counts and means of releases, cells and totals of the heat map, dots of
the levels, contradictions, stretches of Timeline and the numbers of Compare.

Not recomputed: sizes of suspicions and their noise, causes and shares of operators, smallest
detectable changes, and the variance between sittings, of which only is checked that closed ways
disagree as much as it says. Counts of changes in the newest commits are checked against the listed
changes, and values of private memory are taken as the page has them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, pairwise
from math import exp, log, sqrt
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import numpy as np
from scipy.stats import t

HOUR = 3600
MACHINES = ("ci-2core", "ci-2core-xeon", "ci-2core-zen5")


@dataclass(frozen=True)
class Line:
    """A case of a stored comparison."""

    kind: str
    before: dict[str, Any]
    after: dict[str, Any]
    case: str
    metric: str
    at: int
    logs: tuple[float, ...]
    values: tuple[float, float]


def read(folder: Path) -> list[Line]:
    """Read all ratios in the comparisons of a machine."""
    lines = []
    for path in sorted(folder.glob("comparisons/*.jsonl")):
        header, *cases = [json.loads(line) for line in path.read_text().splitlines()]
        for case in cases:
            if "ratios" in case:
                metric = "time" if case.get("unit", "seconds") == "seconds" else "memory"
                logs = tuple(map(log, case["ratios"]))
                values = case["before_s"], case["after_s"]
                before, after = header["versions"]
                sides = before, after
                lines.append(
                    Line(header["kind"], *sides, case["case"], metric, case["at"], logs, values)
                )
            elif "rounds" in case and not case.get("exact"):
                lines += _lines_of_versions(header, case)
    return sorted(lines, key=lambda line: line.at)


def _lines_of_versions(header: dict[str, Any], case: dict[str, Any]) -> Iterator[Line]:
    """Yield the ratios of each version to the one before it, in a file with one number a side."""
    metric = "time" if case.get("unit", "seconds") == "seconds" else "memory"
    for index, sides in enumerate(pairwise(header["versions"])):
        pairs = [(r[index], r[index + 1]) for r in case["rounds"] if r[index] and r[index + 1]]
        if pairs:
            logs = tuple(log(after / before) for before, after in pairs)
            values = median(before for before, _ in pairs), median(after for _, after in pairs)
            yield Line(header["kind"], *sides, case["case"], metric, case["at"], logs, values)


def usual_spread(lines: Iterable[Line], metric: str) -> float:
    """Median spread of rounds of a metric on a machine."""
    return median(
        stdev(line.logs)
        for line in lines
        if line.metric == metric and not line.case.startswith("import ")
    )


Edge = tuple[Any, Any, int, tuple[float, ...]]
"""Two nodes, the sitting, and the logarithms of the rounds."""


class Fit:
    """The levels of all nodes that were measured, by generalised least squares."""

    def __init__(self, edges: Iterable[Edge], usual: float, between: float) -> None:
        together: dict[tuple[Any, Any, int], list[float]] = defaultdict(list)
        for before, after, sitting, logs in edges:
            if (after, before, sitting) in together:
                together[after, before, sitting].extend(-x for x in logs)
            else:
                together[before, after, sitting].extend(logs)
        self.nodes = list(dict.fromkeys(n for a, b, _ in together for n in (a, b)))
        rows = len(together)
        self.incidence = np.zeros((rows, len(self.nodes)))
        y, own, self.rounds = np.zeros(rows), np.zeros(rows), np.zeros(rows)
        for row, ((before, after, _), pooled) in enumerate(together.items()):
            self.incidence[row, self.nodes.index(before)] = -1
            self.incidence[row, self.nodes.index(after)] = 1
            n, spread = len(pooled), max(stdev(pooled), 1e-4)
            if spread < usual:
                spread = sqrt(((n - 1) * spread**2 + 3 * usual**2) / (n + 2))
            y[row] = median((a + b) / 2 for a, b in combinations_with_replacement(pooled, 2))
            own[row], self.rounds[row] = spread**2 / n, n
        sittings = np.array([sitting for _, _, sitting in together])
        same = sittings[:, None] == sittings[None, :]
        shared = self.incidence @ self.incidence.T * same
        covariance = np.diag(own) + between**2 / 2 * shared
        weights = np.linalg.inv(covariance)
        normal = self.incidence.T @ weights @ self.incidence
        self.solution = np.linalg.pinv(normal, hermitian=True) @ self.incidence.T @ weights
        self.levels = self.solution @ y
        residuals = y - self.incidence @ self.levels
        self.chi_squared = float(residuals @ weights @ residuals)
        self.own, self.covariance = own, covariance
        self.left_over = weights - weights @ self.incidence @ self.solution
        self.weighted_residuals = self.left_over @ y

    def ratio(self, before: Any, after: Any) -> tuple[float, tuple[float, float]]:
        """Return the ratio of two nodes and its 99 % interval."""
        first, last = self.nodes.index(before), self.nodes.index(after)
        shares = self.solution[last] - self.solution[first]
        variance = shares @ self.covariance @ shares
        of_rounds = ((shares**2 * self.own) ** 2 / (self.rounds - 1)).sum()
        half = t.ppf(0.995, variance**2 / of_rounds) * sqrt(variance)
        middle = self.levels[last] - self.levels[first]
        return exp(middle), (exp(middle - half), exp(middle + half))

    def checks(self) -> list[tuple[float, float]]:
        """Return how far each edge is from all other ways, in standard errors, with its freedom.

        An edge that nothing else determines is left out.
        """
        free = np.diag(self.left_over) * self.own
        return [
            (self.weighted_residuals[row] / sqrt(self.left_over[row, row]), (n - 1) / share**2)
            for row, (share, n) in enumerate(zip(free, self.rounds, strict=True))
            if share > 1e-6
        ]


def node(version: dict[str, Any]) -> tuple[str, str]:
    """A commit with its release of torch."""
    return version["commit"], version["requirements"]["torch"]


def edges_of_versions(lines: Iterable[Line], case: str) -> list[Edge]:
    """What was compared of a case, between commits with their releases."""
    return [
        (node(line.before), node(line.after), line.at // HOUR, line.logs)
        for line in lines
        if line.case == case
        and line.kind not in {"null", "planted"}
        and node(line.before) != node(line.after)
    ]


def edges_of_releases(lines: Iterable[Line], case: str) -> list[Edge]:
    """What was compared of a case, between releases."""
    return [
        (node(line.before)[1], node(line.after)[1], line.at // HOUR, line.logs)
        for line in lines
        if line.case == case and line.kind == "release"
    ]


def level(lines: Iterable[Line], case: str, before: Any, after: Any) -> float:
    """The level of two commits in their own comparisons: the mean logarithm of both sides."""
    return fmean(
        log(line.values[0] * line.values[1]) / 2
        for line in lines
        if line.case == case
        and line.kind not in {"null", "planted"}
        and {node(line.before), node(line.after)} == {before, after}
    )


@dataclass
class Audit:
    """The raw files of a machine, and the levels that follow from them."""

    lines: list[Line]
    between: dict[str, float]
    """Metric to its standard deviation between sittings."""
    fits: dict[tuple[str, str], Fit] = field(default_factory=dict)

    def fit(self, kind: str, case: str) -> Fit:
        """Return the levels of a case, ``versions`` or ``releases``."""
        if (kind, case) not in self.fits:
            edges_of = {"versions": edges_of_versions, "releases": edges_of_releases}[kind]
            metric = next(line.metric for line in self.lines if line.case == case)
            usual = usual_spread(self.lines, metric)
            edges = edges_of(self.lines, case)
            self.fits[kind, case] = Fit(edges, usual, self.between[metric])
        return self.fits[kind, case]
