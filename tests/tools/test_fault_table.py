"""docs/faults.md lists what the tests of today hold."""

from __future__ import annotations

from tests.conftest import ROOT
from tools.fault_table import PAGE, page


def test_the_page_of_faults_is_current() -> None:
    written = PAGE.read_text()
    assert written == page(written, ROOT / "tests"), "run `python -m tools.fault_table`"
