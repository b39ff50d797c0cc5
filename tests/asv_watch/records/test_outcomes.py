"""Outcomes beside a result file: what the last lines of a case say, removal, durations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from asv_watch.records.records import Outcome
from asv_watch.records.side_files import (
    Report,
    read_outcomes,
)


def _line(case: str, outcome: str = "ok", **more: object) -> dict[str, object]:
    return {"case": case, "outcome": outcome, "reason": "", "at": 1, "seconds": 1.0} | more


def _write(path: Path, *lines: dict[str, object], rest: str = "") -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + rest)
    return path


def test_samples_are_those_of_the_rounds_of_the_last_measurement(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "a.outcomes.jsonl",
        _line("whole", samples=9, rounds_left=1),
        _line("whole", samples=8),
        _line("whole", samples=5, rounds_left=1),
        _line("whole", samples=4),
        _line("interrupted", samples=20, rounds_left=2),
        _line("interrupted", samples=10, rounds_left=1),
        _line("old"),
    )
    reports, problems = read_outcomes(path)
    assert problems == []
    assert reports["whole"] == Report("whole", Outcome.OK, "", 1, 1.0, samples=9, rounds_left=0)
    assert reports["interrupted"] == Report(
        "interrupted", Outcome.OK, "", 1, 1.0, samples=30, rounds_left=1
    )
    assert reports["old"].rounds_left == 0


@pytest.mark.parametrize(
    "change",
    [
        {"seconds": "long"},
        {"samples": None},
        {"rounds_left": []},
        {"outcome": "odd"},
        {"case": 1},
        {"at": 1e300},
    ],
)
def test_a_line_with_a_value_of_another_type_is_named_and_left_out(
    tmp_path: Path, change: dict[str, object]
) -> None:
    path = _write(tmp_path / "a.outcomes.jsonl", _line("a"), _line("b") | change)
    reports, [problem] = read_outcomes(path)
    assert set(reports) == {"a"}
    assert "line 2 is not a valid outcome of a case" in problem.message
