"""What the gate says of cases that fail on a side, with real processes."""

import time
from pathlib import Path

import pytest

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.workplace import Side
from asv_watch.gate import choice
from asv_watch.gate.choice import Choice
from asv_watch.gate.command import GateMeasurement
from asv_watch.gate.result import GateResult
from asv_watch.judge.graph import MachineGraphs
from asv_watch.machine.budget import Budget
from tests.gate.results import result

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
    reasons = {
        "time_it-0": "fails: RuntimeError: out of cheese",
        "time_it-1": "fails: did not answer in 2 s",
    }

    def measure(*sides: Side) -> GateResult:
        budget = Budget(300.0, time.monotonic)
        measurement = GateMeasurement((sides[0], sides[1]), result(), budget, MachineGraphs(()))
        return measurement.run(Choice(cases, budget))

    assert measure(fails, works) == result(skipped=reasons)
    assert measure(works, fails) == result(failed=reasons)
    monkeypatch.setattr(choice, "FIRST_TOGETHER", 1)
    first, second = reasons
    assert measure(works, fails) == result(second, failed={first: reasons[first]}), (
        "once the gate fails, nothing more is measured"
    )
    rounds = [line for line in capsys.readouterr().out.splitlines() if line.startswith("round ")]
    assert rounds
    assert rounds[0].endswith(" s left"), rounds
