"""The table of the first screen: cases by releases, with the measured change in each cell.

A project without releases has its versions as columns, or else its commits with measured changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log
from urllib.parse import urlencode

import msgspec

from asv_watch.judge.changes import Change
from asv_watch.judge.release_history import ReleaseHistory, ReleaseStep
from asv_watch.site.case_table import CaseTable
from asv_watch.site.change_data import made_between, size
from asv_watch.site.contents import Contents
from asv_watch.site.operators import ReleaseCauses
from asv_watch.site.scripts import Json
from asv_watch.statistics.rule import Verdict
from asv_watch.text import quantities
from asv_watch.text.quantities import counted

MOST_COMMITS = 14
"""Most columns of a table of commits."""
MOST_ROWS = 24
_STRENGTHS = (0.03, 0.06, 0.12, 0.2)
"""Changes (logarithm of the ratio) up to which a cell has the first shade, the second, ..."""


class Column(msgspec.Struct):
    """A release, a version or a commit."""

    name: str
    href: str
    tip: str
    cells: dict[str, Json] = msgspec.field(default_factory=dict)
    """Maps each compared case to its cell, with the ratio as text."""
    cause: str = ""
    """The operator behind its largest change."""


def release_grid(contents: Contents, table: CaseTable, main: set[str]) -> Json | None:
    """Return the table; none if no change was measured between any two versions."""
    histories = contents.findings.release_histories
    for history in sorted(histories, key=lambda history: not history.requirement):
        cases = timed_cases(history, table, main)
        if any(step.times.get(case) for step in history.steps for case in cases):
            return _table_of_releases(history, cases, contents, table)
    return _table_of_commits(contents, table)


def timed_cases(history: ReleaseHistory, table: CaseTable, main: set[str]) -> list[str]:
    """Return the cases of the first screen that releases were timed with, in order."""
    timed = {case for step in history.steps for case in step.times}
    shown = [case for case in timed if (row := table.find(case)) and row.summary.group in main]
    return sorted(shown, key=table.index_of.__getitem__)


def _table_of_releases(
    history: ReleaseHistory, cases: Sequence[str], contents: Contents, table: CaseTable
) -> Json:
    explanations = contents.history.explanations.get(history.machine, ())
    causes = ReleaseCauses(history, explanations, contents.layout)
    columns = [_column(step, cases, causes, table, history) for step in reversed(history.steps)]
    kind = f"{history.requirement} release" if history.requirement else "version"
    cases = [
        case
        for case in cases
        if len(columns) < 3 or sum(case in column.cells for column in columns) > 1
    ]
    totals = {case: _total(history, case) for case in cases}
    common = brief_titles(cases, table)[1]
    return {
        "title": f"What each {kind} changed",
        "note": [
            f"Time{f' of {common}' if common else ''} on "
            f"{machine_with_processor(history, contents)}, per cent "
            f"against the {'release' if history.requirement else 'version'} before.",
            "Blank: no change that the comparison could show.",
            *(
                ["Above a column: the operator behind its largest change."]
                if any(c.cause for c in columns)
                else []
            ),
            "Grey total: too small, or too uncertain, to call a difference.",
        ],
        "total": f"{history.releases[0]} → {history.releases[-1]}",
        "more": "#/releases",
        **_rows(cases, columns, totals, table),
    }


def machine_with_processor(history: ReleaseHistory, contents: Contents) -> str:
    """Return the machine that compared releases, with its processor."""
    cpu = contents.history.machines[history.machine].facts.get("cpu", "")
    return f"{history.machine} ({cpu})" if cpu else history.machine


def compare_address(history: ReleaseHistory, before: str, after: str, words: str = "") -> str:
    """Return the address of *Compare* for two releases and the cases with some words."""
    sides = {"by": "release", "a": before, "b": after, "m": history.machine}
    return f"#/compare?{urlencode(sides | ({'q': words} if words else {}))}"


def _column(
    step: ReleaseStep,
    cases: Sequence[str],
    causes: ReleaseCauses,
    table: CaseTable,
    history: ReleaseHistory,
) -> Column:
    name = f"{history.requirement} {step.after}".strip()
    column = Column(
        step.after,
        compare_address(history, step.before, step.after),
        f"{name} against {step.before}: all its comparisons",
        {
            case: {"text": "", "verdict": "same", "strength": 0, "tip": "", "href": ""}
            for case in cases
            if case in step.times
        },
    )
    named: list[tuple[float, str]] = []
    for shown in step.findings:
        if shown.case not in column.cells:
            continue
        size = quantities.measured(shown.ratio, shown.interval, clock=shown.clock)
        operator = causes.operator(step, shown.case, shown)
        title = table.title(shown.case)
        days = quantities.days(shown.days_showing, shown.days)
        column.cells[shown.case] = _cell(
            shown.ratio,
            shown.verdict,
            f"{title}, {name}: {size}, {days}" + (f", {operator}" if operator else ""),
            compare_address(history, step.before, step.after, title.replace(" · ", " ")),
            is_pale=shown.needs_second_day,
        )
        if operator:
            named.append((abs(log(shown.ratio)), operator))
    column.cause = max(named, default=(0.0, ""))[1]
    return column


def _cell(ratio: float, direction: Verdict, tip: str, href: str, *, is_pale: bool) -> Json:
    size = abs(log(ratio))
    strength = 0 if is_pale else 1 + sum(size > limit for limit in _STRENGTHS)
    return {
        "text": quantities.cell(ratio),
        "verdict": direction.value,
        "strength": strength,
        "tip": tip,
        "href": href,
    }


def _total(history: ReleaseHistory, case: str) -> Json | None:
    whole = history.ratio(case, history.releases[0], history.releases[-1])
    if whole is None:
        return None
    return {
        "text": quantities.change(whole.ratio),
        "verdict": whole.verdict.value,
        "tip": quantities.measured(whole.ratio, whole.interval, clock=whole.clock),
        "href": compare_address(history, history.releases[0], history.releases[-1]),
    }


def _table_of_commits(contents: Contents, table: CaseTable) -> Json | None:
    changes = [
        change
        for change in contents.findings.changes
        if change.is_measured and change.kind == "time" and change.ratio
    ]
    commits = sorted({change.commit for change in changes})[-MOST_COMMITS:]
    shown = [change for change in changes if change.commit in commits]
    if not shown:
        return None
    changed = {contents.series[change.series].series.case.name for change in shown}
    cases = sorted(changed, key=table.index_of.__getitem__)[:MOST_ROWS]
    columns = [_commit_column(contents, table, commit, shown) for commit in commits]
    machines = sorted({contents.history.series[change.series].machine for change in shown})
    return {
        "title": "What commits changed",
        "note": [
            f"Time on {', '.join(machines)}, per cent.",
            f"The newest {counted(len(commits), 'commit')} with a measured change.",
        ],
        "total": "",
        "more": "#/changes",
        **_rows(cases, columns, {}, table),
    }


def _commit_column(
    contents: Contents, table: CaseTable, commit: int, changes: Iterable[Change]
) -> Column:
    made_by = contents.history.commits[commit]
    column = Column(made_by.hash[:7], f"#/changes?rev={made_by.hash[:12]}", made_by.subject)
    for change in changes:
        case = contents.series[change.series].series.case.name
        if change.commit == commit and change.ratio:
            after = made_between(change, contents)[1]
            direction = Verdict.WORSE if change.verdict == "worse" else Verdict.BETTER
            tip = f"{table.title(case)}, {after[:8]} {made_by.subject}: {size(change)}"
            tip += f", {change.days}"
            is_pale = change.needs_second_day
            column.cells[case] = _cell(change.ratio, direction, tip, column.href, is_pale=is_pale)
    return column


def _rows(
    cases: Sequence[str],
    columns: Sequence[Column],
    totals: Mapping[str, Json | None],
    table: CaseTable,
) -> Json:
    """Return columns and rows; neighbours of one subject name it once."""
    listed = [(case, shown) for case in cases if (shown := table.find(case))]
    shared = _shared(table.columns[shown.column] for _, shown in listed)
    details = len({table.rows[shown.row].details for _, shown in listed}) > 1
    rows = []
    row_before = -1
    for case, shown in listed:
        line = table.rows[shown.row]
        words = zip(table.columns[shown.column], shared, strict=True)
        rows.append(
            {
                "subject": line.name if shown.row != row_before else "",
                "details": line.details if details and shown.row != row_before else "",
                "name": " · ".join(word for word, same in words if word and not same),
                "title": shown.title,
                "href": f"#/case?{urlencode({'s': case})}",
                "cells": [column.cells.get(case) for column in columns],
                "total": totals.get(case),
            }
        )
        row_before = shown.row
    return {
        "columns": [
            {"name": c.name, "href": c.href, "tip": c.tip, "cause": c.cause} for c in columns
        ],
        "rows": rows,
    }


def brief_titles(cases: Sequence[str], table: CaseTable) -> tuple[dict[str, str], str]:
    """Return titles with only what differs between some cases, and the text that all share."""
    parts = {
        case: (
            table.rows[shown.row].name,
            table.rows[shown.row].details,
            *table.columns[shown.column],
        )
        for case in cases
        if (shown := table.find(case))
    }
    alike = [False, *_shared(parts.values())[1:]]
    brief = {
        case: " · ".join(
            word for word, same in zip(words, alike, strict=True) if word and not same
        )
        for case, words in parts.items()
    }
    common = [
        word
        for words in list(parts.values())[:1]
        for word, same in zip(words, alike, strict=True)
        if same and word
    ]
    return brief, " · ".join(common)


def _shared(columns: Iterable[tuple[str, ...]]) -> list[bool]:
    return [len(set(values)) == 1 for values in zip(*columns, strict=True)]
