"""Relative values of many versions, from comparisons of two or more versions each.

Versions are the nodes of a graph. A comparison of a case is a **star**: a node for its sitting,
and an edge to each version with the logarithm of that version's level. Weighted least squares give
the level of every version, so that all paths from one version to another count, each by its
precision.

- A **sitting** is one invocation that measured. The level and the variance of each version in it
  follow from the rounds (`asv_watch.statistics.ratio.levels`).
- A version's level in a sitting deviates from its true one. The ratio of two versions therefore
  varies from one sitting to the next, by the standard deviation **between sittings**; each version
  has half of that variance.
- That deviation differs from case to case, so one is estimated for each, by empirical Bayes: what
  the repeats and cycles of a case say is weighed with how much the other cases of the machine vary
  (`fit_between`).

Random effects: DerSimonian and Laird, "Meta-analysis in clinical trials", 1986. Restricted
likelihood: Patterson and Thompson, "Recovery of inter-block information when block sizes are
unequal", Biometrika 58, 1971. Empirical Bayes on a grid: Laird, "Nonparametric maximum likelihood
estimation of a mixing distribution", JASA 73, 1978.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import msgspec
import numpy as np

from asv_watch.statistics.ratio import Floats, Indices, quantile, spread_of_few

BETWEEN = np.array([0, 0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1])
"""The standard deviations between sittings that are considered, as logarithms."""
PRIOR_CASES = 5
"""The prior of the deviations has the weight of this many cases."""
_EM_STEPS = 200
_FEW_NODES = 200
"""Up to this many nodes, numpy solves as quickly as scipy does for a sparse graph."""

Node = TypeVar("Node", bound=Hashable)


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


class Star(msgspec.Struct, Generic[Node], frozen=True):
    """Versions that were measured interleaved in one sitting, at least two."""

    nodes: tuple[Node, ...]
    levels: tuple[float, ...]
    """Logarithm of the level of each version, relative to any common one."""
    variances: tuple[float, ...]
    """Variance of each level, from the rounds alone."""
    freedom: float
    """Degrees of freedom of the variances: one less than the number of rounds."""

    def corrected(self, usual_spread: float) -> Star[Node]:
        """Return it with larger variances where a few rounds may agree by luck.

        ``usual_spread`` is the usual standard deviation of rounds' ratios on the machine.
        """
        rounds = int(self.freedom) + 1
        spreads = (math.sqrt(2 * rounds * variance) for variance in self.variances)
        variances = (spread_of_few(spread, rounds, usual_spread) ** 2 for spread in spreads)
        return msgspec.structs.replace(
            self, variances=tuple(variance / 2 / rounds for variance in variances)
        )

    def estimate(self, before: int, after: int, between: float) -> Estimate:
        """Return the ratio of two of its versions, by index, as if nothing else was measured.

        ``between`` is the standard deviation between sittings.
        """
        of_rounds = self.variances[before] + self.variances[after]
        variance = of_rounds + between**2
        freedom = self.freedom * variance**2 / of_rounds**2
        return Estimate(self.levels[after] - self.levels[before], variance, freedom)


class _Solution(NamedTuple):
    """The normal equations of a graph with a deviation between sittings."""

    levels: Floats
    """Level of each node, relative to one node of each part."""
    solve: Callable[[Floats], Floats]
    """Solves the equations of the free nodes."""
    log_determinant: float
    chi_squared: float
    """Squared disagreement of the paths, in units of its variance."""


class RatioGraph(Generic[Node]):
    """Levels of versions, relative to each other, by weighted least squares."""

    def __init__(self, stars: Sequence[Star[Node]], between: float) -> None:
        """Lay out the graph of at least one star.

        ``between`` is the standard deviation between sittings.
        """
        self.stars = tuple(stars)
        self.between = between
        self.nodes = tuple(dict.fromkeys(node for star in stars for node in star.nodes))
        """All versions, in the order in which they were first measured."""
        self._index = {node: index for index, node in enumerate(self.nodes)}
        ends = [[self._index[node] for node in star.nodes] for star in stars]
        self._parts = _parts(ends, len(self.nodes))
        _, first = np.unique(self._parts, return_index=True)
        self._free = np.delete(np.arange(len(self.nodes)), first)
        # One entry for each edge, star after star:
        sizes = [len(star) for star in ends]
        self._star = np.repeat(np.arange(len(stars)), sizes)
        self._first_edges = np.cumsum([0, *sizes[:-1]])
        self._node = np.concatenate(ends)
        self._edge_levels = np.concatenate([star.levels for star in stars])
        self._variances = np.concatenate([star.variances for star in stars])
        self._freedoms = np.array([star.freedom for star in stars])

    def part(self, node: Node) -> int:
        """Return the number of the part of a version; no comparison leads to another part."""
        return int(self._parts[self._index[node]])

    @property
    def cycle_count(self) -> int:
        """Number of independent paths that lead back to where they began."""
        return len(self._node) - len(self.stars) - len(self._free)

    @cached_property
    def likelihoods(self) -> Floats:
        """Likelihood of each of `BETWEEN`, the largest being 1; alike without cycles."""
        if not self.cycle_count:
            return np.ones(len(BETWEEN))
        logs = np.array([self._log_likelihood(between) for between in BETWEEN])
        likelihoods: Floats = np.exp(logs - logs.max())
        return likelihoods

    def _log_likelihood(self, between: float) -> float:
        """Return the restricted log-likelihood of a deviation, less a constant."""
        weights = self._weights(between)
        of_edges = np.log(self._by_star(weights)).sum() - np.log(weights).sum()
        solution = self._solved(between)
        return float(-(of_edges + solution.log_determinant + solution.chi_squared) / 2)

    def estimate(self, before: Node, after: Node) -> Estimate | None:
        """Return the ratio of two versions by all paths between them; ``None`` without one."""
        first, last = self._index.get(before), self._index.get(after)
        if first is None or last is None or self._parts[first] != self._parts[last]:
            return None
        if len(self.stars) == 1 and first != last:
            [star] = self.stars
            return star.estimate(star.nodes.index(before), star.nodes.index(after), self.between)
        difference = np.zeros(len(self.nodes))
        difference[last] += 1
        difference[first] -= 1
        potentials = np.zeros(len(self.nodes))
        potentials[self._free] = self._solution.solve(difference[self._free])
        weights = self._weights(self.between)
        shares = weights * self._centred(potentials[self._node], weights)
        of_rounds = self._by_star(shares**2 * self._variances)
        variance = float(of_rounds.sum() + (shares**2).sum() * self.between**2 / 2)
        denominator = float((of_rounds**2 / self._freedoms).sum())
        # Welch and Satterthwaite's degrees of freedom of a sum of variances
        freedom = variance**2 / denominator if denominator else math.inf
        levels = self._solution.levels
        return Estimate(float(levels[last] - levels[first]), variance, freedom)

    def without(self, index: int) -> RatioGraph[Node] | None:
        """Return the graph without one of its stars; ``None`` if nothing is left."""
        rest = self.stars[:index] + self.stars[index + 1 :]
        return RatioGraph(rest, self.between) if rest else None

    def _weights(self, between: float) -> Floats:
        return 1 / (self._variances + between**2 / 2)

    def _by_star(self, values: Floats) -> Floats:
        return np.add.reduceat(values, self._first_edges)

    def _centred(self, values: Floats, weights: Floats) -> Floats:
        """Return the values of all edges, each less the weighted mean of its star."""
        means = self._by_star(weights * values) / self._by_star(weights)
        return values - means[self._star]

    @cached_property
    def _solution(self) -> _Solution:
        return self._solved(self.between)

    def _solved(self, between: float) -> _Solution:
        """Solve the normal equations, from which the sittings' nodes are eliminated."""
        count = len(self.nodes)
        weights = self._weights(between)
        centred = self._centred(self._edge_levels, weights)
        right = np.bincount(self._node, weights * centred, count).astype(float)
        solve, log_determinant = self._factorised(weights)
        levels = np.zeros(count)
        levels[self._free] = solve(right[self._free])
        squares = float((weights * centred**2).sum())
        return _Solution(levels, solve, log_determinant, squares - float(right @ levels))

    def _factorised(self, weights: Floats) -> tuple[Callable[[Floats], Floats], float]:
        """Return a function that solves for the free nodes, and the log of the determinant.

        The matrix is D - B' W B: D has the weight of each node, B the weight of each star's edge
        to each node, and W one over the weight of each star.
        """
        shape, free = (len(self.stars), len(self.nodes)), self._free
        of_nodes = np.bincount(self._node, weights, len(self.nodes))
        of_stars = self._by_star(weights)
        if len(self.nodes) <= _FEW_NODES:
            edges = np.zeros(shape)
            np.add.at(edges, (self._star, self._node), weights)
            matrix = np.diag(of_nodes) - edges.T @ (edges / of_stars[:, None])
            matrix = matrix[np.ix_(free, free)]
            return np.linalg.inv(matrix).__matmul__, float(np.linalg.slogdet(matrix)[1])
        from scipy.sparse import coo_array, diags_array  # noqa: PLC0415 - 0.2 s, few are large
        from scipy.sparse.linalg import splu  # noqa: PLC0415

        sparse = coo_array((weights, (self._star, self._node)), shape).tocsr()
        normal = diags_array(of_nodes) - sparse.T @ diags_array(1 / of_stars) @ sparse
        factors = splu(normal.tocsr()[free][:, free].tocsc())
        diagonal = np.concatenate([factors.L.diagonal(), factors.U.diagonal()])
        return factors.solve, float(np.log(np.abs(diagonal)).sum())


