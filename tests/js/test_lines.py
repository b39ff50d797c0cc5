"""No chart of releases cuts off a point; the largest of this project is at its oldest release."""

from __future__ import annotations

from pathlib import Path

import pytest

from asv_watch.errors import WatchError
from asv_watch.judge.findings import analyse
from asv_watch.workplace import load_results
from tests.js.node import evaluate

ROOT = Path(__file__).parents[2]
CUT_OFF = """argument.filter((values) => {
  const node = () => ({ setAttribute() {}, append() {}, replaceChildren() {} });
  globalThis.document = { createElementNS: node, createElement: node };
  const points = values.map(([at, value]) => ({ at, value, interval: null, compared: true }));
  const line = { id: "a", look: "", shape: 0, label: "", points, others: [], changes: [] };
  const { y, frame } = module.drawLines(node(), [{ ...line, segments: [] }], {
    width: 320, height: 160, small: true, place: (at) => at,
    domain: [-0.4, Math.max(...values.map(([at]) => at)) + 0.4],
    y: "ratio", metric: { unit: "" }, ticks: [],
  });
  return values.some(([, value]) => y(value) < frame.top || y(value) > frame.bottom);
})"""


def test_the_largest_point_of_a_release_chart_is_inside_it() -> None:
    try:
        histories = analyse(load_results(ROOT)).release_histories
    except WatchError as error:  # no checkout, or a shallow clone, which lacks what was compared
        pytest.skip(str(error))
    charts = [
        [[history.releases.index(time.release), time.ratio] for time in times]
        for history in histories
        for times in history.times.values()
        if len(times) > 2
    ]
    assert len(charts) > 20
    assert evaluate("charts/lines.js", CUT_OFF, charts) == []
    spiked = [[0, 1.6], *([at, 1.0] for at in range(1, 40))]
    assert evaluate("charts/lines.js", CUT_OFF, [spiked]) == []
