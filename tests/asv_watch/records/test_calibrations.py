"""A machine's calibrations: kept a line each, damage named, the newest shown."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from asv_watch.records.calibrations import (
    FILE_NAME,
    RepeatedComparison,
    read_calibrations,
)
from asv_watch.records.git import read_commits
from asv_watch.records.json_lines import append_lines
from asv_watch.records.loading import load_history
from tests.asv_watch.calibrations import calibration
from tests.asv_watch.generator import Generated


def test_what_is_kept_is_read_again_oldest_first(tmp_path: Path) -> None:
    path = tmp_path / "m" / FILE_NAME
    older, newer = calibration(at=1, interleaved=None), calibration(at=2, noise=0.5)
    append_lines(path, [older])
    append_lines(path, [newer])
    assert read_calibrations(path) == ((older, newer), ())


def test_a_line_from_before_sides_took_turns_has_none(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    append_lines(path, [calibration()])
    line = json.loads(path.read_text())
    del line["side_by_side"]
    path.write_text(json.dumps(line))
    assert read_calibrations(path) == ((calibration(interleaved=None),), ())


def test_a_line_cut_off_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    append_lines(path, [calibration(at=1)])
    path.write_bytes(path.read_bytes() + b'{"format": 1, "at"')
    append_lines(path, [calibration(at=3)])
    calibrations, problems = read_calibrations(path)
    assert [entry.at for entry in calibrations] == [1, 3]
    assert [(problem.path, "line 2" in problem.message) for problem in problems] == [
        (str(path), True)
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"cases": []},
        {"cases": [1]},
        {"at": True},
        {"noise": float("nan")},
        {"worst": "much"},
        {"load": None},
        {"findings": [{"what": "x", "state": "y", "hurts": "no", "remedy": ""}]},
        {"side_by_side": {}},
        {"side_by_side": 3},
        {"side_by_side": {"repeats": 2, "seconds": 1, "cases": [], "false_alarms": 0}},
    ],
)
def test_a_line_of_another_shape_is_named(tmp_path: Path, change: Any) -> None:
    path = tmp_path / FILE_NAME
    append_lines(path, [calibration()])
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    calibrations, [problem] = read_calibrations(path)
    assert calibrations == ()
    assert "line 1 is no calibration" in problem.message


@given(st.binary(max_size=200))
@example(b"\0\n\0")
@example(b"text\n\0")
def test_no_content_raises(tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
    path = tmp_path_factory.mktemp("damaged") / FILE_NAME
    path.write_bytes(content)
    calibrations, problems = read_calibrations(path)
    assert calibrations == ()
    lines = [line for line in content.split(b"\n") if line.strip()]
    assert len(problems) == (1 if b"\0" in content[:4] else len(lines))  # 1: it is no text


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).touch()
    assert read_calibrations(tmp_path / FILE_NAME) == ((), ())


def test_a_history_knows_the_newest_of_each_machine_and_names_damage(
    generated: Generated, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    shutil.copytree(generated.results, results)
    path = results / "ci-2core" / FILE_NAME
    for at in (1, 2):
        append_lines(path, [calibration(at=at)])
    path.write_text(path.read_text() + "{\n")
    before = load_history(generated.results, read_commits(generated.repository))
    history = load_history(results, read_commits(generated.repository))
    assert before.calibrations == {}
    assert {name: entry.at for name, entry in history.calibrations.items()} == {"ci-2core": 2}
    assert [problem.path for problem in history.problems] == [
        *(problem.path for problem in before.problems),
        str(path),
    ]
    assert history.series == before.series


@pytest.mark.parametrize(
    ("others", "noise", "worst", "steady"),
    [
        (0.1, 0.009, 0.029, True),
        (0.1, 0.011, 0.02, False),
        (0.1, 0.005, 0.031, False),
        (0.9, 0.02, 0.059, True),
        (0.9, 0.005, 0.061, False),
    ],
)
def test_steady_is_judged_by_what_else_ran(
    others: Any, noise: float, worst: float, steady: bool
) -> None:
    assert calibration(others=others, noise=noise, worst=worst).steady is steady
    case = RepeatedComparison("x", 5, noise, worst, 0.1)
    repeated = calibration().interleaved
    assert repeated is not None
    sides = replace(repeated, cases=(case,))
    turns = calibration(others=others, noise=9.0, worst=9.0, interleaved=sides)
    assert turns.steady_interleaved is steady
    assert not calibration(others=others, interleaved=None).steady_interleaved
