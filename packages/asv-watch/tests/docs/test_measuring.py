"""The example that docs/measuring.md works by hand."""

from __future__ import annotations

import math
from pathlib import Path

from asv_watch.statistics.graph import Measured, Noise
from asv_watch.statistics.ratio import quantile, spread_of_few, spread_of_rounds
from asv_watch.text import quantities

MEASURING = (Path(__file__).parents[2] / "docs" / "measuring.md").read_text()


def test_the_measured_change() -> None:
    line = next(line for line in MEASURING.splitlines() if line.startswith("    1.046"))
    ratios = [float(word) for word in line.split()]
    noise = Noise(0.0047, 0.015)
    answer = Measured("a", "b", 0, tuple(ratios)).alone(noise)
    low, high = answer.interval
    assert f"exp({answer.log:.4f}) = {answer.ratio:.4f}" in MEASURING
    assert f"logarithms is {spread_of_rounds(ratios) * 100:.3f} %" in MEASURING
    assert f"= {spread_of_few(ratios, 0.015) * 100:.3f} %, and" in MEASURING
    assert f"√(0.465² + 0.47²) = {math.sqrt(answer.variance) * 100:.3f} %" in MEASURING
    assert f"factor is {quantile(answer.freedom):.3f} (" in MEASURING
    assert f"= {answer.freedom:.1f} degrees of freedom" in MEASURING
    assert f"from {low:.4f} to {high:.4f}" in MEASURING
    shown = f"**{quantities.change(answer.ratio)} ({quantities.interval((low, high))})**"
    assert shown in " ".join(MEASURING.split())
