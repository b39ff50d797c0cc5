"""The heat maps of the first screen: cases by releases, with the measured change in each cell.

A project without releases has its versions as columns, or else its commits with measured changes.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log
from urllib.parse import urlencode

from asv_watch.comparison import Ratio
from asv_watch.judge.release_history import ReleaseHistory, ReleaseStep
from asv_watch.site.cases import CaseTable
from asv_watch.site.causes import ReleaseCauses
from asv_watch.site.change_data import size
from asv_watch.site.contents import Contents, Shown
from asv_watch.text import quantities
from asv_watch.versions.version import release_order

_MOST_COLUMNS = 14
"""Most commits of a heat map."""
_STRENGTHS = (0.03, 0.06, 0.12, 0.2)
"""Changes (logarithm of the ratio) up to which a cell has the first shade, the second, ..."""


def compare_address(history: ReleaseHistory, before: str, after: str, words: str = "") -> str:
    """Return the address of *Compare* for two releases and the cases with some words."""
    sides = {"by": "release", "a": before, "b": after, "m": history.machine, "group": "*"}
    return f"#/compare?{urlencode(sides | ({'q': words} if words else {}), safe='*')}"


def timed_cases(history: ReleaseHistory, contents: Contents) -> list[str]:
    """Return the cases that releases were timed with, in order, without those of no subject."""
    subject, table = contents.layout.rows, contents.cases
    timed = {case for step in history.steps for case in step.times if case in table.index_of}
    return [
        case.key
        for case in table.cases
        if case.key in timed and (not subject or subject in table.summaries[case.key].labels)
    ]


def releases_map(
    histories: Sequence[ReleaseHistory], certainty: Mapping[int, float], contents: Contents
) -> Shown | None:
    """Return a heat map for each group; a row is of the machine that compared it most.

    ``certainty`` maps a row to how certainly a difference lasts in it; the largest comes first.
    """
    table = contents.cases
    columns = sorted({step.after for h in histories for step in h.steps}, key=release_order)
    by_row: dict[int, dict[int, list[Shown]]] = defaultdict(lambda: defaultdict(list))
    for number, history in enumerate(histories):
        operators = ReleaseCauses(history, contents)
        for case in timed_cases(history, contents):
            cells = {
                step.after: _release_cell(history, step, ratio, operators, table)
                for step in history.steps
                if (ratio := step.times.get(case))
            }
            line = {"case": case, "machine": history.machine, "cells": cells}
            total = {"total": _total(history, case)}
            by_row[table.entry(case).row][number].append(line | total)
    groups: dict[str, list[Shown]] = defaultdict(list)
    for row in sorted(by_row, key=lambda row: (-certainty.get(row, 0.0), row)):
        by_number = by_row[row].values()
        for line in max(by_number, key=lambda lines: sum(len(line["cells"]) for line in lines)):
            if len(columns) < 3 or len(line["cells"]) > 1:
                groups[table.rows[row].group].append(line)
    if not groups:
        return None
    kind = f"{histories[0].requirement} release" if histories[0].requirement else "version"

    def first(entry: tuple[str, list[Shown]]) -> int:
        return min(table.index_of[row["case"]] for row in entry[1])

    return {
        "title": f"What each {kind} changed",
        "groups": [
            _rows(
                group,
                [
                    {"name": name, "href": "#/releases", "tip": f"{kind} {name}"}
                    | {"cause": _cause([row["cells"].get(name) for row in rows])}
                    for name in columns
                    if any(name in row["cells"] for row in rows)
                ],
                rows,
                table,
            )
            for group, rows in sorted(groups.items(), key=first)
        ],
        "note": "Per cent of time against the one before, on the machine that compared the row "
        "most. Blank: no change that could be seen. Pale: below 5 %, and one day alone shows it.",
        "total": "since",
        "more": "#/releases",
    }


def _cause(cells: Iterable[Shown | None]) -> str:
    """Return the operator behind the largest change of a column."""
    named = [(cell["size"], cell["operator"]) for cell in cells if cell and cell["operator"]]
    return max(named, default=(0.0, ""))[1]


def _release_cell(
    history: ReleaseHistory,
    step: ReleaseStep,
    ratio: Ratio,
    operators: ReleaseCauses,
    table: CaseTable,
) -> Shown:
    if not ratio.differs:
        return {"text": "", "verdict": "same", "operator": ""}
    title = table.title(ratio.case)
    operator = operators.operator(step, ratio)
    name = f"{history.requirement} {step.after}".strip()
    tip = f"{title}, {name} against {step.before} on {history.machine}: {ratio}, "
    tip += ratio.days_in_words
    href = compare_address(history, step.before, step.after, title.replace(" · ", " "))
    return _cell(ratio, f"{tip}, {operator}" if operator else tip, href, operator)


def _cell(ratio: Ratio, tip: str, href: str, operator: str = "") -> Shown:
    size = abs(log(ratio.ratio))
    shade = 1 + sum(size > limit for limit in _STRENGTHS)
    return {
        "text": quantities.cell(ratio.ratio),
        "verdict": ratio.verdict.value,
        "strength": 0 if ratio.needs_second_day else shade,
        "tip": tip,
        "href": href,
        "size": size,
        "operator": operator,
    }


def _total(history: ReleaseHistory, case: str) -> Shown | None:
    oldest = next(iter(history.relative.get(case, ())), "")
    whole = history.ratio(case, oldest, history.releases[-1]) if oldest else None
    if whole is None:
        return None
    return {
        "text": quantities.change(whole.ratio),
        "since": oldest,
        "verdict": whole.verdict.value,
        "tip": str(whole),
        "href": compare_address(history, oldest, history.releases[-1]),
    }


def commits_map(contents: Contents) -> Shown | None:
    """Return a heat map of the newest commits with measured changes; none without any."""
    table, history = contents.cases, contents.history
    changes = [
        change
        for change in contents.findings.changes
        if change.is_measured and change.kind == "time"
    ]
    newest = sorted({change.commit for change in changes})[-_MOST_COLUMNS:]
    if not newest:
        return None
    cells: dict[tuple[str, str], dict[str, Shown]] = defaultdict(dict)
    for change in changes:
        if change.commit in newest and change.compared:
            series, commit = contents.series[change.series], history.commits[change.commit]
            name = f"{table.title(series.case)}, {commit.hash[:8]} {commit.subject}"
            cells[series.case, series.machine][commit.hash[:7]] = _cell(
                change.compared,
                f"{name}: {size(change)}, {change.compared.days_in_words}",
                f"#/changes?rev={commit.hash[:12]}",
            )
    columns = [
        {"name": commit.hash[:7], "href": f"#/changes?rev={commit.hash[:12]}"}
        | {"tip": commit.subject, "cause": ""}
        for commit in map(history.commits.__getitem__, newest)
    ]
    lines = [
        {"case": case, "machine": machine, "cells": of_line, "total": None}
        for (case, machine), of_line in sorted(
            cells.items(), key=lambda entry: table.index_of[entry[0][0]]
        )
    ]
    return {
        "title": "What commits changed",
        "groups": [_rows("", columns, lines, table)],
        "note": f"Per cent of time. The newest {quantities.counted(len(newest), 'commit')} with a "
        "measured change. Pale: below 5 %, and one day alone shows it.",
        "total": "",
        "more": "#/changes",
    }


def _rows(group: str, columns: Sequence[Shown], rows: Sequence[Shown], table: CaseTable) -> Shown:
    """Return a heat map; neighbours of one subject name it once."""
    words = [table.columns[table.entry(row["case"]).column].values for row in rows]
    differ = [len(set(values)) > 1 for values in zip(*words, strict=True)]
    lines = [table.rows[table.entry(row["case"]).row] for row in rows]
    has_details = len({line.details for line in lines}) > 1
    drawn = []
    before: tuple[object, str] = None, ""
    for row, line, values in zip(rows, lines, words, strict=True):
        is_new = (line, row["machine"]) != before
        before = line, row["machine"]
        drawn.append(
            {
                "subject": line.name if is_new else "",
                "details": line.details if has_details and is_new else "",
                "name": " · ".join(v for v, shown in zip(values, differ, strict=True) if shown),
                "machine": row["machine"],
                "title": table.title(row["case"]),
                "href": f"#/case?{urlencode({'s': row['case'], 'm': row['machine']})}",
                "cells": [row["cells"].get(column["name"]) for column in columns],
                "total": row["total"],
            }
        )
    return {"name": group, "columns": columns, "rows": drawn}
