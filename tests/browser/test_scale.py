"""1,000 commits of 200 series: what a person waits for.

The targets are 300 ms to the first paint and 100 ms for whatever a person does. Other work on
the machine stretches the clock, not the work: an answer counts as the less of what the clock
says and what the page's thread really computed, the best of a few tries.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest

from tests.browser.visitor import Site, Visitor, address_of, case_of, timeline

FIRST_PAINT = 0.300
INTERACTION = 0.100
FIRST_VISIT = 0.300
"""Opening a view for the first time reads its data files, too."""
TRIES = 4

# From a change of the address to the next frame that shows it, in seconds.
MEASURE = """async (address) => {
  const main = document.querySelector('main');
  const start = performance.now();
  history.pushState(null, '', address);
  dispatchEvent(new CustomEvent('torchspeed:address'));
  while (main.getAttribute('aria-busy') === 'true') await new Promise(go => setTimeout(go, 1));
  await new Promise(go => requestAnimationFrame(() => setTimeout(go, 0)));
  return (performance.now() - start) / 1000;
}"""


class Stopwatch:
    """Times what a page does, by the clock and by its thread's own time."""

    def __init__(self, visitor: Visitor) -> None:
        self.page = visitor.page
        self.session = self.page.context.new_cdp_session(self.page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def worked(self) -> float:
        """Seconds that the page's thread has computed so far."""
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return float(next(metric["value"] for metric in metrics if metric["name"] == "ThreadTime"))

    def visit(self, address: str) -> float:
        before = self.worked()
        clock = float(self.page.evaluate(MEASURE, address))
        return min(clock, self.worked() - before)


@pytest.fixture
def guest(large: Site, visit: Callable[..., Visitor]) -> Visitor:
    return visit(large.url)


def test_the_first_paint_comes_at_once(guest: Visitor) -> None:
    times = []
    for _ in range(TRIES):
        page = guest.go()
        entry = "performance.getEntriesByName('first-contentful-paint')[0]"
        page.wait_for_function(f"() => {entry} !== undefined")
        times.append(page.evaluate(f"{entry}.startTime / 1000"))
        if times[-1] < FIRST_PAINT:
            break
    assert min(times) < FIRST_PAINT, times


def test_every_interaction_answers_at_once(large: Site, guest: Visitor) -> None:
    cases = [case_of(entry) for entry in large.index["series"]]
    six = [case for case in cases if ".time_" in case][:6]
    column = "cpu+·+forward"
    # The first of each pair opens a view, the others are what a person does in it.
    walks = [
        ["#/", "#/?metric=peak-memory-bytes"],
        ["#/changes", "#/changes?q=model_01", "#/changes?sort=name", "#/changes?n=50"],
        [timeline(*six), timeline(*six, n="all"), timeline(*six, n="all", y="relative")],
        ["#/timeline", "#/timeline?y=log"],
        ["#/compare", f"#/compare?norm={column}", "#/compare?show=devices"],
        ["#/status", "#/status?sort=-noise"],
    ]
    guest.go("#/about")
    watch = Stopwatch(guest)
    for walk in walks:
        first = watch.visit(walk[0])
        assert first < FIRST_VISIT, (walk[0], first)
        for address in walk[1:]:
            times = []
            for _ in range(TRIES):
                times.append(watch.visit(address))
                if times[-1] < INTERACTION:
                    break
                watch.visit(walk[0])
            assert min(times) < INTERACTION, (address, times)


def test_reading_values_along_a_long_chart_is_smooth(large: Site, guest: Visitor) -> None:
    cases = [case_of(entry) for entry in large.index["series"]][:6]
    page = guest.go(timeline(*cases, n="all"))
    watch = Stopwatch(guest)
    before = watch.worked()
    moves, clock = page.evaluate(
        """() => {
          const chart = document.querySelector('[role=application]');
          const box = chart.getBoundingClientRect();
          const start = performance.now();
          let moves = 0;
          for (let x = 80; x < box.width - 180; x += 2, moves++) {
            const at = {clientX: box.left + x, clientY: box.top + 90};
            chart.dispatchEvent(new PointerEvent('pointermove', at));
          }
          return [moves, (performance.now() - start) / 1000];
        }"""
    )
    per_move = min(clock, watch.worked() - before) / moves
    assert per_move < 0.008, "sixty frames a second leave sixteen milliseconds for everything"


def test_a_thousand_points_are_thinned_but_no_spike_is_lost(large: Site, guest: Visitor) -> None:
    case = next(
        case_of(entry) for entry in large.index["series"] if ".time_forward" in case_of(entry)
    )
    page = guest.go(timeline(case, n="all"))
    path = page.locator("[role=application] g[data-line] path.line").get_attribute("d")
    assert path is not None
    drawn = path.count("L") + path.count("M")
    assert drawn <= 4 * 900


def test_a_list_of_a_thousand_revisions_opens_at_once(guest: Visitor) -> None:
    page = guest.go("#/changes")
    took = page.evaluate(
        """() => {
          const input = document.querySelector('#changes-app [name=rev]');
          const start = performance.now();
          input.focus();
          return performance.now() - start;
        }"""
    )
    assert page.locator("#changes-app datalist").first.locator("option").count() >= 1000
    assert took < 1000 * INTERACTION


def test_the_site_stays_small(large: Site) -> None:
    files = [
        path
        for path in large.folder.rglob("*")
        if path.is_file() and path.relative_to(large.folder).parts[0] != "asv"
    ]
    packed = sum(len(gzip.compress(path.read_bytes(), 6)) for path in files)
    assert packed < 2_000_000, f"{packed / 1e6:.2f} MB"


def test_the_script_answers_every_view_of_a_large_site(guest: Visitor) -> None:
    for view in ("overview", "changes", "timeline", "compare", "status", "about"):
        page = guest.go(address_of(view))
        assert page.locator("#trouble:not([hidden])").count() == 0
