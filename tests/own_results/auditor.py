"""Recomputes ratios from the stored files alone, as an auditor would: no code of `asv_watch`.

Generalised least squares with the whole covariance matrix; measuring.md of asv-watch has the rule.
`test_page`, which uses it, recomputes measured changes, ratios of releases, the headline's counts
and means of releases, cells of the heat map, contradictions and stretches of Timeline.

Not recomputed: sizes of suspicions and their noise, causes and shares of operators, smallest
detectable changes, and the standard deviation between sittings of each case, of which only is
checked that repeats disagree as seldom as it says. Counts of changes in the newest commits are
checked against the listed changes, and values of private memory are taken as the page has them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement
from math import exp, sqrt
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.stats import t

Floats = NDArray[np.float64]
MACHINES = ("ci-2core", "ci-2core-xeon", "ci-2core-xeon6", "ci-2core-zen3", "ci-2core-zen5")


@dataclass(frozen=True)
class Line:
    """A case of a stored sitting."""

    kind: str
    versions: tuple[dict[str, Any], ...]
    case: str
    metric: str
    rounds: tuple[tuple[float, ...], ...]
    """The numbers of all versions that gave any."""

    @cached_property
    def variances(self) -> Floats:
        """Variance of a number of each version, as a logarithm, by Grubbs' estimators."""
        logs = np.log(self.rounds)
        sides = logs.shape[1]
        differences = np.array(
            [[np.var(a - b, ddof=1) for b in logs.T] for a in logs.T]
        )  # of the difference of two sides: the sum of both variances
        mean = differences.sum() / (sides * (sides - 1)) / 2
        if sides == 2:
            return np.full(2, mean)
        own = (differences.sum(axis=1) - differences.sum() / (2 * (sides - 1))) / (sides - 2)
        return np.array(np.maximum(own, mean / 10))

    @cached_property
    def levels(self) -> Floats:
        """Level of each version: the mean of its Hodges-Lehmann ratios to all of them."""
        logs = np.log(self.rounds).T.tolist()

        def middle(first: Sequence[float], second: Sequence[float]) -> float:
            ratios = [a - b for a, b in zip(first, second, strict=True)]
            return median((a + b) / 2 for a, b in combinations_with_replacement(ratios, 2))

        return np.array([fmean(middle(own, other) for other in logs) for own in logs])


def read(folder: Path) -> list[Line]:
    """Read all lines of a machine's record from which ratios of versions follow."""
    lines: list[Line] = []
    for path in sorted(folder.glob("2???-??.jsonl")):
        sitting: dict[str, Any] = {}
        for text in path.read_text().splitlines():
            line = json.loads(text)
            if "sitting" in line:
                sitting = line["sitting"]
            elif sitting["kind"] != "cases" and line.get("rounds") and not line.get("exact"):
                lines += _line(sitting, line)
    return lines


def _line(sitting: Mapping[str, Any], line: Mapping[str, Any]) -> Iterator[Line]:
    rounds = line["cpu"] if line.get("clock") == "process" and line.get("cpu") else line["rounds"]
    measured = [side for side, _ in enumerate(rounds[0]) if any(r[side] for r in rounds)]
    kept = tuple(
        tuple(r[side] for side in measured) for r in rounds if all(r[s] for s in measured)
    )
    if len(measured) > 1 and len(kept) > 1:
        metric = "time" if line.get("unit", "seconds") == "seconds" else "memory"
        versions = tuple(sitting["versions"][side] for side in measured)
        yield Line(sitting["kind"], versions, line["case"], metric, kept)


def usual_spread(lines: Iterable[Line], metric: str) -> float:
    """Median spread of ratios of rounds of a metric on a machine."""
    return median(
        sqrt(2 * max(line.variances.mean(), 0.5e-8))
        for line in lines
        if line.metric == metric and not line.case.startswith("import ")
    )


class Star(NamedTuple):
    """A line with the nodes of its versions."""

    nodes: tuple[Any, ...]
    line: Line


def joined_to(node: Any, stars: Sequence[Star]) -> set[Any]:
    """Return what chains of stars lead to from a node."""
    joined, before = {node}, 0
    while len(joined) > before:
        before = len(joined)
        joined = joined.union(*(star.nodes for star in stars if joined.intersection(star.nodes)))
    return joined


