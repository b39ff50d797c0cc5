"""Text from outside is shown, never obeyed: markup in names, parameters, commits, machines."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.site.scripts import json_bytes, script
from tests.asv_watch.generator import HOSTILE
from tests.asv_watch.site.conftest import Project, parsed_xml, registered, tree

OWN_SCRIPTS = {"site.js", "data/index.js"}


class Page(HTMLParser):
    """What a browser would make of a page: its elements, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def page(hostile: Project) -> Page:
    return Page((hostile.html / "index.html").read_text(encoding="utf-8"))


def test_the_page_shows_the_hostile_text_as_text(page: Page) -> None:
    assert HOSTILE in page.text
    assert {attributes["src"] for tag, attributes in page.elements if tag == "script"} == {
        *OWN_SCRIPTS
    }


@pytest.mark.fault(
    "hostile text",
    tried="names, parameters, commits and machines hold markup and scripts",
    holds="the page shows them as text; nothing runs",
)
def test_nothing_inline_runs_or_styles(page: Page) -> None:
    for tag, attributes in page.elements:
        assert tag not in {"style", "iframe", "object", "embed", "base", "form"}
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("href", "src"):
            assert not (attributes.get(name) or "").lower().startswith(("javascript:", "data:"))


def test_the_page_loads_nothing_from_elsewhere(page: Page) -> None:
    for tag, attributes in page.elements:
        for name in ("src", "srcset", "poster", "action"):
            assert "//" not in (attributes.get(name) or ""), (tag, attributes)
        if tag == "link":
            assert "//" not in (attributes["href"] or "")
    policy = next(
        attributes["content"]
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.fault(
    "hostile text",
    tried="texts that would end a script",
    holds="the page's data files hold them as text",
)
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


@pytest.mark.fault(
    "hostile text",
    tried="names that lead out of a folder",
    holds="the site's files have plain names",
)
def test_file_names_are_tame(hostile: Project) -> None:
    for name in tree(hostile.html):
        if not name.startswith("asv/"):
            assert re.fullmatch(r"[A-Za-z0-9_.\-/]+", name), name


@given(st.recursive(st.text() | st.integers(-(2**53), 2**53) | st.none(), st.lists, max_leaves=5))
def test_any_text_survives_the_way_through_a_script(data: object) -> None:
    raw = script("x", data)
    assert not re.search(rb"[<>&]|\xe2\x80[\xa8\xa9]", raw)
    read = json.loads(raw.decode().removeprefix('asvWatch.register("x",')[:-3])
    assert read == data


def test_a_lone_surrogate_is_replaced() -> None:
    assert json.loads(json_bytes({"subject": ["bad \udcff byte"]})) == {"subject": ["bad ? byte"]}
