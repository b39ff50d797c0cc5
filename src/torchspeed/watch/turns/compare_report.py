"""A comparison side by side as a person reads it: Markdown, aligned for the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torchspeed.watch.analysis.rule import MINIMUM_EFFECT, Verdict
from torchspeed.watch.turns.calibration_report import table
from torchspeed.watch.turns.compare import Compared
from torchspeed.watch.turns.ratio import CONFIDENCE
from torchspeed.watch.turns.rounds import Measured

_WORDS = {Verdict.WORSE: "slower", Verdict.BETTER: "faster", Verdict.SAME: "same"}


def report(compared: Sequence[Compared], measured: Measured, before: str, after: str) -> str:
    """The cases, differences first and the largest of them on top, then what did not run."""
    rows = sorted(
        compared,
        key=lambda one: (one.ratio.verdict is Verdict.SAME, -abs(math.log(one.ratio.value))),
    )
    parts = [
        f"**{after}** against **{before}**",
        table(
            ("case", "before", "after", "after / before", "interval", "rounds", "verdict"),
            [_row(one) for one in rows],
        ),
        f"The interval holds the ratio with {CONFIDENCE:.0%} confidence; a difference is one "
        f"that leaves 1 out and is {MINIMUM_EFFECT:.1%} or more.",
    ]
    for what, cases in (("Skipped", measured.skipped), ("Failed", measured.failed)):
        if cases:
            parts.append("\n".join(f"{what}: {name}: {why}" for name, why in cases.items()))
    parts.append(summary(compared))
    return "\n\n".join(parts)


def summary(compared: Sequence[Compared]) -> str:
    """One sentence: how many cases are slower, faster, and neither."""
    verdicts = [one.ratio.verdict for one in compared]
    counts = ", ".join(f"{verdicts.count(one)} {word}" for one, word in _WORDS.items())
    widest = max(math.log(one.ratio.interval[1] / one.ratio.value) for one in compared)
    return f"Of {len(compared)} cases {counts}; the least sure ratio is good to ±{widest:.1%}."


def _row(one: Compared) -> tuple[str, ...]:
    low, high = one.ratio.interval
    return (
        f"`{one.case}`",
        f"{one.before * 1e3:.4g} ms",
        f"{one.after * 1e3:.4g} ms",
        f"{one.ratio.value:.3f}",
        f"{low:.3f} … {high:.3f}",
        str(one.ratio.rounds),
        _WORDS[one.ratio.verdict],
    )
