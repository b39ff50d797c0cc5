"""Relative values of many versions, from interleaved comparisons of two versions each.

Versions are the nodes of a graph, and each comparison is an edge with the logarithm of a ratio.
Weighted least squares give the level of every version, so that all ways from one version to
another count, each by its precision.

- All rounds of a pair in one **sitting** (what was measured within the same hour) are one edge.
  Its ratio and standard error follow from the rounds, as `asv_watch.statistics.ratio` says. A
  spread below the usual one of the machine is corrected towards it, because a few rounds may be
  alike by luck (`spread_of_few`).
- A version's level in a sitting differs from its true one: the ratio of a pair varies from one
  sitting to the next by the standard deviation `Noise.between`. Each version has half of that
  variance. So a pair of one sitting has the variance of its rounds plus that, and comparisons in
  one sitting that share a version share its deviation, as the steps of a bisection do.
- Where several ways lead from one version to another, they are a **closed way**. `calibrate`
  chooses `Noise.between` so that the disagreement of all closed ways of a machine (chi-squared)
  is as large as their errors say.

Random effects: DerSimonian and Laird, "Meta-analysis in clinical trials", 1986. Rounds within
sittings: Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from functools import cached_property, partial
from typing import Generic, NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from asv_watch.statistics.ratio import middle_of_means, quantile, spread_of_few

SITTING = 3600
"""Seconds. Comparisons that end in the same hour since the epoch are one sitting."""
PRIOR_WAYS = 10
"""The default of `Noise.between` has the weight of this many closed ways."""
_LEAST_VARIANCE = 1e-12
_MOST_BETWEEN = 0.5
_UNRELATED = 10.0
"""A standard deviation so large that sittings tell nothing about each other."""
_PRECISION = 0.02
_FEW_LEVELS = 200
"""Up to this many levels, numpy solves as quickly as scipy does for a sparse graph."""

Node = TypeVar("Node", bound=Hashable)
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class Noise(NamedTuple):
    """How far a machine's measurements of one metric are from the truth, as logarithms."""

    between: float
    """Standard deviation of a pair's ratio from one sitting to another."""
    usual_spread: float = 0.0
    """Median standard deviation of rounds."""


class Estimate(NamedTuple):
    """The logarithm of a ratio, its variance, and the variance's degrees of freedom."""

    log: float
    variance: float
    freedom: float

    @property
    def ratio(self) -> float:
        """After over before."""
        return math.exp(self.log)

    @property
    def interval(self) -> tuple[float, float]:
        """Confidence interval of the ratio (99 %)."""
        half = quantile(self.freedom) * math.sqrt(self.variance)
        return math.exp(self.log - half), math.exp(self.log + half)

    def of_any_sitting(self, between: float) -> Estimate:
        """Return the ratio of one sitting with the error that it has for another one.

        Args:
            between: Standard deviation between sittings (`Noise`).
        """
        variance = self.variance + between**2
        return Estimate(self.log, variance, variance**2 * self.freedom / self.variance**2)


class Measured(msgspec.Struct, Generic[Node], frozen=True):
    """Two versions measured interleaved in one sitting."""

    before: Node
    after: Node
    sitting: int
    ratios: tuple[float, ...]
    """After over before, one per round, at least two."""

    def estimate(self, usual_spread: float) -> Estimate:
        """Return its ratio with the error of its rounds alone."""
        count = len(self.ratios)
        spread = spread_of_few(self.ratios, usual_spread)
        log = middle_of_means([math.log(ratio) for ratio in self.ratios])
        return Estimate(log, spread**2 / count, count - 1)

    def alone(self, noise: Noise) -> Estimate:
        """Return its ratio as if its two versions had been measured nowhere else."""
        return self.estimate(noise.usual_spread).of_any_sitting(noise.between)


class Check(NamedTuple, Generic[Node]):
    """A measured pair against all other ways between its versions."""

    measured: Measured[Node]
    found: float
    """Ratio that was measured."""
    expected: float
    """Ratio that the other ways give."""
    difference: float
    """Distance of the two, in standard errors of their difference."""
    freedom: float
    """Degrees of freedom of the error."""

    @property
    def disagrees(self) -> bool:
        """Whether the two differ by more than their errors allow in 99 % of pairs."""
        return abs(self.difference) > quantile(self.freedom)


def merged(measured: Iterable[Measured[Node]]) -> list[Measured[Node]]:
    """Join the rounds of pairs that were measured several times in a sitting, either way round."""
    rounds: dict[tuple[Node, Node, int], list[float]] = defaultdict(list)
    for pair in measured:
        key = (pair.before, pair.after, pair.sitting)
        turned = (pair.after, pair.before, pair.sitting)
        if turned in rounds:
            rounds[turned] += (1 / ratio for ratio in pair.ratios)
        else:
            rounds[key] += pair.ratios
    return [Measured(*key, tuple(ratios)) for key, ratios in rounds.items()]


