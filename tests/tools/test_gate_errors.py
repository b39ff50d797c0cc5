"""The gate is wrong about as rarely as it promises, by rounds that were measured."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tools.gate_errors import main, simulate, stored_comparisons

STORED = stored_comparisons(ROOT / "results", "ci-2core-zen5")


def test_harmless_changes_raise_no_alarm_and_slowdowns_of_five_percent_are_found() -> None:
    assert len(STORED) >= 6
    harmless = simulate(STORED, 20, planted=0, threshold=0.03, seed=1)
    assert harmless.cases == 34
    assert harmless.alarms == harmless.failed == 0
    planted = simulate(STORED, 4, planted=0.05, threshold=0.03, seed=1)
    assert planted.slower >= 0.95 * planted.gates * planted.cases


def test_the_command_prints_both(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["--gates", "1", "--planted", "5"]) == 0
    printed = capsys.readouterr().out
    assert "the same case in both of 0 of " in printed
    assert "5 % planted: 1 gates of 34 cases: " in printed
