"""The report of a calibration: Markdown, aligned for the terminal."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from asv_watch.markdown import table
from asv_watch.progress import human_time
from asv_watch.records.calibrations import (
    NOISE_TARGET,
    WORST_TARGET_IDLE,
    WORST_TARGET_LOADED,
    Calibration,
    CaseNoise,
    RepeatedComparison,
)


def report(calibration: Calibration, machine: str) -> str:
    """Return the cases, the noisiest first, what disturbs timing or does not, and the verdict."""
    day = datetime.datetime.fromtimestamp(calibration.at, datetime.UTC)
    load, repeated = calibration.load, calibration.interleaved
    torch = f"torch {calibration.torch} + torchvision {calibration.torchvision}, "
    torch = torch if calibration.torch else ""
    parts = [
        f"**{machine}, {day:%Y-%m-%d %H:%M} UTC**: commit {calibration.commit[:8]}, "
        f"{torch}{calibration.runs} runs in {human_time(calibration.seconds)}; "
        f"other load {load.others:.2f} cores, load average "
        f"before {load.before:.2f}, stolen {load.stolen:.1%}.",
        _table(("value", "samples"), calibration.cases),
        "Noise is the standard deviation of the ratio of two runs, worst the highest value over "
        "the lowest. The smallest slowdown is detected in every pair of runs; a false alarm is a "
        "pair that differs by the noise of all cases together.",
    ]
    if repeated is not None:
        parts += [
            f"Interleaved: {repeated.repeats} comparisons of the commit with itself in "
            f"{human_time(repeated.seconds)}.",
            _table(("rounds",), repeated.cases),
        ]
    if calibration.without_value:
        parts.append(f"Failed in at least one run: {', '.join(calibration.without_value)}.")
    disturbing = [(f.what, f.state, f.remedy) for f in calibration.findings if f.hurts]
    if disturbing:
        parts.append("What disturbs timing here (nothing was changed):")
        parts.append(table(("what", "state", "remedy"), disturbing))
    harmless = [f"{f.what}: {f.state}" for f in calibration.findings if not f.hurts]
    if harmless:
        parts.append(f"What does not disturb timing: {'; '.join(harmless)}.")
    parts.append(conclusion(calibration))
    return "\n\n".join(parts)


def conclusion(calibration: Calibration) -> str:
    """Compare noise and targets in a sentence for separate runs and one for comparisons."""
    if calibration.idle:
        wanted = f"at most {NOISE_TARGET:.0%} and {WORST_TARGET_IDLE:.0%} on an idle machine"
    else:
        wanted = f"worst at most {WORST_TARGET_LOADED:.0%} on a loaded machine"
    sentences = [
        f"Separate runs, {_steady(calibration.steady)}: noise {calibration.noise:.2%}, worst "
        f"{calibration.worst:.1%} of {len(calibration.cases)} cases (wanted: {wanted}); "
        f"{calibration.false_alarms} false alarms in {calibration.comparisons} comparisons."
    ]
    repeated = calibration.interleaved
    if repeated is not None:
        sentences.append(
            f"Interleaved, {_steady(calibration.steady_interleaved)}: noise {repeated.noise:.2%}, "
            f"worst {repeated.worst:.1%} of {len(repeated.cases)} cases; {repeated.false_alarms} "
            f"false alarms in {repeated.ratios} ratios."
        )
    return " ".join(sentences)


def _steady(steady: bool) -> str:
    return "steady" if steady else "too noisy"


def _table(columns: Sequence[str], cases: Sequence[CaseNoise | RepeatedComparison]) -> str:
    """Return a row for each case, the noisiest first, with columns of its own after its name."""
    head = ("case", *columns, "noise", "worst", "smallest slowdown detected")
    return table(head, [_row(case) for case in sorted(cases, key=lambda case: -case.noise)])


def _row(case: CaseNoise | RepeatedComparison) -> tuple[str, ...]:
    if isinstance(case, CaseNoise):
        value = sorted(case.values)[len(case.values) // 2]
        own = [f"{value * 1e3:.3g} ms", str(case.samples)]
    else:
        own = [str(case.rounds)]
    detectable = "above 100%" if case.detectable is None else f"{case.detectable:.1%}"
    return (f"`{case.case}`", *own, f"{case.noise:.2%}", f"{case.worst:.2%}", detectable)
