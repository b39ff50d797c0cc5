"""No chart of releases cuts off a point; the largest of this project is at its oldest release."""

from __future__ import annotations

from asv_watch.judge.findings import Findings
from tests.js.node import evaluate

CUT_OFF = """argument.filter((values) => {
  const node = () => ({ setAttribute() {}, append() {}, replaceChildren() {} });
  globalThis.document = { createElementNS: node, createElement: node };
  const points = values.map(([stop, value]) => ({ stop, value, interval: null, compared: true }));
  const line = { id: "a", look: "", shape: 0, label: "", points, others: [], changes: [] };
  const { y, frame } = module.drawLines(node(), [{ ...line, segments: [] }], {
    width: 320, height: 160, small: true, position: (stop) => stop,
    domain: [-0.4, Math.max(...values.map(([stop]) => stop)) + 0.4],
    y: "ratio", metric: { unit: "" }, ticks: [],
  });
  return values.some(([, value]) => y(value) < frame.top || y(value) > frame.bottom);
})"""


def test_the_largest_point_of_a_release_chart_is_inside_it(stored_findings: Findings) -> None:
    charts = [
        [[history.releases.index(time.release), time.ratio] for time in times]
        for history in stored_findings.release_histories
        for times in history.times.values()
        if len(times) > 2
    ]
    assert len(charts) > 20
    assert evaluate("charts/lines.js", CUT_OFF, charts) == []
    spiked = [[0, 1.6], *([stop, 1.0] for stop in range(1, 40))]
    assert evaluate("charts/lines.js", CUT_OFF, [spiked]) == []