class Fit:
    """The levels of all nodes that were measured, by generalised least squares."""

    def __init__(self, stars: Sequence[Star], usual: float, between: float) -> None:
        self.stars, self.usual, self.between = stars, usual, between
        self.nodes = list(dict.fromkeys(node for star in stars for node in star.nodes))
        incidence, y, of_rounds, covariance = [], [], [], []
        for star in stars:
            nodes, n = star.nodes, len(star.line.rounds)
            contrast = np.eye(len(nodes))[1:] - np.eye(len(nodes))[:1]
            places = np.zeros((len(nodes), len(self.nodes)))
            places[range(len(nodes)), [self.nodes.index(node) for node in nodes]] = 1
            incidence.append(contrast @ places)
            y.append(contrast @ star.line.levels)
            own = np.maximum(star.line.variances, 0.5e-8)
            few = ((n - 1) * own + 3 * usual**2 / 2) / (n + 2)
            own = np.where(2 * own < usual**2, few, own) / n
            of_rounds.append(contrast @ np.diag(own) @ contrast.T)
            covariance.append(contrast @ np.diag(own + between**2 / 2) @ contrast.T)
        self.of_rounds, self.covariance = block_diag(*of_rounds), block_diag(*covariance)
        weights = np.linalg.inv(self.covariance)
        rows = np.concatenate(incidence)
        normal = rows.T @ weights @ rows
        self.solution = np.linalg.pinv(normal, hermitian=True) @ rows.T @ weights
        self.levels = self.solution @ np.concatenate(y)

    def estimate(self, before: Any, after: Any) -> tuple[float, float, float]:
        """Return the logarithm of the ratio of two nodes, its variance and freedom."""
        first, last = self.nodes.index(before), self.nodes.index(after)
        shares = self.solution[last] - self.solution[first]
        total = float(shares @ self.covariance @ shares)
        row, denominator = 0, 0.0
        for star in self.stars:
            own = slice(row, row := row + len(star.nodes) - 1)
            part = float(shares[own] @ self.of_rounds[own, own] @ shares[own])
            denominator += part**2 / (len(star.line.rounds) - 1)
        return float(self.levels[last] - self.levels[first]), total, total**2 / denominator

    def ratio(self, before: Any, after: Any) -> tuple[float, tuple[float, float]]:
        """Return the ratio of two nodes and its 99 % interval."""
        middle, total, freedom = self.estimate(before, after)
        half = t.ppf(0.995, freedom) * sqrt(total)
        return exp(middle), (exp(middle - half), exp(middle + half))

    def contradictions(self) -> Iterator[bool]:
        """Tell of each star and pair with its first version whether all others exclude it."""
        for star in self.stars:
            rest = [other for other in self.stars if other is not star]
            first, *further = star.nodes
            if joined := joined_to(first, rest).intersection(further):
                alone, others = (Fit(stars, self.usual, self.between) for stars in ([star], rest))
                for node in joined:
                    own, own_variance, own_freedom = alone.estimate(first, node)
                    middle, variance, freedom = others.estimate(first, node)
                    total = own_variance + variance
                    both = total**2 / (own_variance**2 / own_freedom + variance**2 / freedom)
                    yield abs(own - middle) > t.ppf(0.995, both) * sqrt(total)


@dataclass
class Audit:
    """The raw files of a machine, and the levels that follow from them."""

    lines: list[Line]
    between: Mapping[tuple[str, str], float]
    """Maps ``versions`` or ``releases`` and a case to its standard deviation between sittings."""
    fits: dict[tuple[str, str], Fit] = field(default_factory=dict)
    spreads: dict[str, float] = field(default_factory=dict)

    def fit(self, kind: str, case: str) -> Fit:
        """Return the levels of a case: of commits with their releases, or of ``releases``."""
        if (kind, case) not in self.fits:
            stars = list(self._stars(kind, case))
            metric = stars[0].line.metric
            if metric not in self.spreads:  # takes seconds to compute
                self.spreads[metric] = usual_spread(self.lines, metric)
            self.fits[kind, case] = Fit(stars, self.spreads[metric], self.between[kind, case])
        return self.fits[kind, case]

    def _stars(self, kind: str, case: str) -> Iterator[Star]:
        for line in self.lines:
            if line.case != case or line.kind in {"null", "planted"}:
                continue
            nodes: tuple[Any, ...] = tuple(
                (version["commit"], version["requirements"]["torch"]) for version in line.versions
            )
            if kind == "releases":
                nodes = tuple(torch for _, torch in nodes) if line.kind == "release" else ()
            if nodes and len(set(nodes)) == len(nodes):
                yield Star(nodes, line)
