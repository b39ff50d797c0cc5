"""Both packages together grow no larger: who adds lines takes others away."""

import pytest

from tests.conftest import ROOT

SOURCES = "src", "benchmarks", "tools", "packages/asv-watch/src"
TESTS = "tests", "packages/asv-watch/tests"


@pytest.mark.parametrize(
    ("folders", "allowed", "wanted"), [(SOURCES, 30_067, 26_000), (TESTS, 18_000, 18_000)]
)
def test_no_more_lines(folders: tuple[str, ...], allowed: int, wanted: int) -> None:
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    assert lines <= allowed, f"{lines} lines; {wanted} are wanted in the end"
