"""Outcomes beside a result file."""

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
    return {"case": case, "outcome": outcome, "reason": "", "at": 1} | more


def _write(path: Path, *lines: dict[str, object], rest: str = "") -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + rest)
    return path


def test_the_last_line_of_a_case_counts(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.outcomes.jsonl", _line("a", "failed"), _line("b"), _line("a"))
    reports, problems = read_outcomes(path)
    assert problems == []
    assert reports == {name: Report(name, Outcome.OK, at=1) for name in "ab"}


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": []},
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
