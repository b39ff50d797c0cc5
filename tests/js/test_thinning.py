"""Long lines are thinned to what pixels can show."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.js.node import evaluate

THIN = """(() => {
  const points = Array.from({length: 20000}, (_, at) => ({at, value: 1}));
  for (const [at, value] of argument) points[at].value = value;
  return module.thinPoints(points, p => p.at / 20, p => p.value, 1000).map(p => p.at);
})()"""


@settings(max_examples=8, deadline=None)
@given(st.dictionaries(st.integers(0, 19_999), st.sampled_from([9, -9]), max_size=20))
def test_no_spike_is_lost_and_the_order_is_kept(spikes: dict[int, int]) -> None:
    kept = evaluate("charts/thinning.js", THIN, list(spikes.items()))
    assert len(kept) <= 4000
    assert kept == sorted(set(kept))
    shown = {(at // 20, spikes.get(at, 1)) for at in kept}
    assert shown >= {(at // 20, value) for at, value in spikes.items()}
