"""The examples that docs/history.md works by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchspeed.watch.analysis import change_points, compare, machine_steps, noise
from torchspeed.watch.analysis.change_points import find_steps
from torchspeed.watch.analysis.false_discovery import benjamini_hochberg
from torchspeed.watch.analysis.noise import run_to_run
from torchspeed.watch.analysis.rank_test import mann_whitney
from torchspeed.watch.history.reported_value import figure_of

TEXT = (Path(__file__).parents[2] / "docs" / "history.md").read_text()


def test_the_step():
    line = next(line for line in TEXT.splitlines() if line.startswith("    10.0"))
    before, after = ([float(word) for word in half.split()] for half in line.split("|"))
    [step] = find_steps(before + after)
    assert step.position == len(before)
    assert round(step.before, 3) == 10.025
    assert round(step.after, 3) == 11.0
    assert round(step.z, 1) == 9.0
    assert run_to_run(before + after) == pytest.approx(0.0191, abs=5e-5)


def test_the_comparison():
    line = next(line for line in TEXT.splitlines() if line.startswith("By hand: "))
    words = line.replace("before and", "|").replace("By hand:", "").replace("after. The", "")
    before, after = ([float(word) for word in half.split()] for half in words.split("|"))
    figures = figure_of(before).value, figure_of(after).value
    assert figures == (9.9, 10.6)
    assert round(figures[1] / figures[0], 3) == 1.071
    p = mann_whitney(before, after)
    assert p == pytest.approx(2 / 924)
    assert round(benjamini_hochberg([p, *[1.0] * 9])[0], 2) == 0.02


def test_the_rules_are_those_of_the_code():
    for said in (
        f"At least {change_points.FEWEST_VALUES} figures lie on each side",
        f"differ by at least {change_points.MINIMUM_EFFECT:.1%}".replace("%", " %"),
        f"at least {change_points.MINIMUM_Z} standard errors",
        f"at least {compare.FEWEST_SAMPLES} samples",
        f"p ≤ {compare.FALSE_DISCOVERY_RATE}",
        f"at\n  least {machine_steps.FEWEST_SERIES} series of {machine_steps.FEWEST_MODELS}",
    ):
        assert " ".join(said.split()) in " ".join(TEXT.split())
    assert noise.FEWEST_VALUES == 8
    assert "eight figures" in TEXT
    assert change_points.CONFIRMING_RUNS == 3
    assert "three runs in succession" in TEXT
    assert machine_steps.SHARE == 3 / 5
    assert "3 of 5 series" in TEXT
