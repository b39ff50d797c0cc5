"""A night, a run or a comparison whose time is over in the middle of a case."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.errors import WatchError
from asv_watch.machine.budget import parse_duration_s
from asv_watch.records.store import read_record
from tests.conftest import commit
from tests.interruptible import run_driver
from tests.leftovers import measured_processes

SUITE = """
import time

def track_quick():
    return 1.5

def track_slow():
    time.sleep(300)

track_quick.exact = track_slow.exact = True  # so one round suffices
track_slow.timeout = 200
"""


@pytest.mark.parametrize("job", ["bench", "compare", "nightly"])
def test_a_case_is_stopped_when_the_time_is_over_and_what_was_finished_is_kept(
    make_project: Callable[..., Path], tmp_path: Path, job: str
) -> None:
    project = make_project(SUITE, {"src/package.py": ""})
    if job == "compare":
        commit(project, {"src/package.py": "# another"}, "Change the package")
    option = "--limit" if job == "compare" else "--budget"
    started = time.monotonic()
    output, _ = run_driver(job, project, tmp_path, option, "20s")
    assert time.monotonic() - started < 100, "it waited for the case"
    assert measured_processes(project) == []
    [case], _ = read_record(project / "results")
    assert case.case == "suite.track_quick"
    if job == "nightly":
        assert "the time budget is spent; the next night continues here" in output
        assert "1 commits and releases: 0 still to be measured, 1 that lack cases" in output
        assert (project / "html/index.html").is_file(), "it publishes"
    else:
        assert "the time is over; the same command continues here" in output


def test_too_short_a_budget_is_named(make_project: Callable[..., Path], tmp_path: Path) -> None:
    project = make_project(SUITE, {"src/package.py": ""})
    options = "--before", "HEAD", "--after", "HEAD", "--limit", "0.01"
    output, errors = run_driver("compare", project, tmp_path, *options, status=1)
    assert "both sides are the same commit" in output
    assert "no case has two rounds after 0.01; run the same" in errors


@pytest.mark.parametrize(
    ("text", "duration_s"), [("90min", 5400), ("1h 30m", 5400), ("0.5h", 1800)]
)
def test_durations(text: str, duration_s: float) -> None:
    assert parse_duration_s(text) == duration_s


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *(
            (text, "is not a duration")
            for text in ("", "four", "-1h", "１h", "4h\n", "1h" + " " * 50_000 + "x")
        ),
        ("0s", "leaves no time to measure"),
        ("9" * 400 + "h", "is longer than a year"),
    ],
)
def test_what_is_no_budget_is_refused(text: str, reason: str) -> None:
    with pytest.raises(WatchError, match=f"{reason}; give a duration such as 4h"):
        parse_duration_s(text)
