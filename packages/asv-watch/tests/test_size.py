"""asv-watch grows no larger than one person can own: who adds lines takes others away."""

from tests.conftest import ROOT

LINES_ALLOWED = 18_200


def test_the_package_has_no_more_lines_than_are_allowed() -> None:
    lines = sum(path.read_bytes().count(b"\n") for path in (ROOT / "src").rglob("*.py"))
    assert lines <= LINES_ALLOWED, f"{lines} lines; 15,000 are wanted in the end"
