"""The pages on training show what their first commands print, but for its numbers."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import ROOT, run
from tests.docs.outputs import absent, steps
from tests.docs.pages import Page


@pytest.mark.parametrize("name", ["training", "sweeps"])
def test_a_page_shows_what_its_command_prints(name: str, tmp_path: Path) -> None:
    commands, shown = steps(Page(ROOT / "docs" / f"{name}.md"))[0]
    lines = [line for line in commands.splitlines() if not line.startswith("pip install ")]
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "COLUMNS": "160"}
    done = run("sh", "-ec", "\n".join(lines), cwd=tmp_path, env=environment)
    assert len(shown) >= 3
    assert absent(shown, done.stdout + done.stderr) == [], done.stdout + done.stderr
