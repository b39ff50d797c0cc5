"""Recomputes ratios of torch releases from the stored files alone, without code of `asv_watch`.

Generalised least squares with the whole covariance matrix; measuring.md of asv-watch has the rule.
The standard deviation between sittings of each case is taken from asv-watch.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


class Line(NamedTuple):
    """A case of a stored sitting, with all versions that gave any numbers."""

    kind: str
    releases: tuple[str, ...]
    case: str
    metric: str
    at: int
    rounds: tuple[tuple[float, ...], ...]


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
    return sorted(lines, key=lambda line: line.at)


def _line(sitting: Mapping[str, Any], line: Mapping[str, Any]) -> Iterator[Line]:
    rounds = line["cpu"] if line.get("clock") == "process" and line.get("cpu") else line["rounds"]
    measured = [side for side, _ in enumerate(rounds[0]) if any(r[side] for r in rounds)]
    kept = tuple(
        tuple(r[side] for side in measured) for r in rounds if all(r[s] for s in measured)
    )
    if len(measured) > 1 and len(kept) > 1:
        metric = "time" if line.get("unit", "seconds") == "seconds" else "memory"
        releases = tuple(sitting["versions"][side]["requirements"]["torch"] for side in measured)
        yield Line(sitting["kind"], releases, line["case"], metric, line["at"], kept)


def side_variances(line: Line) -> Floats:
    """Variance of a number of each version, as a logarithm, by Grubbs' estimators."""
    logs = np.log(line.rounds)
    sides = logs.shape[1]
    differences = np.array(
        [[np.var(a - b, ddof=1) for b in logs.T] for a in logs.T]
    )  # of the difference of two sides: the sum of both variances
    mean = differences.sum() / (sides * (sides - 1)) / 2
    if sides == 2:
        return np.full(2, mean)
    own = (differences.sum(axis=1) - differences.sum() / (2 * (sides - 1))) / (sides - 2)
    return np.array(np.maximum(own, mean / 10))


def side_levels(line: Line) -> Floats:
    """Level of each version: the mean of its Hodges-Lehmann ratios to all of them."""
    logs = np.log(line.rounds).T.tolist()

    def middle(first: Sequence[float], second: Sequence[float]) -> float:
        ratios = [a - b for a, b in zip(first, second, strict=True)]
        return median((a + b) / 2 for a, b in combinations_with_replacement(ratios, 2))

    return np.array([fmean(middle(own, other) for other in logs) for own in logs])


def usual_spread(lines: Iterable[Line], metric: str) -> float:
    """Median spread of ratios of rounds of a metric on a machine."""
    return median(
        sqrt(2 * max(side_variances(line).mean(), 0.5e-8))
        for line in lines
        if line.metric == metric and not line.case.startswith("import ")
    )


class Fit:
    """The levels of all releases in which a case was measured, by generalised least squares."""

    def __init__(self, lines: Sequence[Line], usual: float, between: float) -> None:
        self.lines = lines
        self.nodes = list(dict.fromkeys(release for line in lines for release in line.releases))
        incidence, y, of_rounds, covariance = [], [], [], []
        for line in lines:
            nodes, n = line.releases, len(line.rounds)
            contrast = np.eye(len(nodes))[1:] - np.eye(len(nodes))[:1]
            places = np.zeros((len(nodes), len(self.nodes)))
            places[range(len(nodes)), [self.nodes.index(node) for node in nodes]] = 1
            incidence.append(contrast @ places)
            y.append(contrast @ side_levels(line))
            own = np.maximum(side_variances(line), 0.5e-8)
            few = ((n - 1) * own + 3 * usual**2 / 2) / (n + 2)
            own = np.where(2 * own < usual**2, few, own) / n
            of_rounds.append(contrast @ np.diag(own) @ contrast.T)
            covariance.append(contrast @ np.diag(own + between**2 / 2) @ contrast.T)
        self.of_rounds, self.covariance = block_diag(*of_rounds), block_diag(*covariance)
        weights = np.linalg.inv(self.covariance)
        design = np.concatenate(incidence)
        normal = design.T @ weights @ design
        self.solution = np.linalg.pinv(normal, hermitian=True) @ design.T @ weights
        self.levels = self.solution @ np.concatenate(y)

    def ratio(self, before: Any, after: Any) -> tuple[float, tuple[float, float]]:
        first, last = self.nodes.index(before), self.nodes.index(after)
        shares = self.solution[last] - self.solution[first]
        total = float(shares @ self.covariance @ shares)
        row, denominator = 0, 0.0
        for line in self.lines:
            own = slice(row, row := row + len(line.releases) - 1)
            part = float(shares[own] @ self.of_rounds[own, own] @ shares[own])
            denominator += part**2 / (len(line.rounds) - 1)
        middle = float(self.levels[last] - self.levels[first])
        half = t.ppf(0.995, total**2 / denominator) * sqrt(total)
        return exp(middle), (exp(middle - half), exp(middle + half))
