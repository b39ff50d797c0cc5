"""The report of planted slowdowns counts what was found, and bad input is one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.planted_slowdown import main, report
from torchspeed.watch.history.comparisons import CaseRatio


def _case(name: str, ratio: float) -> CaseRatio:
    return CaseRatio(name, 0, (ratio, ratio), ratio, (ratio * 0.99, ratio * 1.01), 1.0, ratio)


def test_the_report_counts_what_is_found_and_what_is_a_false_alarm() -> None:
    repeats = {
        0.0: [[_case("a", 1.0), _case("b", 0.8)], [_case("a", 1.002), _case("b", 1.001)]],
        0.03: [[_case("a", 1.03), _case("b", 1.0)]],
        0.05: [[_case("a", 1.05), _case("b", 0.9)]],
        0.10: [[_case("a", 1.1), _case("b", 1.1)]],
    }
    text = report(repeats, "here")
    assert text.startswith("**here**")
    first, second = re.findall(r"^\| `.*$", text, re.M)
    assert [cell.strip() for cell in first.split("|")[1:-1]] == (
        ["`b`", "25.00%", "1 of 2", "0.0%", "0 of 1", "-10.0%", "0 of 1", "10.0%", "1 of 1"]
    )
    assert [cell.strip() for cell in second.split("|")[1:4]] == ["`a`", "0.20%", "0 of 2"]
    assert "worst 25.00%; 1 false alarms in 4 comparisons" in text
    assert "3% planted: found in 1 of 2 (50.0%; wanted: 95%)" in text
    assert "5% planted: found in 1 of 2 (50.0%; wanted: 95%)" in text
    assert "10% planted: found in 2 of 2 (100.0%; wanted: 100%)" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--repeats", "0"], "--repeats 0 measures nothing"), ([], "is not a git checkout")],
)
def test_bad_input_is_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error