class RatioGraph(Generic[Node]):
    """Levels of versions, relative to each other, by weighted least squares."""

    def __init__(self, measured: Iterable[Measured[Node]], noise: Noise) -> None:
        """Lay out the graph.

        Args:
            measured: Pairs of different versions; those of one sitting are joined.
            noise: How far measurements are from the truth.
        """
        self.measured = tuple(merged(measured))
        self._estimates = [pair.estimate(noise.usual_spread) for pair in self.measured]
        levels = dict.fromkeys(
            (node, pair.sitting) for pair in self.measured for node in (pair.before, pair.after)
        )
        nodes = dict.fromkeys(node for node, _ in levels)
        self._index: dict[Hashable, int] = {
            node: index for index, node in enumerate(itertools.chain(nodes, levels))
        }
        ends = [
            *(((pair.before, pair.sitting), (pair.after, pair.sitting)) for pair in self.measured),
            *((node, (node, sitting)) for node, sitting in levels),
        ]
        self._starts, self._ends = (
            np.array([self._index[edge[side]] for edge in ends], np.intp) for side in (0, 1)
        )
        self._logs = np.array([e.log for e in self._estimates] + [0.0] * len(levels))
        self._variances = np.array([e.variance for e in self._estimates] + [0.0] * len(levels))
        self._freedoms = np.array([e.freedom for e in self._estimates] + [math.inf] * len(levels))
        self._part_of = self._parts()
        self.set_between(noise.between)

    def set_between(self, between: float) -> None:
        """Take another standard deviation between sittings; levels are solved for when needed."""
        self._between = between
        self._variances[len(self.measured) :] = max(between**2 / 2, _LEAST_VARIANCE)
        for solved in ("_solve", "_levels", "_covariance"):
            self.__dict__.pop(solved, None)

    @cached_property
    def _solve(self) -> Callable[[Floats], Floats]:
        """Return a function that solves the normal equations, at least one."""
        weights = 1 / self._variances
        rows_of = np.full(len(self._index), -1)
        rows_of[self._free] = np.arange(len(self._free))
        starts, ends = rows_of[self._starts], rows_of[self._ends]
        rows = np.concatenate([starts, ends, starts, ends])
        columns = np.concatenate([starts, ends, ends, starts])
        values = np.concatenate([weights, weights, -weights, -weights])
        known = (rows >= 0) & (columns >= 0)
        rows, columns, values = rows[known], columns[known], values[known]
        shape = len(self._free), len(self._free)
        solve: Callable[[Floats], Floats]
        if len(self._free) <= _FEW_LEVELS:
            normal = np.zeros(shape)
            np.add.at(normal, (rows, columns), values)
            solve = partial(np.matmul, np.linalg.inv(normal))
        else:
            from scipy.sparse import coo_array  # noqa: PLC0415 - 0.2 s, and few graphs are large
            from scipy.sparse.linalg import splu  # noqa: PLC0415

            solve = splu(coo_array((values, (rows, columns)), shape=shape).tocsc()).solve
        return solve

    @cached_property
    def _levels(self) -> Floats:
        levels = np.zeros(len(self._index))
        if not self.measured:
            return levels
        weights = 1 / self._variances
        right = np.zeros(len(self._index))
        np.add.at(right, self._starts, -weights * self._logs)
        np.add.at(right, self._ends, weights * self._logs)
        levels[self._free] = self._solve(right[self._free])
        return levels

    @cached_property
    def _covariance(self) -> Floats:
        covariance = np.zeros((len(self._index), len(self._index)))
        covariance[np.ix_(self._free, self._free)] = self._solve(np.eye(len(self._free)))
        return covariance

    def _parts(self) -> Indices:
        labels = _components(self._starts, self._ends, len(self._index))
        order = np.argsort(-np.bincount(labels), kind="stable")
        number = np.empty_like(order)
        number[order] = np.arange(len(order))
        return np.asarray(number[labels], np.intp)

    @cached_property
    def _only_measurement(self) -> dict[int, int]:
        parts: list[int] = self._part_of[self._starts[: len(self.measured)]].tolist()
        counts = Counter(parts)
        return {part: index for index, part in enumerate(parts) if counts[part] == 1}

    @cached_property
    def _free(self) -> Indices:
        """Return the levels that are solved for: all but the first of each part, which is 0."""
        _, fixed = np.unique(self._part_of, return_index=True)
        return np.delete(np.arange(len(self._index)), fixed)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All versions, in the order in which they were first measured."""
        return tuple(
            dict.fromkeys(node for pair in self.measured for node in (pair.before, pair.after))
        )

    def part(self, node: Node) -> int:
        """Return the number of the part of a version; no comparison leads to another part."""
        return int(self._part_of[self._index[node]])

    def estimate(self, before: Node, after: Node) -> Estimate | None:
        """Return the ratio of two versions by all ways between them.

        ``None`` if there is none.
        """
        first, last = self._index.get(before), self._index.get(after)
        if first is None or last is None or self._part_of[first] != self._part_of[last]:
            return None
        only = self._only_measurement.get(int(self._part_of[first]))
        if only is not None and first != last:
            estimate = self._estimates[only].of_any_sitting(self._between)
            is_turned = before == self.measured[only].after
            return estimate._replace(log=-estimate.log) if is_turned else estimate
        difference = np.zeros(len(self._index))
        difference[last] += 1
        difference[first] -= 1
        potentials = np.zeros(len(self._index))
        potentials[self._free] = self._solve(difference[self._free])
        shares = (potentials[self._ends] - potentials[self._starts]) / self._variances
        parts = shares**2 * self._variances
        variance = float(parts.sum())
        # Welch and Satterthwaite's degrees of freedom of a sum of variances
        denominator = float((parts**2 / self._freedoms).sum())
        freedom = variance**2 / denominator if denominator else math.inf
        return Estimate(float(self._levels[last] - self._levels[first]), variance, freedom)

    @property
    def closed_ways(self) -> int:
        """Number of independent ways that lead back to where they began."""
        parts = int(self._part_of.max()) + 1 if len(self._part_of) else 0
        return len(self._starts) - len(self._index) + parts

    @property
    def ways_between_sittings(self) -> int:
        """Number of independent closed ways that span several sittings."""
        if not self.closed_ways:
            return 0
        count = len(self.measured)
        inside = _components(self._starts[:count], self._ends[:count], len(self._index))
        levels = len(self._starts) - count
        nodes = len(self._index) - levels
        within = count - levels + len(set(inside.tolist())) - nodes
        return self.closed_ways - within

    @property
    def chi_squared(self) -> float:
        """Squared disagreement of the closed ways, in units of its variance."""
        if not self.closed_ways:
            return 0.0
        residuals = self._logs - (self._levels[self._ends] - self._levels[self._starts])
        return float((residuals**2 / self._variances).sum())

    def checks(self) -> list[Check[Node]]:
        """Compare each measured pair with all other ways between its versions, if any."""
        if not self.closed_ways:
            return []
        levels, covariance = self._levels, self._covariance
        checks = []
        for index, measured in enumerate(self.measured):
            start, end = self._starts[index], self._ends[index]
            variance = float(self._variances[index])
            fitted = covariance[start, start] + covariance[end, end] - 2 * covariance[start, end]
            free = 1 - float(fitted) / variance  # nothing but this pair determines it: 0
            if free < 1e-6:
                continue
            log, difference = float(self._logs[index]), float(levels[end] - levels[start])
            distance = (log - difference) / free
            error = math.sqrt(variance / free)
            checks.append(
                Check(
                    measured,
                    math.exp(log),
                    math.exp(log - distance),
                    distance / error,
                    float(self._freedoms[index]) / free**2,
                )
            )
        return checks


def _components(starts: Indices, ends: Indices, count: int) -> Indices:
    parent = list(range(count))

    def root(point: int) -> int:
        while parent[point] != point:
            parent[point] = parent[parent[point]]
            point = parent[point]
        return point

    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        parent[root(start)] = root(end)
    _, labels = np.unique([root(point) for point in range(count)], return_inverse=True)
    return np.asarray(labels, np.intp)


def calibrate(all_graphs: Iterable[RatioGraph[Node]], default: Noise) -> Noise:
    """Work out how far a ratio varies from one sitting to another on a machine.

    The variance is chosen so that chi-squared over the closed ways of all cases equals their
    number. Ways closed within one sitting say nothing about it. The default counts as `PRIOR_WAYS`
    closed ways, so that few do not decide.

    Args:
        all_graphs: The graph of each case; its standard deviation between sittings is changed.
        default: The noise if nothing was measured twice.
    """
    graphs = [graph for graph in all_graphs if graph.ways_between_sittings]
    ways = sum(graph.ways_between_sittings for graph in graphs)
    for graph in graphs:
        graph.set_between(_UNRELATED)
    within = sum(graph.chi_squared for graph in graphs)

    def excess(between: float) -> float:
        for graph in graphs:
            graph.set_between(between)
        return sum(graph.chi_squared for graph in graphs) - within - ways

    low, high = 0.0, _MOST_BETWEEN
    if ways and excess(low) > 0:
        while high - low > _PRECISION * high:
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    else:
        high = 0.0
    variance = (ways * high**2 + PRIOR_WAYS * default.between**2) / (ways + PRIOR_WAYS)
    return default._replace(between=math.sqrt(variance))
