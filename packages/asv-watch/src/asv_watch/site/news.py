"""The first sentences of the page: the largest differences that last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log

import msgspec

from asv_watch.comparison import Ratio
from asv_watch.judge.changes import Change
from asv_watch.judge.release_history import ReleaseHistory
from asv_watch.site.case_table import CaseTable
from asv_watch.site.contents import Contents
from asv_watch.site.operators import ReleaseCauses
from asv_watch.site.release_grid import (
    brief_titles,
    compare_address,
    machine_with_processor,
    timed_cases,
)
from asv_watch.site.scripts import Json
from asv_watch.statistics.rule import Verdict
from asv_watch.text import quantities
from asv_watch.text.quantities import counted

_MOST_CAUSES = 3
"""Most releases that a sentence names."""


class Lasting(msgspec.Struct, frozen=True):
    """The ratio of a case between an older release and the newest one."""

    case: str
    before: str
    """The release before the first that changed it."""
    whole: Ratio
    steps: tuple[tuple[str, float, str], ...]
    """The releases since then that changed it in this direction: name, ratio, operator."""


def news(contents: Contents, table: CaseTable, main: set[str]) -> Json | None:
    """Return what takes longer, and what takes less, than with an older release or commit.

    Returns: Sentences with the case and the measured ratio; none if no difference lasts.
    """
    for history in contents.findings.release_histories:
        if history.requirement:
            explanations = contents.history.explanations.get(history.machine, ())
            causes = ReleaseCauses(history, explanations, contents.layout)
            lasting = [
                entry
                for case in timed_cases(history, table, main)
                for entry in _lasting(history, case, causes)
            ]
            largest = [
                max(entries, key=lambda entry: abs(log(entry.whole.ratio)))
                for direction in (Verdict.WORSE, Verdict.BETTER)
                if (entries := [entry for entry in lasting if entry.whole.verdict is direction])
            ]
            if largest:
                return _sentences(history, largest, table, main, contents)
    return _news_of_commits(contents, table, main)


def _lasting(history: ReleaseHistory, case: str, causes: ReleaseCauses) -> Iterator[Lasting]:
    changes = [
        (step, finding)
        for step in history.steps
        for finding in step.findings
        if finding.case == case
    ]
    for first, change in changes:
        whole = history.ratio(case, first.before, history.releases[-1])
        direction = change.verdict
        if whole is None or whole.verdict is not direction:
            continue
        since = history.releases.index(first.before)
        steps = sorted(
            (
                (step.after, shown.ratio, causes.operator(step, case, shown))
                for step, shown in changes
                if history.releases.index(step.before) >= since and shown.verdict is direction
            ),
            key=lambda entry: -abs(log(entry[1])),
        )
        yield Lasting(case, first.before, whole, tuple(steps))


def _sentences(
    history: ReleaseHistory,
    largest: list[Lasting],
    table: CaseTable,
    main: set[str],
    contents: Contents,
) -> Json:
    titles, common = brief_titles(timed_cases(history, table, main), table)
    name = history.requirement
    return {
        "headline": [
            {
                "before": f"{titles[entry.case]} takes ",
                "size": quantities.difference(entry.whole.ratio),
                "after": f" than with {name} {entry.before}.",
                "verdict": entry.whole.verdict.value,
                "href": compare_address(history, entry.before, history.releases[-1]),
            }
            for entry in largest
        ],
        "why": [_why(entry, titles[entry.case], name) for entry in largest],
        "where": f"All times{f' of {common}' if common else ''} are from "
        f"{machine_with_processor(history, contents)}: {counted(len(titles), 'case')} with {name} "
        f"{history.releases[0]} to {history.releases[-1]}.",
    }


def _why(entry: Lasting, title: str, name: str) -> str:
    parts = [
        f"{quantities.change(ratio)} by {name} {release}{f' ({operator})' if operator else ''}"
        for release, ratio, operator in entry.steps[:_MOST_CAUSES]
    ]
    interval = quantities.interval(entry.whole.interval, entry.whole.clock)
    all_releases = f"All releases since {entry.before} together: {interval}, with 99 % confidence."
    return f"{title}: {quantities.listed(parts)}. {all_releases}"


def _news_of_commits(contents: Contents, table: CaseTable, main: set[str]) -> Json | None:
    newest: dict[int, Change] = {}
    cases: set[str] = set()
    for row in contents.series:
        if row.group in main and row.metric.kind == "time":
            cases.add(row.series.case.name)
            if row.measured:
                newest[row.index] = max(row.measured, key=lambda change: change.commit)
    largest = [
        max(entries, key=lambda change: abs(log(change.ratio or 1)))
        for direction in ("worse", "better")
        if (entries := [change for change in newest.values() if change.verdict == direction])
    ]
    if not largest:
        return None
    titles, common = brief_titles(sorted(cases, key=table.index_of.__getitem__), table)
    machines = sorted({contents.series[change.series].series.machine for change in largest})
    return {
        "headline": [_headline_of_commit(change, contents, titles) for change in largest],
        "why": [_why_of_commit(change, contents, titles) for change in largest],
        "where": f"All times{f' of {common}' if common else ''} are from "
        f"{quantities.listed(machines)}: {counted(len(titles), 'case')}.",
    }


def _headline_of_commit(change: Change, contents: Contents, titles: Mapping[str, str]) -> Json:
    commit = contents.history.commits[change.commit].hash[:8]
    return {
        "before": f"{titles[contents.series[change.series].series.case.name]} takes ",
        "size": quantities.difference(change.ratio or 1),
        "after": f" since {commit}.",
        "verdict": change.verdict,
        "href": f"#/changes?rev={commit}",
    }


def _why_of_commit(change: Change, contents: Contents, titles: Mapping[str, str]) -> str:
    title = titles[contents.series[change.series].series.case.name]
    certainty = (
        f" {quantities.interval(change.interval, change.clock)}, with 99 % confidence."
        if change.interval
        else ""
    )
    return f"{title}: “{contents.history.commits[change.commit].subject}”.{certainty}"
