"""``regressions.json``: asv's shape, from the measured changes that still stand."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from asv_watch.judge.changes import Change, State
from asv_watch.judge.findings import Findings
from asv_watch.site.contents import Contents, contents_of
from asv_watch.site.regressions import lasting_regressions, regressions_data
from tests.asv_watch.site.conftest import Project
from tests.asv_watch.site.handmade import handmade


def rows(project: Project) -> list[list[Any]]:
    content: dict[str, list[list[Any]]] = json.loads(
        (project.html / "regressions.json").read_text()
    )
    assert set(content) == {"regressions"}
    return content["regressions"]


def test_every_row_has_the_seven_cells_of_asvs_file(published: Project) -> None:
    index = json.loads((published.html / "index.json").read_text())
    params = json.loads((published.results / "benchmarks.json").read_text())
    positions = {commit[4] for commit in index["commits"]}
    assert rows(published)
    for case, path, place, position, latest, best, jumps in rows(published):
        number = position
        assert (published.html / path).is_file()
        assert set(place) == {"machine", "environment"}
        benchmark = case.partition("(")[0]
        values: list[str] = []
        for choices in reversed(params[benchmark]["params"]):
            values.insert(0, choices[number % len(choices)])
            number //= len(choices)
        assert case == f"{benchmark}({', '.join(values)})"
        assert latest != best
        for before, after, old, new in jumps:
            assert after in positions
            assert before is None or before in positions
            assert (new > old) == (latest > best)


def of_values(*values: float, at: int = 10) -> tuple[Contents, int]:
    """A series of times that was measured to change at every tenth commit."""
    history, _ = handmade()
    index = next(n for n, entry in enumerate(history.series) if entry.unit == "seconds")
    changes = [
        Change(
            series=index,
            previous=number * at - 1,
            commit=number * at,
            state=State.MEASURED,
            kind="time",
            verdict="worse" if new > old else "better",
            ratio=new / old,
            values=(old, new),
        )
        for number, (old, new) in enumerate(pairwise(values), start=1)
    ]
    findings = Findings(
        segments=tuple(() for _ in history.series),
        noise=(None,) * len(history.series),
        changes=tuple(reversed(changes)),
    )
    return contents_of(history, findings), index


@pytest.mark.parametrize(
    ("values", "jumps"),
    [
        ((1.0, 1.2), [(1.0, 1.2)]),
        ((1.0, 1.2, 1.0), []),
        ((1.0, 1.2, 1.1), [(1.0, 1.2)]),
        ((1.0, 1.2, 1.5), [(1.0, 1.2), (1.2, 1.5)]),
        ((1.0, 0.5, 0.8), [(0.5, 0.8)]),
        ((1.0, 0.5), []),
    ],
)
def test_a_regression_lasts_until_it_is_undone(
    values: tuple[float, ...], jumps: list[tuple[float, float]]
) -> None:
    shown, index = of_values(*values)
    result = lasting_regressions(shown)
    assert [change.values for each in result for change in each.changes] == jumps
    if jumps:
        assert result[0].series.index == index
        (row,) = regressions_data(shown, result)["regressions"]
        assert row[4:6] == [jumps[-1][1], jumps[0][0]]
        assert [tuple(jump[2:]) for jump in row[6]] == jumps
