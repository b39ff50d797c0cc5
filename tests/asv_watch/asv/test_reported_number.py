"""All commands and files give the same number for a case: the reported value of its samples."""

from __future__ import annotations

import csv
import json
import re
import statistics
from collections.abc import Callable
from pathlib import Path

import asv.util

from asv_watch.exchange.table import write_table
from asv_watch.records.git import read_commits
from asv_watch.records.loading import load_history
from asv_watch.records.reported_value import report_value
from tests.asv_watch.asv.project import Project, suite_files
from tests.conftest import commit, git

SAMPLES = [7.0, 3.0, 9.0, 2.5, 8.0, 5.0, 6.0, 4.0, 9.5]
"""Seconds by the clock of the suite. Their minimum is far from their median."""

SUITE = f"""
import itertools

ticks = itertools.accumulate(tick for seconds in {SAMPLES} for tick in (0.0, seconds))

class Suite:
    params = ["darnn"]
    param_names = ["model"]
    number, repeat, warmup_time = 1, len({SAMPLES}), 0
    timer = staticmethod(lambda: next(ticks))

    def time_it(self, model):
        pass

    def track_it(self, model):
        return 12.5
"""


def store_medians(project: Project) -> None:
    """Leave the result file as asv alone would have written it."""
    path = project.result_file()
    stored = json.loads(path.read_text())
    row = stored["results"]["suite.Suite.time_it"]
    row[stored["result_columns"].index("result")] = [statistics.median(SAMPLES)]
    path.write_text(json.dumps(stored))


def published(path: Path) -> list[float]:
    """Return the values of the only series of a data file, as the page's script reads them."""
    [series] = json.loads(re.findall(r'"series":(\[.*\])', path.read_text())[0])
    values: list[float] = series["v"]
    return values


def test_all_of_them_print_the_same_number(
    make_repository: Callable[..., Path], tmp_path: Path
) -> None:
    project = Project(make_repository(suite_files(SUITE)), tmp_path)
    project.asv(*project.run_arguments())
    expected = report_value(SAMPLES)
    assert expected.value == 2.5
    low, high = expected.quartiles
    printed = asv.util.human_value(2.5, "seconds", err=(high - low) / 2)

    benchmark = "suite.Suite.time_it"
    assert project.stored("samples", benchmark) == [SAMPLES]
    assert project.stored("result", benchmark) == [2.5]
    assert project.stored("stats_ci_99_a", benchmark) == [2.5]
    assert project.stored("stats_ci_99_b", benchmark) == [low]
    assert project.stored("result", "suite.Suite.track_it") == [12.5]

    head = git(project.folder, "rev-parse", "HEAD")
    store_medians(project)
    shown = project.asv("show", "--machine", "m", "--details", head)
    assert printed in shown
    assert "ci_99: (2.50s, 4.00s)" in shown

    next_head = commit(project.folder, {"other": "1"}, "Two")
    project.asv(*project.run_arguments())
    compared = project.asv("compare", "--machine", "m", head, next_head)
    [row] = (line for line in compared.splitlines() if "time_it" in line)
    assert row.count(printed.partition("±")[0]) == 2

    history = load_history(project.results.parent, read_commits(project.folder))
    [series] = (entry for entry in history.series if entry.case.benchmark == benchmark)
    assert [run.point and run.point.value for run in series.runs.values()] == [2.5, 2.5]

    table = tmp_path / "table.csv"
    write_table(history, table)
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [float(row["value"]) for row in rows if row["benchmark"] == benchmark] == [2.5, 2.5]

    project.asv("publish", "--no-pull")
    [path] = (project.folder / "html" / "data" / "s").glob("*time*.js")
    assert published(path) == [2.5, 2.5]
