"""The example that docs/measuring.md works by hand."""

import math
from pathlib import Path

from asv_watch.statistics.graph import Star
from asv_watch.statistics.ratio import levels, quantile, spread_of_few, spread_of_rounds
from asv_watch.text import quantities

MEASURING = (Path(__file__).parents[2] / "docs" / "measuring.md").read_text()


def test_the_measured_change() -> None:
    line = next(line for line in MEASURING.splitlines() if line.startswith("    1.046"))
    ratios = [float(word) for word in line.split()]
    logs, variances = levels([(1.0, ratio) for ratio in ratios])
    star = Star(("a", "b"), tuple(logs), tuple(variances), len(ratios) - 1).corrected(0.015)
    answer = star.estimate(0, 1, between=0.0047)
    low, high = answer.interval
    assert f"exp({answer.log:.4f}) = {answer.ratio:.4f}" in MEASURING
    spread = spread_of_rounds(ratios)
    assert f"logarithms is {spread * 100:.3f} %" in MEASURING
    assert f"= {spread_of_few(spread, len(ratios), 0.015) * 100:.3f} %, and" in MEASURING
    assert f"√(0.465² + 0.47²) = {math.sqrt(answer.variance) * 100:.3f} %" in MEASURING
    assert f"factor is {quantile(answer.freedom):.3f} (" in MEASURING
    assert f"= {answer.freedom:.1f} degrees of freedom" in MEASURING
    assert f"from {low:.4f} to {high:.4f}" in MEASURING
    shown = f"**{quantities.change(answer.ratio)} ({quantities.interval((low, high))})**"
    assert shown in " ".join(MEASURING.split())
