"""Stored comparisons: what is written is read again, and damage costs its own line alone."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asv_watch.records.comparisons import (
    CaseRatio,
    CaseResult,
    CaseValues,
    Measurement,
    Unmeasured,
)
from asv_watch.records.measurements import (
    MeasuredCase,
    MeasurementWriter,
    read_comparisons,
    read_file,
    read_version,
)
from asv_watch.records.records import Outcome
from asv_watch.versions.version import Version

BEFORE = Version("0123456789abcdef" * 2 + "01234567", {"torch": "2.15.0"}, "3.11")
AFTER = Version("fedcba9876543210" * 2 + "01234567", {"torch": "2.15.0"}, "3.11")
RATIO = CaseRatio("a.A.time_x('m')", 1760000100, (1.01, 1.02), 1.015, (1.0, 1.03), 0.1, 0.1015)
SKIPPED = Unmeasured("a.A.time_y", 1760000101, skipped="no device")
FAILED = Unmeasured("a.A.time_z", 1760000102, failed="A: RuntimeError: broken")
VALUES = CaseValues(
    "a.A.peakmem_x", 1760000103, "bytes", before=1024.0, after={"failed": "MemoryError"}
)


def _header(at: int = 1760000000, machine: str = "desk") -> Measurement:
    return Measurement(
        kind="compare", at=at, machine=machine, versions=(BEFORE, AFTER), recipe={"rounds": 5}
    )


def _write(results: Path, header: Measurement, *more: CaseValues) -> Path:
    writer = MeasurementWriter(results, header)
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
    assert first["format"] == 3
    assert second == {
        "case": RATIO.case,
        "at": RATIO.at,
        "ratios": [1.01, 1.02],
        "ratio": 1.015,
        "interval": [1.0, 1.03],
        "before_s": 0.1,
        "after_s": 0.1015,
    }


THIRD = Version("00112233445566778899" * 2, {"torch": "2.15.0"}, "3.11")


def _ladder() -> Measurement:
    versions = BEFORE, AFTER, THIRD
    return Measurement(kind="compare", at=1760000000, machine="desk", versions=versions)


def test_what_was_measured_is_stored_and_every_derived_number_follows_from_it(
    tmp_path: Path,
) -> None:
    writer = MeasurementWriter(tmp_path, _ladder())
    writer.add(
        MeasuredCase("time", 1, rounds=((1.0, 1.1, 2.2), (2.0, 2.2, 4.4)), cpu=((1, 1, 1),))
    )
    writer.add(MeasuredCase("partly", 2, rounds=((None, 1.0, 2.0),) * 2, skipped={0: "not yet"}))
    writer.add(MeasuredCase("count", 3, "calls", ((7.0, 7.0, 8.0),), exact=True))
    writer.add(MeasuredCase("broken", 4, failed={1: "B: RuntimeError"}, skipped={0: "not yet"}))
    [first, second], problems = read_comparisons(tmp_path)
    assert problems == ()
    assert (first.header.before, first.header.after) == (BEFORE, AFTER)
    assert (second.header.before, second.header.after) == (AFTER, THIRD)
    [time] = first.ratios
    assert time.ratios == pytest.approx((1.1, 1.1))
    assert time.ratio == pytest.approx(1.1)
    assert (time.before, time.after) == pytest.approx((1.5, 1.65))
    assert [ratio.case for ratio in second.ratios] == ["time", "partly"]
    assert [(v.before, v.after) for v in (*first.values, *second.values)] == [(7, 7), (7, 8)]
    assert first.unmeasured == (
        Unmeasured("partly", 2, skipped="not yet"),
        Unmeasured("broken", 4, failed="B: RuntimeError"),
    )
    assert second.unmeasured == (
        Unmeasured("broken", 4, failed="B: RuntimeError", failed_before=True),
    )


def test_what_was_measured_of_one_version_is_read_as_if_it_were_the_only_one(
    tmp_path: Path,
) -> None:
    ladder = MeasuredCase(
        "x",
        1,
        rounds=((1.0, 2.0, 3.0), (1.5, None, 3.5)),
        cpu=((0.9, 1.9, 2.9), (1.4, None, 3.4)),
        least_spread=0.1,
        skipped={2: "not here"},
        failed={1: "too late"},
        late=(1,),
    )
    header = Measurement(kind="run", at=1, machine="desk", versions=(AFTER,))
    writer = MeasurementWriter(tmp_path, header, tmp_path / "version.jsonl")
    for version in range(3):
        writer.add(msgspec.structs.replace(ladder.of(version), case=str(version)))
    cases, problems = read_version(writer.path)
    assert problems == []
    assert [cases[str(version)].rounds for version in range(3)] == [
        ((1.0,), (1.5,)),
        ((2.0,),),
        ((3.0,), (3.5,)),
    ]
    assert [cases[str(version)].value(0) for version in range(3)] == [1.25, 2.0, 3.25]
    assert cases["0"].cpu == ((0.9,), (1.4,))
    assert [case.outcome(0) for case in cases.values()] == [
        (Outcome.OK, ""),
        (Outcome.TIMED_OUT, "too late"),
        (Outcome.SKIPPED, "not here"),
    ]


def test_the_newest_line_of_a_case_counts_where_branches_were_merged(tmp_path: Path) -> None:
    header = Measurement(kind="run", at=1, machine="desk", versions=(AFTER,))
    writer = MeasurementWriter(tmp_path, header, tmp_path / "one.measured.jsonl")
    for at, value in ((5, 1.0), (7, 2.0), (7, 3.0), (6, 4.0)):
        writer.add(MeasuredCase("a.A.time_x", at, rounds=((value,),)))
    cases, _ = read_version(writer.path)
    assert cases["a.A.time_x"].value(0) == 3.0


def test_a_single_version_among_the_comparisons_is_a_problem(tmp_path: Path) -> None:
    header = Measurement(kind="run", at=1, machine="desk", versions=(AFTER,))
    writer = MeasurementWriter(tmp_path, header)
    writer.add(MeasuredCase("a.A.time_x", 2, rounds=((1.0,),)))
    comparisons, [problem] = read_comparisons(tmp_path)
    assert comparisons == ()
    assert problem.path == str(writer.path)
    assert "a single version, which is no comparison" in problem.message


@given(
    st.lists(st.tuples(*[st.floats(0.5, 2.0)] * 2), min_size=2, max_size=9),
    st.floats(0.01, 100),
)
def test_a_ratio_knows_no_unit_and_turns_over_with_its_sides(
    rounds: list[tuple[float, float]], factor: float
) -> None:
    def ratio(of: list[tuple[float, ...]]) -> float:
        result = MeasuredCase("x", 1, rounds=tuple(of)).between(0, 1)
        assert isinstance(result, CaseRatio)
        assert result.interval[0] <= result.ratio <= result.interval[1]
        return result.ratio

    measured = ratio([*rounds])
    assert ratio([(a * factor, b * factor) for a, b in rounds]) == pytest.approx(measured)
    assert ratio([(b, a) for a, b in rounds]) == pytest.approx(1 / measured)


@pytest.mark.parametrize(
    ("rounds", "reason"),
    [
        ([[1.0]], "a round does not have 3 numbers"),
        ([[1e-300, 1e299, 1.0]] * 2, "a round has no ratio"),
    ],
)
def test_numbers_that_nothing_can_be_derived_from_cost_their_line_alone(
    tmp_path: Path, rounds: list[list[float]], reason: str
) -> None:
    writer = MeasurementWriter(tmp_path, _ladder())
    writer.add(MeasuredCase("x", 1, rounds=tuple(map(tuple, rounds))))
    writer.add(MeasuredCase("y", 1, rounds=((1.0, 1.0, 1.0),) * 2))
    [first, _], problems = read_file(writer.path)
    assert [ratio.case for ratio in first.ratios] == ["y"]
    assert reason in problems[0].message


def test_every_finished_case_is_on_the_disk_and_no_file_is_empty(tmp_path: Path) -> None:
    writer = MeasurementWriter(tmp_path, _header())
    assert not writer.path.exists()
    writer.add(RATIO)
    [comparison], problems = read_file(writer.path)
    assert (problems, comparison.ratios) == ([], (RATIO,))


@settings(max_examples=20)
@given(st.lists(st.integers(0, 2**34) | st.just(1760000000), max_size=5))
def test_no_comparison_is_lost_to_the_clock(
    tmp_path_factory: pytest.TempPathFactory, times: list[int]
) -> None:
    results = tmp_path_factory.mktemp("results")
    assert len({_write(results, _header(at)) for at in times}) == len(times)
    comparisons, problems = read_comparisons(results)
    assert (len(comparisons), problems) == (len(times), ())


def test_the_last_line_of_a_case_counts(tmp_path: Path) -> None:
    writer = MeasurementWriter(tmp_path, _header())
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
    [comparison], [problem] = read_file(path)
    assert (comparison.ratios, comparison.unmeasured) == ((), (SKIPPED, FAILED))
    assert problem.message == "line 2 is not a valid case; it was left out"


def test_versions_are_equal_where_commit_main_requirement_and_python_are() -> None:
    more = Version(BEFORE.commit, {"torch": "2.15.0", "scikit-learn": "1.9.1"}, "3.11")
    assert (BEFORE, hash(BEFORE), str(BEFORE.release)) == (more, hash(more), "torch 2.15.0")
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
    header = Measurement(kind="release", at=1, machine="m", versions=(versions[0], versions[1]))
    assert header.requirement == requirement
