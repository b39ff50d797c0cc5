"""The report of sensitivity counts false alarms and what was found; bad input is one line."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from asv_watch.records.comparisons import CaseRatio
from tools.sensitivity import main, report


def _case(name: str, ratio: float) -> CaseRatio:
    return CaseRatio(name, 0, (ratio, ratio), ratio, (ratio * 0.99, ratio * 1.01), 1.0, 1.0)


def test_the_report_counts_what_is_found_and_what_is_a_false_alarm() -> None:
    unchanged = [_case("a", 1.0), _case("b", 0.8), _case("a", 1.002), _case("b", 1.001)]
    planted = {
        0.03: [_case("a", 1.03), _case("b", 1.0)],
        0.05: [_case("a", 1.05), _case("b", 0.9)],
        0.10: [_case("a", 1.1), _case("b", 1.1)],
    }
    text = report(unchanged, planted, busy=False)
    first, second = re.findall(r"^\| `.*$", text, re.M)
    noise = math.sqrt((math.log(0.8) ** 2 + math.log(1.001) ** 2) / 2)
    assert [cell.strip() for cell in first.split("|")[1:-1]] == [
        *("`b`", f"{noise:.2%}", "25.00%", "1 of 2"),
        *("0 of 1: 0.0%", "0 of 1: -10.0%", "1 of 1: 10.0%"),
    ]
    assert [cell.strip() for cell in second.split("|")[1:5]] == [
        *("`a`", "0.14%", "0.20%", "0 of 2"),
    ]
    assert "worst 25.00% (wanted: at most 2%); false alarms: 1 of 4 (wanted: none)" in text
    assert "3% planted: found in 1 of 2 (wanted: 95%)" in text
    assert "10% planted: found in 2 of 2 (wanted: 100%)" in text
    assert "wanted: at most 1.0%" in report(unchanged, {}, busy=True)


def test_bad_input_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert main(["--planted", "0", "3"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "is not a git checkout" in error
