"""Text from outside is shown, never obeyed: markup in names, parameters, commits, machines."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from asv_watch.site.scripts import json_bytes, script
from tests.generator import HOSTILE
from tests.site.conftest import Project, parsed_xml, registered, tree


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
