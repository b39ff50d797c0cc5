"""Pages show what their commands print, but for its numbers."""

import os
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import ROOT, git, run
from tests.docs.pages import Page, absent

ACCEPTING = Page(ROOT / "packages/asv-watch/docs/pull-requests.md")
TRAINING = [step for step in Page(ROOT / "docs/training.md").steps() if step[1]]


def _check(commands: str, shown: list[str], folder: Path, home: Path) -> None:
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    environment = os.environ | {"HOME": str(home), "PATH": path}
    done = run("sh", "-euc", commands, cwd=folder, env=environment)
    printed = done.stdout + done.stderr
    assert absent(shown, printed) == [], printed


def test_the_report_shows_a_note_as_the_page_shows(tmp_path: Path) -> None:
    [note] = ACCEPTING.blocks("toml")
    [step] = [step for step in ACCEPTING.steps() if "asv-watch report" in step[0] and step[1]]
    git(tmp_path, "clone", "--quiet", "--shared", str(ROOT), "clone")
    with (tmp_path / "clone" / "results" / "notes.toml").open("a") as notes:
        notes.write(note)
    _check(*step, tmp_path / "clone", home=tmp_path)


@pytest.mark.parametrize(("commands", "shown"), TRAINING, ids=["train", "sweep"])
def test_training_prints_what_the_page_shows(
    commands: str, shown: list[str], tmp_path: Path
) -> None:
    lines = [line for line in commands.splitlines() if not line.startswith("pip install ")]
    _check("\n".join(lines), shown, tmp_path, home=tmp_path)
