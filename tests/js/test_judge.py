"""The page's script decides whether two values differ as Python's rule does."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

from asv_watch.site.index import RULES
from asv_watch.statistics.rule import Measurement, judge
from tests.js.node import evaluate

JUDGE = """argument.pairs.map(([base, now, noises, higher]) => {
  const {ratio, verdict, inNoise} =
    module.judgeRatio(argument.rules, base, now, noises, higher);
  return [ratio, verdict, Number.isFinite(inNoise) ? inNoise : null];
})"""


def measurement(random: Random, value: float) -> Measurement:
    low, high = (value * random.choice([0.001, 0.01, 0.1]) * random.random() for _ in range(2))
    interval = None if random.random() < 0.3 else (value - low, value + high)
    noise = random.choice([None, 0.0, random.random() * 0.02, random.random() * 0.2])
    return Measurement(value, interval, noise)


def test_verdicts_are_those_of_the_rule() -> None:
    random = Random(12)  # noqa: S311
    cases = []
    for _ in range(3000):
        value = 10 ** random.uniform(-6, 10)
        ratio = random.choice([1, 1.0149, 1.0151, math.exp(random.gauss(0, 0.1)), 2, 0.5])
        cases.append(
            (
                measurement(random, value),
                measurement(random, value * ratio),
                random.random() < 0.5,
            )
        )
    pairs = [
        [
            *({"value": entry.value, "interval": entry.interval} for entry in (before, after)),
            [before.noise, after.noise],
            higher,
        ]
        for before, after, higher in cases
    ]
    answers = evaluate("data/judge.js", JUDGE, {"rules": RULES, "pairs": pairs})
    counts: Counter[str] = Counter()
    for (before, after, higher), (ratio, verdict, multiple) in zip(cases, answers, strict=True):
        expected = judge(before, after, higher_is_better=higher)
        assert verdict == expected.verdict.value, (before, after, expected.reason)
        assert math.isclose(ratio, expected.ratio or math.nan)
        if multiple is not None:
            assert math.isclose(multiple, expected.multiple or 0, rel_tol=1e-9)
        counts[verdict] += 1
    assert min(counts["better"], counts["worse"], counts["same"]) > 200, counts
