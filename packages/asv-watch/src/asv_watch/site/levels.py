"""How fast each subject is at each level of effort, such as plain, tuned and compiled.

A project declares its levels in ``"layout"`` of asv.conf.json: names, slowest first, each with a
pattern of the cases that belong to it; the fastest of them counts. A line joins the levels of one
subject in one column, as the machine with the longest history of that column measured them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from urllib.parse import urlencode

import msgspec

from asv_watch.asv.patterns import case_pattern
from asv_watch.site.case_table import FIRST_HUE, HUES, CaseTable
from asv_watch.site.contents import Contents, SeriesSummary, setup_key
from asv_watch.site.scripts import Json
from asv_watch.text import quantities

_MOST_TICKS = 4
"""Largest number of grid lines: a phone has no room for more."""
_LEFT, _RIGHT = 17.0, 82.0
"""Ends of the axis in per cent of the width: values stand beside the outer dots."""


class Level(msgspec.Struct, frozen=True):
    """A value of one level."""

    number: int
    """Index of its level: 0 is the first that is declared."""
    summary: SeriesSummary
    value: float
    """Newest value of its series, in the unit of the metric."""

    @property
    def machine(self) -> str:
        """The machine that measured it."""
        return self.summary.series.machine


Lines = dict[str, list[Level]]
"""Maps values of the columns' first label, such as the device, to their levels."""


def level_charts(
    contents: Contents, table: CaseTable, published: Sequence[Json] = ()
) -> Json | None:
    """Return a chart for each value of the second label; none if no levels are declared."""
    patterns = {
        name: case_pattern(text, f'"{name}" of "levels" in "layout" of asv.conf.json')
        for name, text in contents.layout.levels.items()
    }
    levels_by_row, machines = _collect(contents, table, list(patterns.values()))
    by_others: dict[tuple[str, tuple[str, ...]], list[Json]] = defaultdict(list)
    for entry in published:
        case = table.find(entry["case"])
        if case is not None and entry["unit"] == "seconds" and entry["value"] > 0:
            by_others[case.summary.row, contents.layout.column(case.summary.labels)].append(entry)
    charts: dict[str, dict[str, Lines]] = defaultdict(lambda: defaultdict(dict))
    measured_anywhere: dict[str, dict[str, Lines]] = defaultdict(lambda: defaultdict(dict))
    published_marks: dict[tuple[str, str, str], list[Json]] = {}
    for (subject, column), measured in levels_by_row.items():
        line, chart = (column[:1], column[1:]) if len(column) > 1 else (column, ())
        key = " · ".join(chart), subject, "".join(line)
        measured_anywhere[key[0]][subject][key[2]] = measured
        levels = [level for level in measured if level.machine == machines[key[2]]]
        if len(levels) > 1:
            charts[key[0]][subject][key[2]] = levels
            published_marks[key] = by_others.get((subject, column), [])
    if not charts:
        return None
    drawn = [
        level
        for rows in charts.values()
        for lines in rows.values()
        for levels in lines.values()
        for level in levels
    ]
    values = [level.value for level in drawn]
    values += [mark["value"] for marks in published_marks.values() for mark in marks]
    axis = _Axis(min(values), max(values))
    names = dict.fromkeys(key for rows in charts.values() for row in rows.values() for key in row)
    looks = {name: f"hue-{(FIRST_HUE + index) % HUES}" for index, name in enumerate(names)}
    numbers = {level.number for level in drawn}
    shown = {number: name for number, name in enumerate(patterns) if number in numbers}
    return {
        "title": f"How fast each {contents.layout.rows or 'benchmark'} is: "
        + " → ".join(shown.values()),
        "levels": [{"number": number, "name": name} for number, name in shown.items()],
        "published": any(published_marks.values()),
        "lines": [
            {"name": line, "machine": machines[line], "look": look} for line, look in looks.items()
        ],
        "ticks": axis.ticks(),
        "charts": [
            {
                "name": name,
                "rows": [
                    _row(
                        subject,
                        lines,
                        axis,
                        looks,
                        list(patterns),
                        _versus(lines, measured_anywhere[name][subject], list(patterns)),
                        {line: published_marks[name, subject, line] for line in lines},
                    )
                    for subject, lines in rows.items()
                ],
            }
            for name, rows in charts.items()
        ],
    }


