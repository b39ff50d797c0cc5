"""One case compared in one or two sittings, many times: how often what is claimed of it is true.

A machine's cases have spreads of rounds between 0.4 and 4 %, and one process in thirty is slower
by up to a fifth. Rounds go on until the interval of the rounds alone is narrow enough, as the
engine does. In each sitting the ratio is off its true one. What was compared once and is a change,
or near one, is measured again in another sitting, as nights do on another day.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from asv_watch.engine.rounds import DEFAULT, PRECISE, Sampling
from asv_watch.statistics.graph import RatioGraph, Star
from asv_watch.statistics.ratio import estimate_ratio, levels
from asv_watch.statistics.rule import SMALLEST, Verdict, verdict
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
    """Pairs that are called a change at the end of the night."""


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
        first = _sitting(rng, ratio, spread, DEFAULT)
        answer = first.estimate(0, 1, BETWEEN)
        low, high = answer.interval
        claims.holding += low <= ratio * math.exp(rng.normal(0.0, BETWEEN)) <= high
        if abs(answer.log) >= SMALLEST:
            again = _sitting(rng, ratio, spread, PRECISE)
            both = RatioGraph([first, again], BETWEEN).estimate("a", "b")
            assert both is not None
            answer = both
        claims.called += verdict(answer.ratio, answer.interval) is not Verdict.SAME
    return claims


def _sitting(
    rng: np.random.Generator, ratio: float, spread: float, sampling: Sampling
) -> Star[str]:
    """Measure a pair in a sitting of its own."""
    rounds = _rounds(rng, ratio, spread, sampling)
    logs, variances = levels([(1.0, each) for each in rounds], USUAL_SPREAD)
    return Star(("a", "b"), tuple(logs), tuple(variances), len(rounds) - 1)


def _rounds(
    rng: np.random.Generator, ratio: float, spread: float, sampling: Sampling
) -> tuple[float, ...]:
    """Draw the rounds of one sitting, until their interval is narrow enough."""
    here = ratio * math.exp(rng.normal(0.0, BETWEEN))
    rounds: list[float] = []
    while len(rounds) < sampling.most_rounds:
        slow = rng.uniform(1.0, 1.2) if rng.random() < 1 / 30 else 1.0
        slow /= rng.uniform(1.0, 1.2) if rng.random() < 1 / 30 else 1.0
        rounds.append(here * slow * math.exp(rng.normal(0.0, spread)))
        if len(rounds) >= sampling.fewest_rounds:
            middle, (low, high) = estimate_ratio(rounds)
            half, difference = math.log(high / low) / 2, abs(math.log(middle))
            if is_precise(difference, half, sampling.half_width, sampling.share_of_difference):
                break
    return tuple(rounds)
