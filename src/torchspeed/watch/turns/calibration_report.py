"""A calibration as a person reads it: Markdown, aligned for the terminal."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from torchspeed.watch.history.calibrations import (
    NOISE_TARGET,
    WORST_TARGET_IDLE,
    WORST_TARGET_LOADED,
    Calibration,
    CaseNoise,
    RepeatedComparison,
)
from torchspeed.watch.progress import human_time


def report(calibration: Calibration, machine: str) -> str:
    """The cases, the noisiest first, what hurts and what does not, and the verdict."""
    one = calibration
    day = datetime.datetime.fromtimestamp(one.at, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    parts = [
        f"**{machine}, {day}**: commit {one.commit[:8]}, torch {one.torch} + torchvision "
        f"{one.torchvision}, {one.runs} runs in {human_time(one.seconds)}; other load "
        f"{one.load.others:.2f} cores, load average before {one.load.before:.2f}, stolen "
        f"{one.load.stolen:.1%}.",
        table(
            ("case", "figure", "samples", "noise", "worst", "sees from"),
            [_row(case) for case in sorted(one.cases, key=lambda case: -case.noise)],
        ),
        "Noise is the standard deviation of the ratio of two runs, worst the highest figure "
        "over the lowest; *sees from* is the smallest slowdown found in every pair of runs; a "
        "false alarm is a pair that differs by the noise of all cases together.",
    ]
    if one.interleaved is not None:
        turns = one.interleaved
        parts += [
            f"Side by side: {turns.repeats} comparisons with itself in "
            f"{human_time(turns.seconds)}.",
            table(
                ("case", "rounds", "noise", "worst", "sees from"),
                [_turns(case) for case in sorted(turns.cases, key=lambda case: -case.noise)],
            ),
        ]
    if one.without_value:
        parts.append("Failed in at least one run: " + ", ".join(one.without_value) + ".")
    hurting = [(f.what, f.state, f.remedy) for f in one.findings if f.hurts]
    if hurting:
        parts.append("What hurts here (nothing was changed):")
        parts.append(table(("what", "state", "remedy"), hurting))
    well = [f"{f.what}: {f.state}" for f in one.findings if not f.hurts]
    if well:
        parts.append("What does not: " + "; ".join(well) + ".")
    parts.append(verdict(one))
    return "\n\n".join(parts)


def verdict(calibration: Calibration) -> str:
    """One sentence each for runs and for sides: how noisy, and whether the targets are met."""
    one, turns = calibration, calibration.interleaved
    if one.idle:
        wanted = f"at most {NOISE_TARGET:.0%} and {WORST_TARGET_IDLE:.0%} on an idle machine"
    else:
        wanted = f"worst at most {WORST_TARGET_LOADED:.0%} on a loaded machine"
    said = [
        f"Run after run, {'steady' if one.steady else 'too noisy'}: noise {one.noise:.2%}, "
        f"worst {one.worst:.1%} of {len(one.cases)} cases (wanted: {wanted}); "
        f"{one.false_alarms} false alarms in {one.comparisons} comparisons."
    ]
    if turns is not None:
        said.append(
            f"Side by side, {'steady' if one.steady_interleaved else 'too noisy'}: noise "
            f"{turns.noise:.2%}, worst {turns.worst:.1%} of {len(turns.cases)} cases; "
            f"{turns.false_alarms} false alarms in {turns.ratios} ratios."
        )
    return " ".join(said)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns line up."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = [
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        + " |"
        for row in (head, *rows)
    ]
    return "\n".join(
        [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]
    )


def _row(case: CaseNoise) -> tuple[str, ...]:
    figure = sorted(case.values)[len(case.values) // 2]
    return (
        f"`{case.case}`",
        f"{figure * 1e3:.3g} ms",
        str(case.samples),
        f"{case.noise:.2%}",
        f"{case.worst:.2%}",
        "above 100%" if case.detectable is None else f"{case.detectable:.1%}",
    )


def _turns(case: RepeatedComparison) -> tuple[str, ...]:
    return (
        f"`{case.case}`",
        str(case.rounds),
        f"{case.noise:.2%}",
        f"{case.worst:.2%}",
        f"{case.detectable:.1%}",
    )
