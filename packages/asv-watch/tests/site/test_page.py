"""What a reader without JavaScript reads, the feed, the whole script, and text from outside.

Such text is shown, never obeyed: markup in names, parameters, commits, machines.
"""

import datetime
import json
import re
import subprocess
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.records.records import Benchmark
from asv_watch.site.build import STATIC, VIEWS
from asv_watch.site.scripts import bundle, json_bytes, script
from tests.generator import HOSTILE
from tests.js.node import NODE
from tests.making import LAYOUT
from tests.site.conftest import ATOM, Project, parsed_xml, registered, tree


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


def test_no_data_file_can_leave_its_script(hostile: Project) -> None:
    files = sorted((hostile.html / "data").rglob("*.js"))
    assert len(files) > 3
    result = False
    for path in files:
        raw = path.read_bytes()
        assert not re.search(rb"[<>&]", raw), path
        assert "\u2028".encode() not in raw
        name, data = registered(path)
        assert f"data/{name}.js" == path.relative_to(hostile.html).as_posix()
        result = result or HOSTILE in json.dumps(data, ensure_ascii=False).replace('\\"', '"')
    assert result


def test_feed_and_badge_are_xml_and_hold_the_text_as_text(hostile: Project) -> None:
    parsed_xml((hostile.html / "badge.svg").read_bytes())
    feed = parsed_xml((hostile.html / "feed.xml").read_bytes())
    assert not [element for element in feed.iter() if "}" not in element.tag]


def test_file_names_are_tame(hostile: Project) -> None:
    for name in tree(hostile.html):
        assert re.fullmatch(r"[A-Za-z0-9_.\-/]+", name), name


@given(st.recursive(st.text() | st.integers(-(2**53), 2**53) | st.none(), st.lists, max_leaves=5))
def test_any_text_survives_the_way_through_a_script(data: object) -> None:
    raw = script("x", json_bytes(data))
    assert not re.search(rb"[<>&]|\xe2\x80[\xa8\xa9]", raw)
    read = json.loads(raw.decode().removeprefix('asvWatch.register("x",')[:-3])
    assert read == data


def test_a_lone_surrogate_is_replaced() -> None:
    assert json.loads(json_bytes({"subject": ["bad \udcff byte"]})) == {"subject": ["bad ? byte"]}
