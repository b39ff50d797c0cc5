"""The report of an interleaved comparison: Markdown, aligned for the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from asv_watch.compare.measure import Compared
from asv_watch.markdown import table
from asv_watch.quantities import quantity
from asv_watch.records.comparisons import CaseRatio
from asv_watch.statistics.ratio import CONFIDENCE, verdict
from asv_watch.statistics.rule import MINIMUM_EFFECT, Verdict

WORDS = {Verdict.WORSE: "slower", Verdict.BETTER: "faster", Verdict.SAME: "same"}
RULE = (
    "A difference is a ratio whose interval excludes 1 and that is "
    f"{MINIMUM_EFFECT:.1%} or more away from 1."
)


def report(compared: Compared, before: str, after: str) -> str:
    """Return the cases, differences first and the largest on top, then those without a ratio."""
    rows = sorted(
        compared.ratios,
        key=lambda case: (verdict(case) is Verdict.SAME, -abs(math.log(case.ratio))),
    )
    parts = [
        f"**{after}** against **{before}**",
        table(
            ("case", "before", "after", "after / before", "interval", "rounds", "verdict"),
            [_row(case) for case in rows],
        ),
        f"The interval holds the ratio with {CONFIDENCE:.0%} confidence. {RULE}",
    ]
    for label, reasons in (
        ("Skipped", {case.case: case.skipped for case in compared.unmeasured if case.skipped}),
        ("Failed", {case.case: case.failed for case in compared.unmeasured if case.failed}),
    ):
        if reasons:
            parts.append("\n".join(f"{label}: {name}: {why}" for name, why in reasons.items()))
    parts.append(summary(compared.ratios))
    return "\n\n".join(parts)


def summary(ratios: Sequence[CaseRatio]) -> str:
    """Say how many cases are slower, faster and the same, and how wide the widest interval is."""
    verdicts = [verdict(case) for case in ratios]
    counts = ", ".join(f"{verdicts.count(key)} {word}" for key, word in WORDS.items())
    widest = max(math.log(case.interval[1] / case.ratio) for case in ratios)
    cases = "1 case" if len(ratios) == 1 else f"{len(ratios)} cases"
    return f"Of {cases} {counts}; the widest interval is ±{widest:.1%}."


def _row(case: CaseRatio) -> tuple[str, ...]:
    low, high = case.interval
    return (
        f"`{case.case}`",
        quantity(case.before_s, "seconds"),
        quantity(case.after_s, "seconds"),
        f"{case.ratio:.3f}",
        f"{low:.3f} … {high:.3f}",
        str(len(case.ratios)),
        WORDS[verdict(case)],
    )
