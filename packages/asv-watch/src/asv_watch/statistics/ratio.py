"""Decides whether one version is slower, from interleaved samples.

Processes, one for each version, take samples of some 20 ms in the order A B B A, A B B A ...
Interference slows neighbouring samples equally, and only adds time. Other influences, such as the
layout of memory, differ from process to process, so a comparison consists of several rounds, each
with new processes.

- A round's ratio is that of the means of the fastest samples of each side, mostly the faster half.
- The comparison's ratio is the Hodges-Lehmann estimate of the rounds' ratios: the median of the
  means, as logarithms, of each round with itself and with each other round. Some processes are
  slower by 40 %, and a mean of ten rounds would move by 4 % with a single such process.
- Its interval is Student's for the logarithms, at 99 %, from the standard deviation of all rounds.
  A few rounds underestimate the spread of some cases, so a caller names the least spread to
  assume, such as the median of all cases.
- `asv_watch.statistics.rule` says whether that is a difference.
"""

import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.99
_HALVED = 8
"""Largest number of samples of which the faster half counts."""
PRIOR_ROUNDS = 3
"""A spread below the usual one is averaged with this many rounds of the usual spread."""
LEAST_SPREAD = 1e-4
"""Smallest spread of the rounds' logarithms: clocks and page sizes resolve no less."""
T = TypeVar("T")
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
ESTIMATE = "Hodges-Lehmann of the ratios of the faster halves"
"""Name of the estimator, as stored comparisons have it."""


def fastest(samples: Sequence[T], seconds: Callable[[T], float]) -> list[T]:
    """Return the fastest of the samples that one side took in a round.

    They are the faster half of up to eight samples. Of more, which only a busy machine takes, they
    are the fastest quarter, and at least four: more than half of those may have been disturbed.
    """
    half = (min(len(samples), _HALVED) + 1) // 2
    return sorted(samples, key=seconds)[: max(half, len(samples) // 4)]


def spread_of_rounds(ratios: Sequence[float]) -> float:
    """Return the standard deviation of the logarithms of at least two rounds' ratios."""
    logs = [math.log(ratio) for ratio in ratios]
    mean = math.fsum(logs) / len(logs)
    return math.sqrt(math.fsum((log - mean) ** 2 for log in logs) / (len(logs) - 1))


def spread_of_few(spread: float, rounds: int, usual: float) -> float:
    """Return the standard deviation of rounds' logarithms; a few rounds may agree by luck.

    A spread below the usual one counts as the mean square of its own rounds and of `PRIOR_ROUNDS`
    with the usual spread. A larger one is left as it is.
    """
    own = max(spread, LEAST_SPREAD)
    if own >= usual:
        return own
    freedom = rounds - 1
    squares = freedom * own**2 + PRIOR_ROUNDS * usual**2
    return math.sqrt(squares / (freedom + PRIOR_ROUNDS))


def estimate_ratio(
    ratios: Sequence[float], least_spread: float = 0.0
) -> tuple[float, tuple[float, float]]:
    """Return the ratio of two sides and its interval, from the rounds' ratios.

    Args:
        ratios: One per round, at least two.
        least_spread: Lower bound of the rounds' spread.
    """
    half = margin_of_error(max(spread_of_rounds(ratios), least_spread), len(ratios))
    middle = middle_of_means([math.log(ratio) for ratio in ratios])
    return math.exp(middle), (math.exp(middle - half), math.exp(middle + half))


def levels(rounds: Sequence[Sequence[float]]) -> tuple[Floats, Floats]:
    """Return the level of each side, and the variance of each level from the rounds alone.

    Levels are logarithms relative to their mean. The level of a side is the mean, over all sides,
    of the Hodges-Lehmann estimate of its ratio to that side: of two sides, half of their ratio
    each. The variance of a side is its own part of the spread of the rounds (Grubbs, "On
    estimating precision of measuring instruments and product variability", JASA 43, 1948), at
    least a tenth of the mean of all sides; two sides share the spread of their ratio.

    Args:
        rounds: at least two; one number above zero for each side, of at least two.
    """
    logs = np.log(np.asarray(rounds, float))
    count, sides = logs.shape
    ratios = np.zeros((sides, sides))
    for first, second in itertools.combinations(range(sides), 2):
        ratios[first, second] = middle_of_means((logs[:, first] - logs[:, second]).tolist())
    centred = logs - logs.mean(axis=1, keepdims=True)
    own = centred.var(axis=0, ddof=1)
    mean = own.mean() * sides / (sides - 1)
    if sides > 2:
        own = np.maximum((own - mean / sides) / (1 - 2 / sides), mean / 10)
    else:
        own = np.full(sides, mean)
    return (ratios - ratios.T).mean(axis=1), own / count


def middle_of_means(values: Sequence[float]) -> float:
    """Return Hodges and Lehmann's estimate: the median of the means of all pairs of values.

    Each value is paired with itself too.
    """
    pairs = itertools.combinations_with_replacement(values, 2)
    return statistics.median((first + second) / 2 for first, second in pairs)


def margin_of_error(spread: float, rounds: int) -> float:
    """Return half the width of an interval, as a logarithm: Student's quantile of the error."""
    return quantile(rounds - 1) * spread / math.sqrt(rounds)


@cache
def quantile(freedom: float, confidence: float = CONFIDENCE) -> float:
    """Return Student's quantile of an interval, in standard errors."""
    from scipy.special import stdtrit  # noqa: PLC0415 - 0.2 s, which `--help` saves

    return float(stdtrit(freedom, (1 + confidence) / 2))
