"""The report of nights computes their spread, and bad input is one line."""

from __future__ import annotations

import math
import statistics
from pathlib import Path

import pytest

from tools.nights import main, report
from torchspeed.errors import TorchspeedError
from torchspeed.watch.history.comparisons import CaseRatio, Header, StoredComparison, Version

VERSION = Version("0123456789abcdef" * 2 + "01234567", "2.15.0", "0.29.2", "3.11")


def _night(at: int, **ratios: float) -> StoredComparison:
    header = Header(kind="null", at=at, machine="desk", before=VERSION, after=VERSION)
    cases = [
        CaseRatio(name, at, (ratio, ratio), ratio, (ratio * 0.999, ratio * 1.001), 1.0, ratio)
        for name, ratio in ratios.items()
    ]
    return StoredComparison(Path(), header, tuple(cases), ())


def test_the_report_holds_the_spread_between_nights_and_the_false_alarms() -> None:
    nights = [_night(1, a=1.01, b=1.0, once=1.0), _night(2, a=0.99, b=1.001), _night(3, a=1.04)]
    text = report(nights, busy=False)
    logs = [math.log(ratio) for ratio in (1.01, 0.99, 1.04)]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert [cell.strip() for cell in rows[0].split("|")[1:-1]] == [
        "`a`",
        "3",
        f"{statistics.stdev(logs):.2%}",
        "3.92%",
    ]
    assert rows[1].startswith("| `b` ")
    assert len(rows) == 2
    assert "3 nights, 2 cases" in text
    assert "worst 3.92% (wanted: at most 2%); 1 false alarms in 6 ratios." in text
    assert "wanted: at most 1.0%" in report(nights, busy=True)


def test_a_single_night_has_no_spread() -> None:
    with pytest.raises(TorchspeedError, match="no case has been measured in two nights yet"):
        report([_night(1, a=1.0)], busy=False)


def test_bad_input_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert main([]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "is not a git checkout" in error
