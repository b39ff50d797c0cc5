"""Both packages together grow no larger: who adds lines takes others away."""

from __future__ import annotations

from pathlib import Path

import pytest

SOURCES_ALLOWED = 34_900
SOURCES_WANTED = 26_000
TESTS_ALLOWED = 25_000
TESTS_WANTED = 18_000
ASV_WATCH = "packages/asv-watch"


@pytest.mark.parametrize(
    ("folders", "allowed", "wanted"),
    [
        (
            ("src", "benchmarks", "tools", f"{ASV_WATCH}/src"),
            SOURCES_ALLOWED,
            SOURCES_WANTED,
        ),
        (("tests", f"{ASV_WATCH}/tests"), TESTS_ALLOWED, TESTS_WANTED),
    ],
)
def test_there_are_no_more_lines_than_are_allowed(
    root: Path, folders: tuple[str, ...], allowed: int, wanted: int
) -> None:
    files = [path for folder in folders for path in (root / folder).rglob("*.py")]
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    assert lines <= allowed, f"{lines} lines; {wanted} are wanted in the end"
