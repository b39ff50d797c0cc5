"""Series of timings whose true steps are known, imitating what a nightly run produces.

Noise is lognormal with a coefficient of variation of 0.5, 2 or 5 %. On top of it
a series may drift, carry spikes, or switch between two modes; a step multiplies
everything after it by a ratio of 2 to 20 %, up or down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NOISE = (0.005, 0.02, 0.05)
STEP_SIZES = (0.02, 0.03, 0.05, 0.10, 0.20)
LENGTHS = (30, 100, 300)
KINDS = ("plain", "plain", "drifting", "spiky", "two modes")
MOST_STEPS = {30: 1, 100: 2, 300: 4}
"""Most steps of a series by its length."""
CLEARANCE = 8
"""Fewest commits between two steps, and between a step and an end."""


@dataclass(frozen=True)
class LabelledSeries:
    """Values in commit order, and the truth about them."""

    values: np.ndarray
    steps: tuple[tuple[int, float], ...]
    """(position of the first value after it, ratio after over before), in order."""
    noise: float
    """Standard deviation around the level (of the logarithm), a second mode included."""


def make_series(
    rng: np.random.Generator, length: int, noise: float, kind: str, step_count: int
) -> LabelledSeries:
    """Draw one series."""
    log_values = rng.normal(0.0, noise, length)
    spread = noise
    if kind == "two modes":
        share = rng.uniform(0.1, 0.4)
        apart = rng.uniform(2, 5) * noise
        log_values += np.where(rng.random(length) < share, apart, 0.0)
        spread = float(np.sqrt(noise**2 + share * (1 - share) * apart**2))
    else:
        log_values += _disturbance(rng, length, noise, kind)
    steps = []
    for position in _positions(rng, length, step_count):
        size = float(rng.choice(STEP_SIZES))
        ratio = 1 + size if rng.random() < 0.5 else 1 / (1 + size)
        log_values[position:] += np.log(ratio)
        steps.append((position, ratio))
    level = 10 ** rng.uniform(-4, 0)
    return LabelledSeries(level * np.exp(log_values), tuple(steps), spread)


def _positions(rng: np.random.Generator, length: int, count: int) -> list[int]:
    """Positions of steps, at random but for the clearance."""
    slack = length - (count + 1) * CLEARANCE
    offsets = np.sort(rng.integers(0, slack + 1, count))
    return [int(offset) + CLEARANCE * (number + 1) for number, offset in enumerate(offsets)]


def _disturbance(rng: np.random.Generator, length: int, noise: float, kind: str) -> np.ndarray:
    if kind == "drifting":
        return _drift(rng, length, 0.5 * noise)
    if kind == "heavy drift":
        return _drift(rng, length, 2.0 * noise)
    if kind == "spiky":
        spikes = rng.random(length) < 0.02
        return np.where(spikes, np.log1p(rng.exponential(0.3, length)), 0.0)
    return np.zeros(length)


def _drift(rng: np.random.Generator, length: int, size: float) -> np.ndarray:
    """A random walk, a slow wave, or correlated noise; ``size`` is its spread over 100 commits."""
    shape = rng.integers(3)
    if shape == 0:
        return np.cumsum(rng.normal(0.0, size / 10, length))
    if shape == 1:
        period = rng.uniform(60, 200)
        phase = rng.uniform(0, 2 * np.pi)
        wave = np.sin(2 * np.pi * np.arange(length) / period + phase)
        return np.asarray(np.sqrt(2) * size * wave)
    kept = 0.95
    innovations = rng.normal(0.0, size * np.sqrt(1 - kept**2), length)
    walk = np.empty(length)
    state = rng.normal(0.0, size)
    for index in range(length):
        state = kept * state + innovations[index]
        walk[index] = state
    return walk


def make_set(
    seed: int, count: int, kinds: tuple[str, ...] = KINDS, lengths: tuple[int, ...] = LENGTHS
) -> list[LabelledSeries]:
    """Draw a set of series that covers kinds, lengths, noises and step counts evenly."""
    rng = np.random.default_rng(seed)
    series = []
    for number in range(count):
        length = lengths[number % len(lengths)]
        noise = NOISE[number // len(lengths) % len(NOISE)]
        kind = kinds[number // (len(lengths) * len(NOISE)) % len(kinds)]
        steps = int(rng.integers(0, MOST_STEPS[length] + 1))
        series.append(make_series(rng, length, noise, kind, steps))
    return series
