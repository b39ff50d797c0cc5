"""One case compared in a sitting, many times: how often what is claimed of it is true.

A machine's cases have spreads of rounds between 0.4 and 4 %, and one process in thirty is slower
by up to a fifth. Rounds go on until the interval of the rounds alone is narrow enough, as the
engine does. In each sitting the ratio is off its true one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from asv_watch.engine.rounds import DEFAULT
from asv_watch.statistics.graph import Estimate, Star
from asv_watch.statistics.ratio import estimate_ratio, levels
from asv_watch.statistics.rule import Verdict, verdict
from asv_watch.statistics.stopping import is_precise

BETWEEN = 0.005
"""Standard deviation of what a ratio is off in a sitting."""
USUAL_SPREAD = 0.015


@dataclass
class Claims:
    """What was claimed of so many pairs with one true ratio."""

    pairs: int = 0
    holding: int = 0
    """Intervals of the first sitting that hold the ratio of another day."""
    called: int = 0
    """Pairs that the first sitting calls a change."""
    called_twice: int = 0
    """Pairs that a sitting of another day calls a change in the same direction."""


def simulate_pairs(pairs: int, ratio: float, seed: int = 1) -> Claims:
    """Compare pairs of versions whose true ratio is known, each in a night of its own.

    Args:
        pairs: How many.
        ratio: True ratio of all.
        seed: Of all that is drawn.
    """
    rng, claims = np.random.default_rng(seed), Claims(pairs)
    for _ in range(pairs):
        spread = float(np.clip(USUAL_SPREAD * rng.lognormal(0.0, 0.5), 0.004, 0.04))
        first, again = (_compare(rng, ratio, spread) for _ in range(2))
        low, high = first.interval
        claims.holding += low <= ratio * math.exp(rng.normal(0.0, BETWEEN)) <= high
        verdicts = [verdict(each.ratio, each.interval) for each in (first, again)]
        claims.called += verdicts[0] is not Verdict.SAME
        claims.called_twice += verdicts[0] is verdicts[1] is not Verdict.SAME
    return claims


def _compare(rng: np.random.Generator, ratio: float, spread: float) -> Estimate:
    """Measure a pair in a sitting of its own."""
    rounds = _rounds(rng, ratio, spread)
    logs, variances = levels([(1.0, each) for each in rounds], USUAL_SPREAD)
    star = Star(("a", "b"), tuple(logs), tuple(variances), len(rounds) - 1)
    return star.estimate(0, 1, BETWEEN)


def _rounds(rng: np.random.Generator, ratio: float, spread: float) -> tuple[float, ...]:
    """Draw the rounds of one sitting, until their interval is narrow enough."""
    here = ratio * math.exp(rng.normal(0.0, BETWEEN))
    rounds: list[float] = []
    while len(rounds) < DEFAULT.most_rounds:
        slow = rng.uniform(1.0, 1.2) if rng.random() < 1 / 30 else 1.0
        slow /= rng.uniform(1.0, 1.2) if rng.random() < 1 / 30 else 1.0
        rounds.append(here * slow * math.exp(rng.normal(0.0, spread)))
        if len(rounds) >= DEFAULT.fewest_rounds:
            middle, (low, high) = estimate_ratio(rounds)
            half, difference = math.log(high / low) / 2, abs(math.log(middle))
            if is_precise(difference, half, DEFAULT.half_width, DEFAULT.share_of_difference):
                break
    return tuple(rounds)
