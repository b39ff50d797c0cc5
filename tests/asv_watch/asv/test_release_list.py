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

BARE = '{\n    "version": 1,\n    "repo": "."\n}\n'
HEAD = '{\n    // a comment, "releases": {}\n    "version": 1,\n    "releases": {\n'
LIST = '        "numpy": [\n'
TAIL = '        ]\n    },\n    "repo": "."\n}\n'


def _file(folder: Path, releases: list[str]) -> Path:
    lines = ",\n".join(f'            "{release}"' for release in releases)
    path = folder / "asv.conf.json"
    path.write_text(HEAD + LIST + lines + ("\n" if lines else "") + TAIL)
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
    entry = f'{{"numpy": "{added}", "scipy": "1.0"}}'
    assert add_release(path.parent, {"numpy": added, "scipy": "1.0"}) == entry
    text = path.read_text()
    assert text.startswith(HEAD + LIST)
    assert text.endswith(TAIL)
    assert len(text.splitlines()) == len(before) + 1
    listed = asv.util.load_json(str(path), js_comments=True)["releases"]["numpy"]
    numbers_of = [r if isinstance(r, str) else r["numpy"] for r in listed]
    assert numbers_of == sorted([added, *others], key=release_order, reverse=True)


def test_a_release_is_listed_once(tmp_path: Path) -> None:
    path = _file(tmp_path, ["2.1.0"])
    before = path.read_text()
    with pytest.raises(WatchError, match=r"numpy 2\.1\.0 is listed in asv\.conf\.json"):
        add_release(tmp_path, {"numpy": "2.1.0"})
    assert path.read_text() == before


@pytest.mark.parametrize("text", [BARE, HEAD + '        "a": [\n' + TAIL])
def test_a_requirement_that_is_not_listed_yet_begins_a_list(tmp_path: Path, text: str) -> None:
    path = tmp_path / "asv.conf.json"
    path.write_text(text)
    for release in ("2.1.0", "2.2.0"):
        assert add_release(tmp_path, {"numpy": release}) == f'"{release}"'
    listed = asv.util.load_json(str(path), js_comments=True)["releases"]
    assert listed["numpy"] == ["2.2.0", "2.1.0"]


def test_a_file_that_is_not_laid_out_in_lines_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "asv.conf.json"
    one_line = '{"version": 1, "repo": "."}'
    path.write_text(one_line)
    with pytest.raises(WatchError, match='no list of numpy under "releases"'):
        add_release(tmp_path, {"numpy": "2.1.0"})
    assert path.read_text() == one_line
