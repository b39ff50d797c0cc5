"""The picture of a pull request's comment shows what the gate wrote."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from asv_watch.gate.comment import comment
from asv_watch.gate.result import GateCase
from tests.browser.comment_picture import page_of
from tests.conftest import ROOT
from tests.gate.results import change, result


def test_the_picture_shows_the_table_of_a_comment(tmp_path: Path) -> None:
    text = comment(result(GateCase("s.time_a", (change(9), change(6.2)))), 0.03)
    page = page_of(text)
    assert "<td><code>s.time_a</code></td>" in page
    assert "<strong>The gate fails: 1 slower by 3.0 % or more.</strong>" in page
    (tmp_path / "gate.md").write_text(text)
    command = [sys.executable, "-m", "tests.browser.comment_picture", "gate.md", "comment.png"]
    # In a process of its own, since one process can drive only one browser.
    subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True)
    assert (tmp_path / "comment.png").read_bytes().startswith(b"\x89PNG")
