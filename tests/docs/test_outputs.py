"""What pages show of training and of this repository's results is what their commands print."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import ROOT, git, run
from tests.docs.outputs import absent, steps
from tests.docs.pages import Page


def test_the_report_shows_a_note_as_the_page_shows(tmp_path: Path) -> None:
    page = Page(ROOT / "packages/asv-watch/docs/pull-requests.md")
    [note] = page.blocks("toml")
    [(command, shown)] = [step for step in steps(page) if "asv-watch report" in step[0]]
    git(tmp_path, "clone", "--quiet", "--shared", str(ROOT), "clone")
    with (tmp_path / "clone" / "results" / "notes.toml").open("a") as notes:
        notes.write(note)
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    environment = os.environ | {"HOME": str(tmp_path), "PATH": path}
    done = run("sh", "-euc", command, cwd=tmp_path / "clone", env=environment)
    printed = done.stdout + done.stderr
    assert shown
    assert absent(shown, printed) == [], printed


SHOWN = [step for step in steps(Page(ROOT / "docs" / "training.md")) if step[1]]


@pytest.mark.parametrize(("commands", "shown"), SHOWN, ids=["train", "sweep"])
def test_the_page_on_training_shows_what_a_command_prints(
    commands: str, shown: list[str], tmp_path: Path
) -> None:
    lines = [line for line in commands.splitlines() if not line.startswith("pip install ")]
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "COLUMNS": "160"}
    done = run("sh", "-ec", "\n".join(lines), cwd=tmp_path, env=environment)
    assert len(shown) >= 3
    assert absent(shown, done.stdout + done.stderr) == [], done.stdout + done.stderr
