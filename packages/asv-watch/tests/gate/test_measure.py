"""What the gate says of cases that fail on a side, with real processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.sides import Side
from asv_watch.gate import choice
from asv_watch.gate.choice import Choice
from asv_watch.gate.measure import GateMeasurement
from asv_watch.gate.result import GateCase
from asv_watch.judge.graph import MachineGraphs
from asv_watch.machine.budget import Budget

SUITE = """
import package

class Suite:
    params = ["raises", "hangs"]
    number, warmup_time = 1, 0

    def time_it(self, how):
        package.work(how)
"""
WORKS = "def work(how):\n    pass\n"
FAILS = """
import time

def work(how):
    if how == "raises":
        raise RuntimeError("out of cheese")
    time.sleep(60)
"""


def test_a_case_that_fails_on_the_base_cannot_be_compared_and_one_on_the_head_has_failed(
    tmp_path: Path,
    made_environment: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    suites = tmp_path / "benchmarks"
    suites.mkdir()
    (suites / "__init__.py").touch()
    (suites / "suite.py").write_text(SUITE)

    def side(name: str, package: str) -> Side:
        source = tmp_path / name
        source.mkdir()
        (source / "package.py").write_text(package)
        return Side(name, source, EnvironmentSpec({}, "", made_environment), suites)

    works, fails = side("works", WORKS), side("fails", FAILS)
    cases = [
        MeasurableCase(f"time_it-{index}", f"suite.Suite.time_it-{index}", 2.0) for index in (0, 1)
    ]
    reasons = ("fails: RuntimeError: out of cheese", "fails: did not answer in 2 s")

    def measure(*sides: Side, **options: Callable[..., bool]) -> list[GateCase]:
        budget = Budget(300.0, time.monotonic)
        return GateMeasurement((sides[0], sides[1]), 0.03, budget, MachineGraphs(())).run(
            Choice(cases, budget), **options
        )

    assert measure(fails, works) == [
        GateCase(case.name, skipped=reason) for case, reason in zip(cases, reasons, strict=True)
    ]
    assert measure(works, fails) == [
        GateCase(case.name, failed=reason) for case, reason in zip(cases, reasons, strict=True)
    ]

    def has_failed(measured: Sequence[GateCase]) -> bool:
        return any(case.failed for case in measured)

    monkeypatch.setattr(choice, "FIRST_TOGETHER", 1)
    assert measure(works, fails, is_enough=has_failed) == [
        GateCase(cases[0].name, failed=reasons[0]),
        GateCase(cases[1].name),
    ], "once the gate fails, nothing more is measured"
    rounds = [line for line in capsys.readouterr().out.splitlines() if line.startswith("round ")]
    assert rounds
    assert rounds[0].endswith(" s left"), rounds
