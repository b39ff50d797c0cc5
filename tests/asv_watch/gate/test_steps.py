"""The lines that say how far a gate is."""

from __future__ import annotations

import time

import pytest

from asv_watch.gate import steps
from asv_watch.machine.budget import Budget


def test_a_long_step_says_again_and_again_how_much_of_the_limit_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(steps, "SECONDS_BETWEEN_LINES", 0.05)
    moments = iter(range(0, 6000, 60))  # a minute passes between two looks at the clock
    with steps.step("building the head", Budget(600, lambda: float(next(moments)))):
        time.sleep(0.4)
    first, again, *_, last = capsys.readouterr().out.splitlines()
    assert first == "building the head, 9 min 00 s of the limit left"
    assert again == "  still building the head, 8 min 00 s of the limit left"
    assert last.startswith("building the head took ")


def test_a_short_step_takes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with steps.step("listing the cases", Budget(600, lambda: 0.0)):
        pass
    assert capsys.readouterr().out == "listing the cases, 10 min 00 s of the limit left\n"
