"""Two clones on machines of one kind measure parts of one history, and push to one repository."""

from __future__ import annotations

import itertools
import json
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.errors import WatchError
from asv_watch.night.command import parse_part
from asv_watch.records.loading import load_history
from asv_watch.versions.git import read_commits
from tests.asv_watch import torchless
from tests.asv_watch.clockwork import SUITE, package
from tests.asv_watch.interruptible import run_driver
from tests.conftest import ROOT, commit, git

COMMITS = 5


def give_to_part(repository: Path, remainder: int, parts: int, subject: str) -> None:
    """Reword the newest commit until its hash puts it into one of the parts."""
    attempts = itertools.count(1)
    while zlib.crc32(git(repository, "rev-parse", "HEAD").encode()) % parts != remainder:
        message = f"{subject}\n\nAttempt {next(attempts)}"
        git(repository, "commit", "--quiet", "--amend", "--message", message)


@pytest.fixture
def clones(
    make_project: Callable[..., Path], made_environment: Path, tmp_path: Path
) -> list[Path]:
    """Two clones of a repository of five commits, the middle one of which is slower."""
    attributes = (ROOT / ".gitattributes").read_text()
    files = {
        "src/package.py": package(),
        ".gitattributes": attributes,
        ".gitignore": ".asv/\nhtml/\n",
    }
    first = make_project(SUITE, files)
    for number in range(1, COMMITS):
        slow = {"slow": 0.0012} if number >= COMMITS // 2 else {}
        commit(first, {"src/package.py": f"# {number}\n{package(**slow)}"}, f"Commit {number}")
        give_to_part(first, number % 2, 2, f"Commit {number}")
    oldest = git(first, "rev-list", "--max-parents=0", "HEAD")
    settings = {"measured_paths": ["src"], "reference": oldest}
    conf = json.dumps(torchless.CONFIGURATION | settings)
    commit(first, {"asv.conf.json": conf}, "Name the reference")
    shared = tmp_path / "shared.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(first), str(shared))
    folders = []
    for name in ("one", "two"):
        folder = tmp_path / name
        git(tmp_path, "clone", "--quiet", str(shared), str(folder))
        torchless.give_environment(folder, made_environment)
        folders.append(folder)
    return folders


@pytest.mark.timeout(1800)
def test_two_clones_measure_every_commit_once_and_their_results_are_one_history(
    clones: list[Path], tmp_path: Path
) -> None:
    for number, clone in enumerate(clones, start=1):
        output, _ = run_driver("nightly", clone, tmp_path, "--part", f"{number}/2")
        assert "nothing is left to be done tonight" in output
        git(clone, "add", "results")
        git(clone, "commit", "--quiet", "--message", f"Results of part {number}")
        git(clone, "pull", "--quiet", "--no-rebase", "--no-edit")
        git(clone, "push", "--quiet")
    last = clones[-1]
    measured = [
        {path.name[:8] for path in (clone / "results" / "m").glob("*-*.json")} for clone in clones
    ]
    commits = read_commits(last)
    changing = {
        entry.hash[:8] for entry in commits if entry.subject.startswith(("Commit", "Begin"))
    }
    assert measured[1] == changing, "all of them are measured"
    assert measured[0] < changing, "the first clone measured a part"
    history = load_history(last / "results", commits)
    assert history.problems == ()
    [slow] = [s for s in history.series if s.case.name.endswith("('slow')")]
    assert {name[:8] for name in slow.runs} == changing
    compared = {c.header.after.commit[:8] for c in history.comparisons["m"]}
    assert compared >= changing - {commits[0].hash[:8]}, "the reference joins the parts"


def test_parts_without_a_reference_are_refused(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    project = make_project(SUITE, {"src/package.py": package()})
    _, errors = run_driver("nightly", project, tmp_path, "--part", "1/2", status=1)
    assert "--part needs a reference" in errors


@pytest.mark.parametrize("text", ["", "2", "0/3", "4/3", "1/0", "a/b", "-1/2", "1/2/3", "1.5/2"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(WatchError, match="is not a part of the commits; give one such as 2/5"):
        parse_part(text)