def _collect(
    contents: Contents, table: CaseTable, patterns: Sequence[re.Pattern[str]]
) -> tuple[dict[tuple[str, tuple[str, ...]], list[Level]], dict[str, str]]:
    """Return the levels of each subject and column, and by line the machine that is drawn.

    A machine's level is the fastest case in its longest history that has one.
    """
    commits = {setup.key: len(setup.commits) for setup in contents.setups}
    longest_first = sorted(
        (row for row in contents.series if row.last and row.metric.unit == "seconds"),
        key=lambda row: -commits.get(setup_key(row.series), 0),
    )
    levels_by_row: dict[tuple[str, tuple[str, ...]], dict[tuple[str, int], Level]] = defaultdict(
        dict
    )
    machines: dict[str, str] = {}
    for row in longest_first:
        number = next(
            (n for n, pattern in enumerate(patterns) if pattern.search(row.series.case.name)),
            None,
        )
        column = contents.layout.column(row.labels)
        if number is None or row.last is None:
            continue
        level = Level(number, row, row.last[1].value)
        machines.setdefault("".join(column[:1]), level.machine)
        key = level.machine, number
        other = levels_by_row[row.row, column].setdefault(key, level)
        if setup_key(row.series) == setup_key(other.summary.series) and level.value < other.value:
            levels_by_row[row.row, column][key] = level
    order = {column: index for index, column in enumerate(table.columns)}
    ordered = sorted(
        levels_by_row.items(),
        key=lambda entry: (
            order[entry[0][1]],
            min(table.index_of[level.summary.series.case.name] for level in entry[1].values()),
        ),
    )
    levels = {key: [level for _, level in sorted(found.items())] for key, found in ordered}
    return levels, machines


class _Axis:
    """A logarithmic axis over whole powers of ten, in per cent of the width."""

    def __init__(self, low: float, high: float) -> None:
        self._low, self._high = log10(low), log10(high)
        if self._high - self._low < 1e-9:
            self._high += 1

    def position(self, value: float) -> float:
        share = (log10(value) - self._low) / (self._high - self._low)
        return round(_LEFT + share * (_RIGHT - _LEFT), 2)

    def ticks(self) -> list[Json]:
        powers = range(ceil(self._low), floor(self._high) + 1)
        return [
            {"x": self.position(10.0**power), "text": quantities.tick(10.0**power, "seconds")}
            for power in powers[:: ceil(len(powers) / _MOST_TICKS) or 1]
        ]


def _row(
    subject: str,
    lines: Lines,
    axis: _Axis,
    looks: Mapping[str, str],
    levels: Sequence[str],
    versus: str,
    published: Mapping[str, Sequence[Json]],
) -> Json:
    drawn = []
    for name, points in lines.items():
        least = min(points, key=lambda level: level.value)
        most = max(points, key=lambda level: level.value)
        drawn.append(
            {
                "look": looks.get(name, ""),
                "from": axis.position(least.value),
                "to": axis.position(most.value),
                "published": [
                    {
                        "x": axis.position(mark["value"]),
                        "tip": f"{subject}, {name}: "
                        f"{quantities.quantity(mark['value'], 'seconds')}, {mark['source']}",
                    }
                    for mark in published.get(name, ())
                ],
                "dots": [
                    {
                        "x": axis.position(level.value),
                        "level": level.number,
                        "tip": ", ".join(filter(None, (subject, name, levels[level.number])))
                        + f": {quantities.quantity(level.value, 'seconds')} on {level.machine}",
                        "href": f"#/case?{urlencode({'s': level.summary.series.case.name})}",
                    }
                    for level in points
                ],
                "ends": [
                    {
                        "x": axis.position(level.value),
                        "dx": dx,
                        "anchor": anchor,
                        "text": quantities.quantity(level.value, "seconds"),
                    }
                    for level, dx, anchor in ((least, -9, "end"), (most, 9, "start"))
                ],
            }
        )
    return {"subject": subject, "lines": drawn, "versus": versus}


def _versus(lines: Lines, measured_anywhere: Lines, levels: Sequence[str]) -> str:
    """Say how the fastest levels of two lines compare, from values of separate runs.

    If the lines are of two machines and one of these measured both columns, it says so too.
    """
    drawn = _fastest(lines)
    if len(drawn) != 2:
        return ""
    texts = [_ratio(drawn, levels)]
    machines = list(dict.fromkeys(level.machine for level in drawn.values()))
    for machine in machines if len(machines) > 1 else ():
        there = _fastest(
            {
                name: [level for level in measured_anywhere[name] if level.machine == machine]
                for name in drawn
            }
        )
        if len(there) == 2:
            texts.append(f"on {machine} alone, {_ratio(there, levels)}")
    return "; ".join(texts)


def _fastest(lines: Lines) -> dict[str, Level]:
    """Return the fastest level of each line, without lower bounds and the like."""
    return {
        name: min(timed, key=lambda level: level.value)
        for name, points in lines.items()
        if (timed := [level for level in points if level.summary.metric.label == "time"])
    }


def _ratio(fastest: Mapping[str, Level], levels: Sequence[str]) -> str:
    slow, fast = sorted(fastest, key=lambda name: -fastest[name].value)
    ratio = fastest[slow].value / fastest[fast].value
    level, other = (levels[fastest[name].number] for name in (fast, slow))
    return f"{fast} ({level}) {quantities.digits(ratio, 2)}× as fast as {slow} ({other})"
