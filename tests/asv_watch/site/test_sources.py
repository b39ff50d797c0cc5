"""The sources of the page stay small enough to read, and all parts of its style are published."""

from __future__ import annotations

import pytest

from asv_watch.site.build import STATIC
from asv_watch.site.stylesheet import stylesheet

_MOST_CHARACTERS = 120
_MOST_LINES = 400


@pytest.mark.parametrize("kind", [".css", ".html", ".js", ".svg", ".ts", ".xml"])
def test_lines_and_files_of_the_page_are_short(kind: str) -> None:
    texts = {
        path: path.read_text(encoding="utf-8").splitlines()
        for folder in (STATIC, STATIC.parent / "templates")
        for path in folder.rglob(f"*{kind}")
    }
    assert texts
    assert not [
        f"{path}:{number}"
        for path, lines in texts.items()
        for number, line in enumerate(lines, 1)
        if len(line) > _MOST_CHARACTERS
    ]
    assert not [str(path) for path, lines in texts.items() if len(lines) > _MOST_LINES]


def _without_comments_and_space(text: str) -> str:
    parts = [part.split("*/")[-1] for part in text.split("/*")]
    return "".join("".join(parts).split())


def test_all_parts_of_the_style_are_published_whole() -> None:
    published = _without_comments_and_space(stylesheet(STATIC / "style"))
    parts = [
        _without_comments_and_space(path.read_text(encoding="utf-8"))
        for path in (STATIC / "style").glob("*.css")
    ]
    assert all(part in published for part in parts)
    assert sum(map(len, parts)) == len(published)
