"""Adding a release to asv.conf.json changes one line, at its place."""

from __future__ import annotations

from pathlib import Path

import asv.util
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.asv.release_list import add_release
from asv_watch.errors import WatchError
from asv_watch.records.release_order import release_order

HEAD = '{\n    // a comment, "releases": []\n    "version": 1,\n    "releases": [\n'
TAIL = '    ],\n    "pythons": ["3.11"]\n}\n'


def _file(folder: Path, releases: list[str]) -> Path:
    lines = ",\n".join(f'        ["{release}", "0.1"]' for release in releases)
    path = folder / "asv.conf.json"
    path.write_text(HEAD + lines + ("\n" if lines else "") + TAIL)
    return path


@given(
    numbers=st.lists(
        st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20)),
        min_size=1,
        max_size=8,
        unique=True,
    )
)
def test_every_release_finds_its_place_and_the_rest_stays(
    numbers: list[tuple[int, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    added, *others = [".".join(map(str, number)) for number in numbers]
    others.sort(key=release_order, reverse=True)
    path = _file(tmp_path_factory.mktemp("project"), others)
    before = path.read_text().splitlines()
    assert add_release(path.parent, added, "0.9") == f'["{added}", "0.9"]'
    text = path.read_text()
    assert text.startswith(HEAD)
    assert text.endswith(TAIL)
    assert len(text.splitlines()) == len(before) + 1
    listed = asv.util.load_json(str(path), js_comments=True)["releases"]
    assert [release for release, _ in listed] == sorted(
        [added, *others], key=release_order, reverse=True
    )
    assert [added, "0.9"] in listed


def test_a_release_is_listed_once(tmp_path: Path) -> None:
    path = _file(tmp_path, ["2.1.0"])
    with pytest.raises(WatchError, match=r"torch 2\.1\.0 is listed in asv\.conf\.json"):
        add_release(tmp_path, "2.1.0", "0.2")
    assert path.read_text() == HEAD + '        ["2.1.0", "0.1"]\n' + TAIL


def test_a_file_without_the_list_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "asv.conf.json"
    path.write_text('{"version": 1}')
    with pytest.raises(WatchError, match='no list "releases"'):
        add_release(tmp_path, "2.1.0", "0.2")
    assert path.read_text() == '{"version": 1}'
