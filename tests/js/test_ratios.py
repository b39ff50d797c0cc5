"""The timeline's ratios: comparisons give the sizes, separate runs what lies between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from tests.js.node import evaluate

RATIOS = """(() => {
  const points = argument.values.map((value, at) => ({at, value, interval: null}))
    .filter(({value}) => value);
  const line = {...argument, points, values: new Map(points.map(point => [point.at, point]))};
  const [drawn] = module.asRatios([line], 0, argument.base);
  return drawn.points.map(({at, value}) => [at, value]);
})()"""


def ratios(values: Sequence[float | None], **others: Any) -> dict[int, float]:
    line = {"values": values, "joined": [], "segments": [0], "base": -1, **others}
    return dict(evaluate("views/timeline/ratios.js", RATIOS, line))


def compared(at: int, ratio: float) -> dict[str, Any]:
    return {"at": at, "part": 0, "value": ratio, "interval": [ratio * 0.99, ratio * 1.01]}


def test_the_curve_falls_by_the_measured_change_and_not_by_what_runs_show() -> None:
    runs = [5.0, 5.0, 4.0, 4.0, 4.2]
    drawn = ratios(runs, joined=[compared(1, 1.0), compared(2, 0.7)])
    assert drawn == pytest.approx({0: 1.0, 1: 1.0, 2: 0.7, 3: 0.7, 4: 0.7 * 4.2 / 4.0})


def test_one_run_that_is_far_off_does_not_move_the_line_beside_it() -> None:
    drawn = ratios([1.0, 1.0, 1.5, 1.0, 1.0], joined=[compared(2, 1.0)])
    assert drawn == pytest.approx(dict.fromkeys(range(5), 1.0))


def test_a_compared_commit_without_a_run_is_drawn() -> None:
    assert ratios([2.0, None, 2.0], joined=[compared(0, 1.0), compared(1, 0.5)])[1] == 0.5


def test_other_conditions_start_at_the_level_that_was_reached() -> None:
    drawn = ratios([1.0, 1.0, 8.0, 4.0], segments=[0, 2])
    assert drawn == pytest.approx({0: 1.0, 1: 1.0, 2: 1.0, 3: 0.5})


def test_a_step_just_before_other_conditions_is_not_taken_back() -> None:
    drawn = ratios([1.0, 1.0, 1.0, 1.0, 0.4, 0.4, 0.6], segments=[0, 6])
    assert drawn[6] == pytest.approx(0.4)


def test_zero_is_the_commit_that_was_chosen() -> None:
    drawn = ratios([1.0, 2.0, 4.0], base=1)
    assert math.isclose(drawn[1], 1.0)
    assert math.isclose(drawn[2], 2.0)
