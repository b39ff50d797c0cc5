"""What the first screen says: one headline, and the two lists behind its two pictures."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from asv_watch import quantities
from asv_watch.judge.suspicions import smallest_jump
from asv_watch.quantities import counted
from asv_watch.site import names
from asv_watch.site.case_table import CaseTable
from asv_watch.site.change_data import recent_changes
from asv_watch.site.contents import Contents
from asv_watch.site.levels import level_charts
from asv_watch.site.news import news
from asv_watch.site.release_data import compared
from asv_watch.site.release_grid import release_grid
from asv_watch.site.scripts import Json
from asv_watch.statistics.rule import TOO_NOISY, Verdict, verdict

_BARS = 8
"""Bars of a picture at most."""


def overview_data(contents: Contents, table: CaseTable, main: set[str]) -> Json:
    """Return the headline and the two lists of the first screen.

    Args:
        contents: What the site shows.
        table: Names of its cases.
        main: Groups of which the releases are summed up.
    """
    commits = _newest_commits(contents)
    release = _newest_release(contents, table, main)
    sentences = [
        release["sentence"] if release else "",
        commits["sentence"],
        _moved_together(contents),
    ]
    return {
        "headline": " ".join(filter(None, sentences)),
        "news": news(contents, table, main),
        "grid": release_grid(contents, table, main),
        "levels": level_charts(contents, table),
        "commits": commits,
        "release": release,
        "failed": _failed(contents),
    }


def _newest_commits(contents: Contents) -> Json:
    """Find the measured changes of the newest commits, and count the suspected ones."""
    count, recent = recent_changes(contents)
    index_of = {id(change): index for index, change in enumerate(contents.findings.changes)}
    lately = [(index_of[id(change)], change) for change in recent]
    measured = [(index, change) for index, change in lately if change.is_measured]
    measured.sort(key=lambda entry: -_size(entry[1].ratio))
    slower = sum(change.verdict == "worse" for _, change in measured)
    faster = len(measured) - slower
    are_times = all(change.kind == "time" for _, change in measured)
    words = ("slower", "faster") if are_times else ("worse", "better")
    newest = f"the newest {counted(count, 'measured commit')}"
    if count < 2:
        sentence = "One commit is measured so far." if count else "Nothing is measured yet."
    elif measured:
        parts = [
            f"{counted(cases, 'case')} {word}"
            for cases, word in ((slower, words[0]), (faster, words[1]))
            if cases
        ]
        sentence = f"{newest[0].upper()}{newest[1:]} made {' and '.join(parts)}."
    else:
        sentence = f"No measured change in {newest}."
        smallest = _smallest_change(contents)
        if smallest >= TOO_NOISY:
            sentence = (
                f"Too noisy to tell what {newest} changed: nothing below "
                f"{quantities.share(smallest)} would show."
            )
    return {
        "sentence": sentence,
        "changes": [index for index, _ in measured[:_BARS]],
        "more": max(0, len(measured) - _BARS),
        "suspected": sum(not change.is_measured and change.may_be_code for _, change in lately),
        "since": min((change.commit for change in recent), default=None),
    }


def _smallest_change(contents: Contents) -> float:
    """Return the smallest change that a middle case can show: in comparisons, else in runs."""
    findings = contents.findings
    if findings.detectable:
        return min(detectable.middle for detectable in findings.detectable.values())
    noises = [
        noise
        for series, noise in zip(contents.history.series, findings.noise, strict=True)
        if noise is not None and series.unit == "seconds"
    ]
    return smallest_jump(median(noises)) if noises else 0.0


def _moved_together(contents: Contents) -> str:
    """Say where most benchmarks of a machine moved together at one of the newest commits."""
    _, recent = recent_changes(contents)
    machines = {
        contents.history.series[change.series].machine
        for change in recent
        if change.cause == "machine"
    }
    if not machines:
        return ""
    return (
        f"Most benchmarks moved together on {', '.join(sorted(machines))}, which points to the "
        "machine."
    )


def _size(ratio: float | None) -> float:
    return float("inf") if ratio is None else max(ratio, 1 / ratio)


def _newest_release(contents: Contents, table: CaseTable, main: set[str]) -> Json | None:
    """Compare the newest release with the one before it, if that was measured anywhere."""
    for history in contents.findings.release_histories:
        step = history.steps[0]
        if step.after != history.releases[-1]:
            continue
        ratios = {
            case: ratio
            for case, ratio in step.times.items()
            if (shown := table.find(case)) and shown.summary.group in main
        }
        differing = [
            (case, ratio) for case, ratio in ratios.items() if verdict(ratio) is not Verdict.SAME
        ]
        differing.sort(key=lambda entry: -_size(entry[1].ratio))
        name = f"{history.requirement} {step.after}".strip()
        return {
            "name": name,
            "before": step.before,
            "machine": history.machine,
            "count": len(ratios),
            "sentence": _release_sentence(name, len(ratios), [verdict(r) for _, r in differing]),
            "bars": [
                {"key": case, "title": table.title(case)} | compared(ratio)
                for case, ratio in differing[:_BARS]
            ],
            "more": max(0, len(differing) - _BARS),
        }
    return None


def _release_sentence(name: str, count: int, verdicts: Sequence[Verdict]) -> str:
    faster, slower = (verdicts.count(kind) for kind in (Verdict.BETTER, Verdict.WORSE))
    of = f"of {counted(count, 'case')}"
    if faster and slower:
        return f"{name} made {faster} {of} faster and {slower} slower."
    if faster or slower:
        return f"{name} made {faster or slower} {of} {'faster' if faster else 'slower'}."
    return f"{name} changed none {of}."


def _failed(contents: Contents) -> Json | None:
    """Count what failed where the newest commit was measured."""
    if not contents.setups:
        return None
    setup = max(contents.setups, key=lambda setup: setup.newest)
    failed = sum(setup.counts.get(outcome, 0) for outcome in ("failed", "timed out"))
    return {
        "machine": setup.machine.name,
        "environment": names.environment_id(setup.environment),
        "count": failed,
        "cases": sum(setup.counts.values()) - setup.counts.get("skipped", 0),
    }
