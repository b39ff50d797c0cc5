"""Stored comparisons: what is written is read again, and damage costs its own line alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asv_watch.records.comparisons import (
    CaseRatio,
    CaseResult,
    CaseValues,
    ComparisonWriter,
    Header,
    Unmeasured,
    Version,
    read_comparison,
    read_comparisons,
)

BEFORE = Version("0123456789abcdef" * 2 + "01234567", {"torch": "2.15.0"}, "3.11")
AFTER = Version("fedcba9876543210" * 2 + "01234567", {"torch": "2.15.0"}, "3.11")
RATIO = CaseRatio("a.A.time_x('m')", 1760000100, (1.01, 1.02), 1.015, (1.0, 1.03), 0.1, 0.1015)
SKIPPED = Unmeasured("a.A.time_y", 1760000101, skipped="no device")
FAILED = Unmeasured("a.A.time_z", 1760000102, failed="A: RuntimeError: broken")
VALUES = CaseValues(
    "a.A.peakmem_x", 1760000103, "bytes", before=1024.0, after={"failed": "MemoryError"}
)


def _header(at: int = 1760000000, machine: str = "desk") -> Header:
    return Header(
        kind="compare", at=at, machine=machine, before=BEFORE, after=AFTER, recipe={"rounds": 5}
    )


def _write(results: Path, header: Header, *more: CaseValues) -> Path:
    writer = ComparisonWriter(results, header)
    cases: tuple[CaseResult, ...] = (RATIO, SKIPPED, FAILED, *more)
    for case in cases:
        writer.add(case)
    return writer.path


@pytest.mark.parametrize("machine", ["desk", "lab [1]", "*"])
def test_the_comparisons_of_one_machine_are_read_alone(tmp_path: Path, machine: str) -> None:
    for name in {"desk", "other", machine}:
        _write(tmp_path, _header(machine=name))
    [comparison], _ = read_comparisons(tmp_path, machine)
    assert comparison.header.machine == machine


def test_a_comparison_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = _write(tmp_path, _header(), VALUES)
    assert path == tmp_path / "desk/comparisons/20251009T085320-compare-01234567-fedcba98.jsonl"
    [comparison], problems = read_comparisons(tmp_path)
    assert problems == ()
    assert comparison.header == _header()
    assert comparison.ratios == (RATIO,)
    assert comparison.unmeasured == (SKIPPED, FAILED)
    assert comparison.values == (VALUES,)
    first, second, *_ = map(json.loads, path.read_text().splitlines())
    assert first["format"] == 2
    assert second == {
        "case": RATIO.case,
        "at": RATIO.at,
        "ratios": [1.01, 1.02],
        "ratio": 1.015,
        "interval": [1.0, 1.03],
        "before_s": 0.1,
        "after_s": 0.1015,
    }


def test_every_finished_case_is_on_the_disk_and_no_file_is_empty(tmp_path: Path) -> None:
    writer = ComparisonWriter(tmp_path, _header())
    assert not writer.path.exists()
    writer.add(RATIO)
    comparison, problems = read_comparison(writer.path)
    assert (problems, comparison and comparison.ratios) == ([], (RATIO,))


@settings(max_examples=20)
@given(st.lists(st.integers(0, 2**34) | st.just(1760000000), max_size=5))
@pytest.mark.fault(
    "clock that jumps",
    tried="comparisons are stored by a clock that jumps any years ahead or back, or stands still",
    holds="each has a file of its own, and all are read",
)
def test_no_comparison_is_lost_to_the_clock(
    tmp_path_factory: pytest.TempPathFactory, times: list[int]
) -> None:
    results = tmp_path_factory.mktemp("results")
    assert len({_write(results, _header(at)) for at in times}) == len(times)
    comparisons, problems = read_comparisons(results)
    assert (len(comparisons), problems) == (len(times), ())


def test_the_last_line_of_a_case_counts(tmp_path: Path) -> None:
    writer = ComparisonWriter(tmp_path, _header())
    writer.add(Unmeasured(RATIO.case, 1, failed="once"))
    writer.add(RATIO)
    [comparison], _ = read_comparisons(tmp_path)
    assert (comparison.ratios, comparison.unmeasured) == ((RATIO,), ())


@pytest.mark.parametrize(
    "change",
    [
        {"ratio": 0},
        {"ratios": [1.0]},
        {"ratios": [1.0, -1.0]},
        {"interval": [1.02, 1.03]},
        {"before_s": 1e999},
        {"at": -1},
        {"more": 1},
    ],
)
def test_a_line_that_is_no_case_is_a_problem_and_costs_itself_alone(
    tmp_path: Path, change: dict[str, object]
) -> None:
    path = _write(tmp_path, _header())
    header, case, *others = path.read_text().splitlines()
    damaged = json.dumps(json.loads(case) | change)
    path.write_text("\n".join([header, damaged, *others]) + "\n")
    comparison, [problem] = read_comparison(path)
    assert comparison is not None
    assert (comparison.ratios, comparison.unmeasured) == ((), (SKIPPED, FAILED))
    assert problem.message == "line 2 is not a valid case; it was left out"


def test_versions_are_equal_where_commit_main_requirement_and_python_are() -> None:
    more = Version(BEFORE.commit, {"torch": "2.15.0", "scikit-learn": "1.9.1"}, "3.11")
    assert (BEFORE, hash(BEFORE), BEFORE.release) == (more, hash(more), "torch 2.15.0")
    assert not BEFORE != more  # noqa: SIM202, SIM300 - `!=` is another function
    assert BEFORE not in [AFTER, Version(BEFORE.commit, {"torch": "2.14.1"}, "3.11")]


@pytest.mark.parametrize(
    ("before", "after", "requirement"),
    [
        (
            {"torch": "2.14.1", "torchvision": "1"},
            {"torch": "2.15.0", "torchvision": "2"},
            "torch",
        ),
        ({"numpy": "2.4", "scipy": "1.15"}, {"numpy": "2.4", "scipy": "1.16"}, "scipy"),
        ({"numpy": "2.4"}, {"numpy": "2.4", "scipy": "1.16"}, ""),
    ],
)
def test_a_header_names_the_requirement_whose_releases_were_compared(
    before: dict[str, str], after: dict[str, str], requirement: str
) -> None:
    versions = [Version(BEFORE.commit, named, "3.11") for named in (before, after)]
    header = Header(kind="release", at=1, machine="m", before=versions[0], after=versions[1])
    assert header.requirement == requirement
