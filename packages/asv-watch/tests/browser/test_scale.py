"""1,000 commits of 200 series: how long the page computes before a person sees the answer.

The targets are 300 ms for opening a view and 100 ms for whatever a person does in it. They are
held against the CPU time of the page's thread, which other work on the machine does not stretch.
"""

import gzip
from collections.abc import Callable

from tests.browser.visitor import Site, Visitor, timeline

FIRST_VISIT = 0.300
"""Opening a view for the first time reads its data files, too."""
INTERACTION = 0.100
TRIES = 4

# Resolves in the frame after the one that shows the address.
SHOW = """async (address) => {
  const main = document.querySelector('main');
  history.pushState(null, '', address);
  dispatchEvent(new CustomEvent('site:address'));
  while (main.getAttribute('aria-busy') === 'true') await new Promise(go => setTimeout(go, 1));
  await new Promise(go => requestAnimationFrame(() => setTimeout(go, 0)));
}"""


class Stopwatch:
    """Times what a page does, by the CPU time of its thread, from when it is opened."""

    def __init__(self, visitor: Visitor, address: str) -> None:
        self.page = visitor.page
        self.session = self.page.context.new_cdp_session(self.page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})
        visitor.go(address)

    def worked(self) -> float:
        """Seconds that the page has computed since it was opened."""
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))

    def visit(self, address: str) -> float:
        before = self.worked()
        self.page.evaluate(SHOW, address)
        return self.worked() - before


def test_the_site_opens_at_once(large: Site, visit: Callable[..., Visitor]) -> None:
    times = [Stopwatch(visit(large), "#/").worked()]
    while len(times) < TRIES and min(times) >= FIRST_VISIT:
        times.append(Stopwatch(visit(large), "#/").worked())
    assert min(times) < FIRST_VISIT, times


def test_every_interaction_answers_at_once(large: Site, visit: Callable[..., Visitor]) -> None:
    six = [case["key"] for case in large.index["cases"] if ".time_" in case["key"]][:6]
    # The first of each pair opens a view, the others are what a person does in it.
    walks = [
        ["#/", "#/?metric=peak-memory-bytes", "#/?group=*"],
        ["#/changes", "#/changes?q=model_01", "#/changes?direction=worse"],
        [timeline(*six), timeline(*six[:3])],
        ["#/timeline", "#/timeline?metric=peak-memory-bytes"],
        ["#/compare", "#/compare?q=model_00", "#/compare?by=device"],
        ["#/about", "#/about?m=ci-2core"],
    ]
    watch = Stopwatch(visit(large), "#/releases")
    for walk in walks:
        times = [watch.visit(walk[0])]
        while len(times) < TRIES and min(times) >= FIRST_VISIT:
            watch = Stopwatch(visit(large), "#/releases")  # the last one has read the view's files
            times.append(watch.visit(walk[0]))
        assert min(times) < FIRST_VISIT, (walk[0], times)
        for address in walk[1:]:
            times = [watch.visit(address)]
            while len(times) < TRIES and min(times) >= INTERACTION:
                watch.visit(walk[0])
                times.append(watch.visit(address))
            assert min(times) < INTERACTION, (address, times)


def test_the_page_and_the_site_stay_small(large: Site) -> None:
    assert (large.folder / "index.html").stat().st_size < 1_000_000
    files = [path for path in large.folder.rglob("*") if path.is_file()]
    packed = sum(len(gzip.compress(path.read_bytes(), 6)) for path in files)
    assert packed < 2_000_000, f"{packed / 1e6:.2f} MB"
