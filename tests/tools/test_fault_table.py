"""docs/faults.md lists what the tests of today hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tools.fault_table import PAGE, page


def test_the_page_of_faults_is_current() -> None:
    written = PAGE.read_text()
    assert written == page(written, ROOT / "tests"), "run `python -m tools.fault_table`"


def test_a_mark_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    test = tmp_path / "tests" / "test_a.py"
    test.parent.mkdir()
    test.write_text('@pytest.mark.fault("bad luck", tried="rain")\ndef test_it() -> None: ...\n')
    with pytest.raises(ValueError, match=r"tests/test_a.py: 'bad luck' is none of"):
        page("", test.parent)
