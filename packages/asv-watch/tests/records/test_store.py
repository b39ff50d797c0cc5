"""The record: what is written is read again, and damage is named and costs its own lines alone."""

import json
import shutil
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from asv_watch.comparison import Comparison, Sitting
from asv_watch.records.records import Problem
from asv_watch.records.store import SittingWriter, read_record
from asv_watch.versions.version import Version
from tests.making import commit_hash
from tests.planted_comparisons import store

AT = 1_760_000_000  # 2025-10-09
VERSIONS = tuple(Version(commit_hash(n), {"torch": "2.15.0"}, "3.11") for n in range(3))
RECIPE: dict[str, float | str] = {"rounds": 2}
SITTING = Sitting(kind="compare", at=AT, machine="desk", versions=VERSIONS, recipe=RECIPE)
TIME = Comparison(
    "a.A.time_x('m')",
    AT + 100,
    rounds=((1.0, 1.1, None), (2.0, 2.2, None)),
    wall=((1.5, 1.6, None), (2.5, 2.6, None)),
    cpu=((0.9, 1.0, None), (1.9, 2.0, None)),
    clock="process",
    least_spread=0.01,
    failed={2: "A: RuntimeError: broken"},
    late=(2,),
)
SKIPPED = Comparison("a.A.time_y", AT + 101, skipped={0: "no device"})
COUNT = Comparison("a.A.track_z", AT + 102, "calls", ((7.0, 7.0, 8.0),), exact=True)
CASES = [replace(case, sitting=SITTING) for case in (TIME, SKIPPED, COUNT)]


def write(results: Path, *sittings: list[Comparison]) -> Path:
    """Store sittings; return the file of the month."""
    for comparisons in sittings or [CASES]:
        store(results, comparisons)
    return results / "desk/2025-10.jsonl"


def test_a_sitting_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert read_record(tmp_path) == (CASES, [])
    first, *cases, last = map(json.loads, path.read_text().splitlines())
    assert first["sitting"]["machine"] == "desk"
    count = {"unit": "calls", "rounds": [[7.0, 7.0, 8.0]], "exact": True}
    assert cases[1:] == [
        {"case": "a.A.time_y", "at": AT + 101, "skipped": {"0": "no device"}},
        {"case": "a.A.track_z", "at": AT + 102} | count,
    ]
    assert last["end"]["cases"] == 3


def test_an_interrupted_sitting_keeps_its_cases_and_is_continued(tmp_path: Path) -> None:
    first = SittingWriter(tmp_path, SITTING)
    assert not first.path.exists(), "no file is empty"
    first.add(TIME)
    first.add(SKIPPED)
    assert read_record(tmp_path) == (CASES[:2], [])
    again = replace(CASES[1], at=AT + 200, skipped={1: "no GPU"})
    write(tmp_path, [again, CASES[2]])
    assert read_record(tmp_path) == ([CASES[0], CASES[2], again], []), "as they were finished"


def test_the_newest_line_of_a_case_counts(tmp_path: Path) -> None:
    writer = SittingWriter(tmp_path, SITTING)
    for at, value in ((5, 1.0), (7, 2.0), (7, 3.0), (6, 4.0)):
        writer.add(Comparison("a.A.time_x", at, rounds=((value,) * 3,)))
    [comparison], _ = read_record(tmp_path)
    assert comparison.value(0) == 3.0


def test_a_long_record_is_read_line_by_line(tmp_path: Path) -> None:
    """At once, it took more than twice its size."""
    path = write(tmp_path)
    with path.open("a") as stream:
        stream.writelines(path.read_text().splitlines(keepends=True)[:2] * 5000)
        stream.writelines(f"{{{'damaged ' * 40}\n" for _ in range(10))
    tracemalloc.start()
    comparisons, problems = read_record(tmp_path, "", {})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(comparisons), len(problems)) == (3, 10)
    assert peak < path.stat().st_size / 5


@pytest.mark.parametrize("line", range(4))
def test_a_line_that_was_removed_is_missed(tmp_path: Path, line: int) -> None:
    """Cases whose first line is lost do not count to the sitting before."""
    sitting = replace(SITTING, at=AT + 1000)
    later = [replace(case, at=case.at + 1000, sitting=sitting) for case in CASES]
    path = write(tmp_path, CASES, later)
    lines = path.read_text().splitlines(keepends=True)
    del lines[5 + line]
    path.write_text("".join(lines))
    comparisons, problems = read_record(tmp_path)
    kept = [case for number, case in enumerate(later, start=1) if line not in {0, number}]
    assert comparisons == [*CASES, *kept]
    lost = "line {} is not a valid case (no sitting begins before it); it was left out"
    messages = [] if line else [lost.format(number) for number in (6, 7, 8)]
    messages.append("of lines 6 to 9 some were changed or removed")
    assert problems == [Problem(str(path), message) for message in messages]


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": [[1.0]]},
        {"cpu": [[1.0, 2.0]]},
        {"rounds": [[1e999, 1.0, 1.0]]},
        {"at": -1},
        {"unit": None},
        {"unit": "s" * 5000},
        {"more": 1},
    ],
)
def test_a_line_that_is_no_case_costs_itself_alone(tmp_path: Path, change: Any) -> None:
    path = write(tmp_path)
    first, case, *others = path.read_text().splitlines()
    damaged = json.dumps(json.loads(case) | change)
    path.write_text("\n".join([first, damaged, *others]) + "\n")
    comparisons, [problem, of_sitting] = read_record(tmp_path)
    assert comparisons == CASES[1:]
    assert problem.message.startswith("line 2 is not a valid case (")
    assert len(problem.message) < 200
    assert "some were changed" in of_sitting.message


def test_a_record_of_another_machine_stays_that_machines(tmp_path: Path) -> None:
    write(tmp_path)
    shutil.copytree(tmp_path / "desk", tmp_path / "copy")
    assert read_record(tmp_path) == (CASES, []), "copied lines count once"