def _parts(ends: Sequence[Sequence[int]], count: int) -> Indices:
    """Return for each of ``count`` nodes one that all nodes of its part have in common."""
    parent = list(range(count))

    def root(point: int) -> int:
        while parent[point] != point:
            parent[point] = parent[parent[point]]
            point = parent[point]
        return point

    for star in ends:
        for first, second in itertools.pairwise(star):
            parent[root(first)] = root(second)
    return np.array([root(point) for point in range(count)])


def deviation_of(weights: Floats) -> float:
    """Return the standard deviation between sittings, given the weight of each of `BETWEEN`."""
    return math.sqrt(float(weights @ BETWEEN**2) / float(weights.sum()))


def fit_between(graphs: Sequence[RatioGraph[Node]], median: float) -> Floats:
    """Work out how much ratios of a machine vary from one sitting to another, over its cases.

    Args:
        graphs: the graph of each case.
        median: half of all cases are taken to vary by less before anything is measured twice. A
            case without repeats varies by the root of the mean square of all, which is more.

    Returns:
        Share of cases for which each of `BETWEEN` holds. Times the likelihoods of a case, they are
        the weights of its own `deviation_of`.
    """
    distance = np.log2(np.maximum(BETWEEN, BETWEEN[1] / 2) / median)
    prior = np.exp(-(distance**2) / 2)
    prior *= PRIOR_CASES / prior.sum()
    likelihoods = [graph.likelihoods for graph in graphs if graph.cycle_count]
    weights: Floats = prior / prior.sum()
    if likelihoods:
        of_cases = np.array(likelihoods)
        for _ in range(_EM_STEPS):
            posterior = of_cases * weights
            posterior /= posterior.sum(axis=1, keepdims=True)
            weights = prior + posterior.sum(axis=0)
            weights /= weights.sum()
    return weights
