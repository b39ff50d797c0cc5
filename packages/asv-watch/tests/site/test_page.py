"""What a reader without JavaScript reads: the answer, and one table of the newest values."""

import re
from html import unescape

import pytest

from asv_watch.records.records import Benchmark
from asv_watch.site.build import VIEWS
from tests.making import LAYOUT
from tests.site.conftest import Project, registered


@pytest.fixture(scope="module")
def page(published: Project) -> str:
    return (published.html / "index.html").read_text()


def words(markup: str) -> str:
    """The text of some markup, spaces drawn together."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def test_every_newest_value_is_in_the_one_table(page: str, published: Project) -> None:
    _, index = registered(published.html / "data/index.js")
    [table] = re.findall("<noscript>\\s*(<table.*?</table>)", page, re.DOTALL)
    measured = [series["last"]["text"] for series in index["series"] if series["last"]]
    assert len(table.split("<tr>")[2:]) == len(measured)
    text = words(table)
    assert all(value in text for value in measured)


def test_every_view_has_a_section_a_heading_and_a_link(page: str) -> None:
    for name, _ in VIEWS:
        assert f'<section data-view="{name}"' in page
    linked = re.findall(r'<a href="#/(\w*)" data-view="(\w+)"', page)
    # Nothing was compared interleaved here, so there is nothing to show of releases.
    assert [name for _, name in linked] == ["overview", "changes", "timeline", "compare", "about"]
    assert len(re.findall("<h1", page)) == len(VIEWS)
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids))


def test_groups_stand_in_the_order_that_suites_declare() -> None:
    declared = {"work.W.track_x": 8, "time_series.T.time_x": 0, "a_new_one.A.time_x": 5}
    benchmarks = [
        Benchmark(name, "time", "seconds", position=position)
        for name, position in declared.items()
    ]
    shown = [LAYOUT.group(benchmark) for benchmark in sorted(benchmarks, key=LAYOUT.group_order)]
    assert shown == ["time series", "a new one", "work"]
