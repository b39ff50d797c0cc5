"""The report of a calibration: Markdown, aligned for the terminal."""

from __future__ import annotations

from asv_watch.judge.repeated_comparisons import RepeatedComparisons
from asv_watch.machine.conditions import describe_conditions
from asv_watch.machine.load import Load
from asv_watch.markdown import table
from asv_watch.progress import human_time


def report(repeated: RepeatedComparisons, load: Load, seconds: float) -> str:
    """Return the cases, the noisiest first, what spoils timings here, and all cases together.

    Args:
        repeated: What the comparisons gave.
        load: What else the machine did meanwhile.
        seconds: What the comparisons took.
    """
    rows = [
        (
            f"`{case.case}`",
            str(case.rounds),
            f"{case.noise:.2%}",
            f"{case.worst:.2%}",
            f"{case.detectable:.1%}",
        )
        for case in repeated.cases
    ]
    conditions = describe_conditions(load)
    spoiling = [(entry.what, entry.state, entry.remedy) for entry in conditions if entry.remedy]
    fine = [f"{entry.what}: {entry.state}" for entry in conditions if not entry.remedy]
    parts = [
        table(("case", "rounds", "noise", "worst", "smallest slowdown detected"), rows),
        "Noise is the standard deviation of the logarithm of the ratio of the commit to itself, "
        "worst the ratio farthest from 1. The smallest slowdown is detected in every comparison.",
        table(("what spoils timings here", "state", "remedy"), spoiling) if spoiling else "",
        f"What does not spoil timings: {'; '.join(fine)}." if fine else "",
        f"{repeated.repeats} comparisons of {repeated.newest.after.commit[:8]} with itself on "
        f"{repeated.newest.machine} in {human_time(seconds)}: noise {repeated.noise:.2%}, worst "
        f"{repeated.worst:.1%} of {len(repeated.cases)} cases; {repeated.false_alarms} false "
        f"alarms in {repeated.ratios} ratios.",
    ]
    return "\n\n".join(filter(None, parts))
