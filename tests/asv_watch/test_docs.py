"""The examples that docs/history.md and docs/notes/change-points.md work by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from asv_watch.runs import change_points, machine_steps, noise, pruning, suspicions
from asv_watch.runs.change_points import find_steps
from asv_watch.runs.noise import own_noise
from asv_watch.runs.suspicions import newest_jump
from asv_watch.statistics import rule
from asv_watch.statistics.graph import Measured, Noise
from asv_watch.statistics.ratio import quantile, spread_of_few, spread_of_rounds
from asv_watch.text import quantities

NUMBERS = {5: "five", 10: "ten"}
DOCS = Path(__file__).parents[2] / "docs"
HISTORY = (DOCS / "history.md").read_text()
TEXT = (DOCS / "notes" / "change-points.md").read_text()


def test_the_step() -> None:
    line = next(line for line in TEXT.splitlines() if line.startswith("    10.0"))
    before, after = ([float(word) for word in half.split()] for half in line.split("|"))
    [step] = find_steps(before + after)
    assert step.position == len(before)
    assert round(step.before, 3) == 10.025
    assert round(step.after, 3) == 11.0
    assert round(step.z, 1) == 9.0
    assert own_noise([before + after]).cautious == pytest.approx(0.0243, abs=5e-5)
    assert "1.91 (1 + 3.6/13) = 2.4 %" in TEXT
    assert noise.FEW_DIFFERENCES == 3.6


def test_the_measured_change() -> None:
    line = next(line for line in HISTORY.splitlines() if line.startswith("    1.046"))
    ratios = [float(word) for word in line.split()]
    noise = Noise(0.0047, 0.015)
    answer = Measured("a", "b", 0, tuple(ratios)).alone(noise)
    low, high = answer.interval
    assert f"exp({answer.log:.4f}) = {answer.ratio:.4f}" in HISTORY
    assert f"logarithms is {spread_of_rounds(ratios) * 100:.3f} %" in HISTORY
    assert f"= {spread_of_few(ratios, 0.015) * 100:.3f} %, and" in HISTORY
    assert f"√(0.465² + 0.47²) = {math.sqrt(answer.variance) * 100:.3f} %" in HISTORY
    assert f"factor is {quantile(answer.freedom):.3f} (" in HISTORY
    assert f"= {answer.freedom:.1f} degrees of freedom" in HISTORY
    assert f"from {low:.4f} to {high:.4f}" in HISTORY
    shown = f"**{quantities.change(answer.ratio)} ({quantities.interval((low, high))})**"
    assert shown in " ".join(HISTORY.split())
    assert len(HISTORY.splitlines()) <= 150


def test_the_newest_run() -> None:
    noise, before, after = 0.0057, 9.9, 10.6
    jump = newest_jump([before] * 10 + [after], noise, 5)
    assert jump is not None
    text = " ".join(TEXT.split())
    assert f"ten runs of {before} ms in the median and then one of {after} ms" in text
    assert f"a noise of {noise * 100:.2f} %" in text
    assert (
        f"The logarithm of the ratio is {math.log(jump.after / jump.before) * 100:.2f} %" in text
    )
    assert f"the change is {jump.z:.1f} times that" in text
    assert newest_jump([before] * 10 + [before * 1.014], 0.0, 5) is None


def test_the_rules_are_those_of_the_code() -> None:
    for output in (
        f"At least {pruning.FEWEST_VALUES} values lie on each side",
        f"differ by at least {rule.MINIMUM_EFFECT:.1%}".replace("%", " %"),
        f"at least {pruning.MINIMUM_Z} standard errors",
        f"log {1 + rule.MINIMUM_EFFECT}",
        f"more than {suspicions.NOISE_FACTOR:g} √(noise₁² + noise₂²)",
        f"{suspicions.RECENT_Z} standard errors",
        f"newest runs, {NUMBERS[suspicions.MOST_NEW_RUNS]} at most",
        f"median of the {NUMBERS[suspicions.LEVEL_VALUES]} runs before",
        f"{noise.FEWEST_DIFFERENCES} at least from {noise.FEWEST_SERIES} series",
        f"at\n  least {machine_steps.FEWEST_SERIES} series of {machine_steps.FEWEST_ROWS}",
    ):
        assert " ".join(output.split()) in " ".join(TEXT.split())
    assert noise.FEWEST_VALUES == 8
    assert "eight values or more" in TEXT
    assert change_points.CONFIRMING_RUNS == 3
    assert "three runs in succession" in TEXT
    assert machine_steps.SHARE == 3 / 5
    assert "3 of 5 series" in TEXT
