"""What a reader without JavaScript reads, the feed, and that all of the script is there."""

import datetime
import re
import subprocess
from html import unescape
from pathlib import Path

import pytest

from asv_watch.records.records import Benchmark
from asv_watch.site.build import STATIC, VIEWS
from asv_watch.site.scripts import bundle
from tests.js.node import NODE
from tests.making import LAYOUT
from tests.site.conftest import ATOM, Project, parsed_xml


@pytest.fixture(scope="module")
def page(published: Project) -> str:
    return (published.html / "index.html").read_text()


def words(markup: str) -> str:
    """The text of some markup, spaces drawn together."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def test_every_newest_value_is_in_the_one_table(page: str, published: Project) -> None:
    [table] = re.findall("<noscript>\\s*(<table.*?</table>)", page, re.DOTALL)
    series = published.index["series"]
    measured = [one["last"]["text"] for one in series if one["last"]]
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


def test_every_entry_has_what_atom_requires(published: Project) -> None:
    feed = parsed_xml((published.html / "feed.xml").read_bytes())
    entries = feed.findall(f"{ATOM}entry")
    assert entries
    measured = [change for change in published.index["changes"] if change["state"] == "measured"]
    assert len(entries) == min(100, len(measured))
    for element in (feed, *entries):
        for required in ("id", "title", "updated"):
            result = element.findall(f"{ATOM}{required}")
            assert len(result) == 1
            assert result[0].text
        updated = element.findtext(f"{ATOM}updated")
        assert updated is not None
        datetime.datetime.fromisoformat(updated)
    assert feed.find(f"{ATOM}author/{ATOM}name") is not None
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len(set(ids)) == len(ids)


def test_every_module_of_the_page_is_used(tmp_path: Path) -> None:
    joined = bundle(STATIC / "script" / "main.js")
    (tmp_path / "joined.js").write_text(joined)
    subprocess.run([NODE, "--check", tmp_path / "joined.js"], check=True)
    for module in (STATIC / "script").rglob("*.js"):
        heading = module.read_text().split("\n", 1)[0]
        assert heading in joined, f"{module} is imported by nothing"
