"""The timeline's lines: the data give levels and scales, the script takes them as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.js.node import evaluate

LEVELS = """(() => {
  const points = argument.values.map((value, stop) => ({stop, value, interval: null}));
  const [drawn] = module.asLevels([{...argument, points}]);
  return {points: drawn.points.map(({stop, value}) => [stop, value]), steps: drawn.steps ?? null};
})()"""
STRETCHES = [[0, 2.0, 0.5], [2, 1.0, 0.25]]
"""Two stretches: runs around 4 at twice the newest level, then around 4 at that level, because
other conditions began as well."""


def drawn(values: Sequence[float], *, compared: bool = True) -> dict[str, Any]:
    line = {
        "values": values,
        "compared": [0] if compared else [],
        "stretches": STRETCHES,
    }
    return dict(evaluate("views/timeline/levels.js", LEVELS, line))


def test_the_line_moves_at_measured_changes_and_runs_lie_around_it() -> None:
    line = drawn([4.0, 4.4, 4.0, 3.6])
    assert line["steps"] == [{"stop": 0, "value": 2.0}, {"stop": 2, "value": 1.0}]
    assert dict(line["points"]) == pytest.approx({0: 2.0, 1: 2.2, 2: 1.0, 3: 0.9})


def test_without_comparisons_the_line_goes_through_the_runs() -> None:
    assert drawn([4.0, 4.0], compared=False)["steps"] is None
